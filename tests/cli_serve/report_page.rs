//! The page of a report: its contents, what it truncates, and that crawled text is never interpreted.

use std::path::Path;
use std::process::Command;

use data_encoding::BASE64;

use crate::made_up_reports::{
    HOSTILE, commands, hostile, of_cores, of_cover, of_nothing, of_web, unmeasured,
};
use seedbank::engine::evaluate::AbsentReason;
use seedbank::report::{self, Commands, Report};

/// The page of a caller that has no commands.
fn page(report: &Report, json: &str) -> String {
    report::page(report, json, &Commands::default())
}

/// The script of the pages that have one.
const SCRIPT: &str = include_str!("../../src/report/seeds.js");

/// The tags of a page with their attributes; text is escaped, so every `<` opens one.
fn tags(page: &str) -> Vec<&str> {
    let style = page.find("<style>").unwrap()..page.find("</style>").unwrap();
    let parts = [&page[..style.start], &page[style.end..]];
    let of_part = |part| str::split(part, '<').skip(1);
    parts
        .into_iter()
        .flat_map(of_part)
        .map(|text| text.split('>').next().unwrap())
        .collect()
}

/// No script but the page's own, nothing that is fetched, nothing that leads anywhere but by a link to a page.
#[track_caller]
fn is_harmless(page: &str) {
    let own = format!("<script>{SCRIPT}</script>");
    let allowed = page.matches("; script-src 'sha256-").count();
    assert_eq!(page.matches(&own).count(), allowed);
    assert_eq!(page.matches("script-src").count(), allowed);
    let page = &page.replace(&own, "");
    assert!(!page.contains("'unsafe-eval'") && !page.contains("script-src 'unsafe-inline'"));
    for tag in tags(page) {
        let name = tag.split([' ', '/']).find(|name| !name.is_empty());
        let name = name.unwrap_or_default().to_ascii_lowercase();
        let fetching = [
            "script",
            "img",
            "iframe",
            "link",
            "object",
            "embed",
            "image",
            "use",
            "base",
            "form",
            "video",
            "audio",
            "source",
            "foreignobject",
        ];
        assert!(!fetching.contains(&name.as_str()), "<{tag}>");
        // Every other part is inside quotes, where escaped text cannot end them.
        for attribute in tag.split('"').step_by(2) {
            assert!(!attribute.contains("src="), "<{tag}>");
            assert!(!attribute.contains(" on"), "<{tag}>");
        }
        if let Some(target) = tag.split("href=\"").nth(1) {
            assert!(tag.starts_with("a "), "<{tag}>");
            let good = ["http://", "https://", "#", "./"];
            assert!(
                good.iter().any(|start| target.starts_with(start)),
                "<{tag}>"
            );
        }
    }
    let style = &page[page.find("<style>").unwrap()..page.find("</style>").unwrap()];
    assert!(!style.contains("url(") && !style.contains("@import"));
}

#[test]
fn hostile_text_is_text() {
    let mut few = hostile();
    few.seeds.truncate(3);
    let page = report::page(&few, "\"><script>.json", &commands(HOSTILE));
    assert!(page.matches("&lt;script&gt;").count() > 20);
    assert!(!page.contains("<script"), "{page}");
    assert!(!page.contains(HOSTILE));
    assert!(page.contains("href=\"./%22%3E%3Cscript%3E.json\""));
    is_harmless(&page);
    let page = report::page(&hostile(), HOSTILE, &commands(HOSTILE));
    assert_eq!(page.matches("<script").count(), 1);
    assert!(!page.contains(HOSTILE));
    is_harmless(&page);
}

/// The policy lets exactly this script run; what it does is seen in `report_browser`.
#[test]
fn the_policy_names_the_script() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/report/seeds.js");
    let output = Command::new("sha256sum").arg(file).output().unwrap();
    let digits = String::from_utf8(output.stdout).unwrap();
    let bytes: Vec<u8> = (0..32)
        .map(|at| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).unwrap())
        .collect();
    let policy = format!(
        "content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{}'; \
         base-uri 'none'; form-action 'none'\"",
        BASE64.encode(&bytes)
    );
    let searched = page(&of_cores(11), "report.json");
    assert!(searched.contains(&policy), "{policy}\n{}", &searched[..600]);
    // Ten are seen at a glance.
    let few = page(&of_cores(10), "report.json");
    assert!(
        !few.contains("<script") && !few.contains("script-src"),
        "{few}"
    );
    for never in ["innerHTML", "eval", "Function", "document.write", "fetch"] {
        assert!(!SCRIPT.contains(never), "{never}");
    }
}

/// Whoever has no script has every seed with its reason and every page of a core, and no control that
/// does nothing.
#[test]
fn it_is_complete_without_a_script() {
    let report = of_cores(100);
    let page = page(&report, "report.json");
    for seed in &report.seeds {
        assert!(page.contains(&format!("href=\"{}\"", seed.seed.url)));
        assert!(page.contains(&format!(">{}</td>", seed.seed.site)));
        assert!(page.contains(&format!("Core {}, sigma", seed.seed.rank)));
    }
    let bare = page.replace(SCRIPT, "");
    for control in ["<button", "<input", "<select", "hidden", "disabled"] {
        assert!(
            !tags(&bare)
                .iter()
                .any(|tag| format!("<{tag}").contains(control))
        );
    }
}

