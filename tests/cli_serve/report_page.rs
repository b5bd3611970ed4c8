//! The page of a report, from invented numbers: its contents, what it truncates, and that crawled text
//! is never interpreted.

use std::path::Path;
use std::process::Command;

use data_encoding::BASE64;

use crate::made_up_reports::{
    HOSTILE, commands, hostile, of_cores, of_cover, of_every_kind, of_nothing, of_web, unmeasured,
};
use seedbank::engine::evaluate::{AbsentReason, Estimate};
use seedbank::engine::plan::{HeldOutVerdict, Measure};
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
    // The made-up core has 350 hubs, of which the report tells a few.
    let more = 350 - members.hubs.len();
    assert!(
        part.contains(&format!("{more} hubs more: <code>list</code>")),
        "{part}"
    );
    let bare = page(&report, "r.json");
    assert!(bare.contains(&format!("{more} hubs more: see the bank.")));
}

#[test]
fn seeds_are_counted_by_site() {
    let apart = page(&of_cores(40), "report.json");
    assert!(apart.contains("Each of the 40 seeds is on a site of its own."));
    assert!(apart.contains("10 sites more; every seed with its site is in"));
    let mut report = of_cover(12);
    for seed in &mut report.seeds[..3] {
        "busy.example".clone_into(&mut seed.seed.site);
    }
    let page = page(&report, "report.json");
    assert!(page.contains("12 seeds are on 10 sites."), "{page}");
    let first = page.split("<table class=\"sites\"").nth(1).unwrap();
    let first = first
        .split("<tbody>")
        .nth(1)
        .unwrap()
        .split("</tr>")
        .next()
        .unwrap();
    assert!(
        first.contains("busy.example</th><td>3</td><td>25<"),
        "{first}"
    );
}

#[test]
fn what_concerns_other_methods_is_closed_and_after_the_rest() {
    let page = page(&of_cores(3), "report.json");
    let places = [
        "Per page fetched</h2>",
        "The papers' experiments",
        "<details class=\"others\"><summary><h3>Other methods",
    ]
    .map(|said| page.find(said).unwrap_or_else(|| panic!("{said}: {page}")));
    assert!(places.is_sorted(), "{places:?}");
}