#[test]
fn cores_open_to_their_pages() {
    let report = of_cores(4);
    let whole = report::page(&report, "report.json", &commands("list"));
    assert_eq!(whole.matches("<details class=\"members\">").count(), 4);
    let members = report.cores[0].members.as_ref().unwrap();
    let part = whole
        .split("<summary>Pages of core 1</summary>")
        .nth(1)
        .unwrap();
    let part = part.split("</details>").next().unwrap();
    assert_eq!(
        part.matches("<li>").count(),
        members.hubs.len() + members.authorities.len()
    );
    for page in members.hubs.iter().chain(&members.authorities) {
        assert!(part.contains(&format!("href=\"{}\"", page.url)), "{part}");
    }
    // The core is made to have 350 hubs, of which the report has a few.
    let more = 350 - members.hubs.len();
    assert!(
        part.contains(&format!("{more} hubs more: <code>list</code>")),
        "{part}"
    );
    let bare = page(&report, "r.json");
    assert!(bare.contains(&format!("{more} hubs more: see the bank.")));
}

#[test]
fn only_addresses_of_the_web_are_links() {
    let wrong = ["javascript:alert(1)", "data:text/html,x", "//a.example/"];
    let mut report = of_cores(4);
    for (seed, url) in report.seeds.iter_mut().zip(wrong) {
        url.clone_into(&mut seed.seed.url);
    }
    let page = page(&report, "bank.json");
    for url in wrong {
        assert!(page.contains(&format!("<span class=\"url\">{url}</span>")));
        assert!(!page.contains(&format!("href=\"{url}")));
    }
    is_harmless(&page);
}

#[test]
fn a_plan_over_the_web_says_nothing_of_sites() {
    let page = page(&of_web(12), "report.json");
    assert!(page.contains("Over the <b>whole web</b> they were picked by <b>greedy</b>"));
    for words in ["of its site covers", "On each of", "Covers (pages)"] {
        assert!(!page.contains(words), "{words}\n{page}");
    }
}

#[test]
fn long_lists_are_cut_and_say_where_the_rest_is() {
    let rows = |page: &str| page.matches("<th scope=\"row\" class=\"rank\"").count();
    let long = page(&of_cover(5_003), "report.json");
    assert_eq!(rows(&long), 5_000);
    assert!(long.contains("the first 5,000 of 5,003"), "{long}");
    assert!(long.contains("other 3 are in <a href=\"./report.json\">report.json</a>"));
    assert!(long.contains("data-all=\"5003\" data-data=\"report.json\""));
    let many = page(&of_cores(1_203), "report.json");
    assert!(many.contains("1,003 more in <a href=\"./report.json\">"));
    let short = page(&of_cores(60), "report.json");
    assert_eq!(rows(&short), 60);
    assert!(!short.contains(" more in <a"));
}

#[test]
fn parts_without_content_are_left_out() {
    let mut report = of_nothing();
    report
        .skipped
        .push("no site has 10 crawled pages".to_owned());
    let empty = page(&report, "report.json");
    is_harmless(&empty);
    for words in [
        "No page could be selected",
        "There are no seeds to judge.",
        "<h2>Experiments</h2>",
    ] {
        assert!(empty.contains(words), "{words}\n{empty}");
    }
    for part in [
        "<ol>",
        "Per page fetched",
        "papers' experiments",
        "<div class=\"charts\">",
    ] {
        assert!(!empty.contains(part), "{part}\n{empty}");
    }
    let unmeasured = page(&unmeasured(of_cores(3)), "report.json");
    assert!(unmeasured.contains("Not measured") && !unmeasured.contains("href=\"#worth\""));
}

/// A caller says how its commands are typed, and has none in the page if it says nothing.
#[test]
fn commands_are_those_of_the_caller() {
    let mut old = unmeasured(of_cores(3));
    old.counters.batches += 1;
    old.seeds[0].dead = Some(AbsentReason::Gone);
    let with_commands = report::page(&old, "report.json", &commands("% typed "));
    assert!(
        with_commands.matches("<code>% typed ").count() >= 5,
        "{with_commands}"
    );
    let bare = page(&old, "report.json");
    assert_eq!(bare.matches("<code>").count(), 1);
    assert!(bare.contains("<code>seeds 3</code>"), "{bare}");
}

#[test]
fn every_chart_has_words() {
    let page = page(&of_cores(20), "report.json");
    let charts = page.matches("<svg ").count();
    assert!(charts > 8, "{charts}");
    for part in ["role=\"img\"", "<title id=", "<desc id="] {
        assert_eq!(page.matches(part).count(), charts, "{part}");
    }
    let mut ids: Vec<&str> = page
        .split(" id=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap())
        .collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "an id is there twice: {ids:?}");
}