/// The same words are for readers of both schemes, one of which shades the other way round.
#[test]
fn distances_are_told_without_shades() {
    let page = page(&of_cores(20), "report.json");
    let map = page.split("id=\"distances-d\"").nth(1).unwrap();
    let map = map.split("</figure>").next().unwrap();
    assert!(
        map.contains(">near</text>") && map.contains(">far</text>"),
        "{map}"
    );
    let text = page.split("</style>").nth(1).unwrap().to_lowercase();
    for shade in ["dark", "pale", "light ", "lighter"] {
        assert!(!text.contains(shade), "{shade}");
    }
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
fn the_answer_stands_first() {
    let page = page(&of_cores(20), "report.json");
    is_harmless(&page);
    let answer = &page[..page.find("<nav").unwrap()];
    for said in [
        "20 pages to start the next crawl from",
        "http://hub1.example/links/index.php?id=37",
        "Why these?",
        "Seed 1 represents 350 pages that link to 21 pages on",
        "<p class=\"verdict holds\">Yes</p>",
        "<b>Times what the best baseline finds, by pages fetched: 1.36 at 1,000, 1.36 at 5,000, \
         1.36 at 20,000</b>",
        "Per page fetched, this is made up.",
        "Crawled pages in 5,000 pages fetched",
    ] {
        assert!(answer.contains(said), "{said}\n{answer}");
    }
}

#[test]
fn a_cover_plan_is_judged_by_what_it_covers() {
    let page = page(&of_cover(12), "report.json");
    is_harmless(&page);
    // Methods that cover sites are the plan's concern here, and only here.
    let of_others = "Other methods than that of this plan";
    assert!(!page.contains(of_others), "{page}");
    let of_cores = crate::report_page::page(&of_cores(3), "report.json");
    assert!(of_cores.contains(of_others), "{of_cores}");
    assert!(!page.contains("id=\"cores\""));
    assert!(page.contains("Covers 418 pages worth 1,510"));
}

#[test]
fn a_plan_over_the_web_speaks_of_no_sites() {
    let page = page(&of_web(12), "report.json");
    for said in [
        "Over the <b>whole web</b> they were picked by <b>greedy</b>",
        "Reaches 418 pages worth 1,510 that no earlier seed reaches; pick 1, picked with",
        ">Reaches (pages)</th>",
    ] {
        assert!(page.contains(said), "{said}\n{page}");
    }
    for said in ["of its site covers", "On each of", "Covers (pages)"] {
        assert!(!page.contains(said), "{said}\n{page}");
    }
}

#[test]
fn one_is_told_as_one() {
    let mut report = of_cores(1);
    report.previous_refreshes.clear();
    report.cores[0].hubs = 1;
    let fetches = report.crawl.as_mut().unwrap().fetches.as_mut().unwrap();
    fetches.lists.iter_mut().for_each(|list| list.budget = 1);
    fetches.budgets = vec![1];
    let page = page(&report, "report.json");
    for said in [
        ">With its reason</a>",
        ">The only seed</caption>",
        ">The only core</caption>",
        ">The only refresh of the plan, up to this one</caption>",
        "<h3>What 1 page fetched brings</h3>",
        "Star, 1 page that links to 21 pages on",
        "Seed 1 represents 1 page that links to 21 pages on",
    ] {
        assert!(page.contains(said), "{said}\n{page}");
    }
    assert!(!page.contains("All 1 "), "{page}");
    let mut report = of_cores(2);
    report.cores[0].authorities = 1;
    let page = crate::report_page::page(&report, "report.json");
    assert!(
        page.contains("Star, 350 pages that link to the same page on"),
        "{page}"
    );
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
fn little_or_nothing_is_told_too() {
    let empty = page(&of_nothing(), "report.json");
    is_harmless(&empty);
    for said in [
        "No page could be selected",
        "There are no seeds to judge.",
        "first refresh of the plan",
    ] {
        assert!(empty.contains(said), "{said}\n{empty}");
    }
    let mut empty = of_nothing();
    empty
        .skipped
        .push("no site has 10 crawled pages".to_owned());
    let empty = page(&empty, "report.json");
    assert!(empty.contains("<h2>Experiments</h2>"), "{empty}");
    for shell in [
        "<ol>",
        "Per page fetched",
        "papers' experiments",
        "<div class=\"charts\">",
    ] {
        assert!(!empty.contains(shell), "{shell}\n{empty}");
    }
    let mut unmeasured = unmeasured(of_cores(3));
    unmeasured.counters.batches = 4;
    let unmeasured = page(&unmeasured, "report.json");
    assert!(unmeasured.contains("Not measured"));
    assert!(unmeasured.contains("Selected after batch 3; the bank now has batches up to 4"));
    assert!(!unmeasured.contains("href=\"#worth\""));
}

/// Without the experiments, the verdict is the one that the refresh stored.
#[test]
fn a_stored_verdict_is_shown() {
    let estimate = |mean| Estimate {
        mean,
        standard_error: Some(0.05),
    };
    let mut report = unmeasured(of_cores(3));
    report.refresh.parameters.judged = Some(HeldOutVerdict {
        batch: 2,
        seeds: 3,
        budget: 5000,
        draws: 3,
        measure: Measure::Crawled,
        found: estimate(3986.0),
        baseline: "pagerank".to_owned(),
        baseline_found: estimate(3274.0),
        times_best_baseline: Some(estimate(1.22)),
    });
    let shown = page(&report, "report.json");
    for said in [
        "<p class=\"verdict holds\">Yes</p>",
        "Judged after batch 2: held out, a crawl of 5,000 pages from these seeds finds 3,986 crawled pages",
        "these seeds</text>",
        "pagerank</text>",
    ] {
        assert!(shown.contains(said), "{said}\n{shown}");
    }
    assert!(!shown.contains("left out") && !shown.contains("Not measured"));
    // The experiments have a verdict of their own.
    let mut measured = of_cores(3);
    measured.refresh.parameters.judged = report.refresh.parameters.judged;
    assert!(!page(&measured, "report.json").contains("Judged after batch"));
}

/// How something is typed is the caller's to say.
#[test]
fn commands_are_the_callers() {
    let mut old = unmeasured(of_cores(3));
    old.counters.batches = 4;
    old.seeds[0].dead = Some(AbsentReason::Gone);
    let told = report::page(&old, "report.json", &commands("% typed "));
    for said in [
        "For the crawler: <code>% typed </code>",
        "with its score: <code>% typed </code>",
        "has batches up to 4. <code>% typed </code> selects again.",
        "marked in the list; after the next refresh, <code>% typed </code>",
        "left out; run the report with <code>% typed </code>.",
        "<code>% typed seeds 3</code>",
    ] {
        assert!(told.contains(said), "{said}\n{told}");
    }
    let bare = page(&old, "report.json");
    for said in [
        "report.json</a>.",
        "has batches up to 4.</p>",
        "marked in the list.</p>",
        "The plan was not judged, and the experiments were left out.",
        "<code>seeds 3</code>",
    ] {
        assert!(bare.contains(said), "{said}\n{bare}");
    }
    assert_eq!(bare.matches("<code>").count(), 1);
}

/// For people who want to see one without a bank.
#[test]
fn pages_can_be_looked_at() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    for (name, report) in of_every_kind() {
        let path = folder.join(format!("report-{name}.html"));
        std::fs::write(&path, page(&report, "report.json")).unwrap();
        assert!(path.metadata().unwrap().len() > 10_000, "{name}");
    }
}

#[test]
fn every_chart_has_words() {
    let page = page(&of_cores(20), "report.json");
    let charts = page.matches("<svg ").count();
    assert_eq!(charts, 14);
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
