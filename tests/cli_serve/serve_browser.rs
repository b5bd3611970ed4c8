//! The served pages in a real browser: valid and readable on every screen, in dark mode and on paper,
//! and without accessibility problems that axe finds. Screenshots go to the target folder.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::command::Place;
use crate::support::http::{SOON, Served};
use crate::support::skipped::skipped;
use crate::support::webdriver::Browser;

/// A bank like that of `make demo`, with two plans more, which is served.
pub struct Shown {
    pub place: Place,
    served: Served,
    /// Where it is served, without a slash at the end.
    pub base: String,
}

impl Shown {
    pub fn new() -> Self {
        let place = Place::new();
        for args in [
            "synth crawl --pages 2000 --days 2 --rng-seed 3",
            "init bank",
            "ingest bank crawl/day-000.jsonl.zst --snapshot",
            "refresh bank --method cores --within 0 --seeds 20",
            "ingest bank crawl/day-001.jsonl.zst",
            "ingest bank crawl/day-002.jsonl.zst",
            "refresh bank",
            "refresh bank --plan sites --method max-weight --per-site 2",
            "refresh bank --plan many --method random --seeds 250",
        ] {
            place.run(&args.split(' ').collect::<Vec<_>>()).done();
        }
        let served = Served::start(&place, &["bank"]);
        let base = format!("http://{}", served.address);
        Self {
            place,
            served,
            base,
        }
    }

    pub fn at(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    pub fn port(&self) -> u16 {
        self.served.address.port()
    }

    /// Ends the server, which must have panicked nowhere.
    #[track_caller]
    pub fn stop(self) {
        self.served.terminate();
        // The browser may hold connections open on which it never asked.
        self.served.ends(3 * SOON);
    }
}

/// Pages that links lead to: a name, the page where the link is, and what finds it there.
const LINKED: [(&str, &str, &str); 20] = [
    ("plan", "start", "main a[href='/plan?name=default']"),
    ("refresh", "start", "main a[href='/refresh?refresh=2']"),
    ("by-site", "start", "main a[href='/refresh?refresh=3']"),
    ("many", "start", "main a[href='/refresh?refresh=4']"),
    ("history", "start", "header a[href='/batches']"),
    ("compare", "start", "header a[href='/compare']"),
    ("plans", "start", "header a[href='/plans']"),
    ("evaluate", "start", "header a[href='/evaluate']"),
    ("quotas", "start", "header a[href='/quotas']"),
    ("cores", "refresh", "main a[href^='/cores?']"),
    ("sorted", "refresh", "thead th:nth-child(2) a"),
    ("diff", "refresh", "main a[href^='/diff?']"),
    ("core", "refresh", "td a[href^='/core?']"),
    ("page", "refresh", "td a[href^='/page?']"),
    ("site", "refresh", "td a.site"),
    ("explain", "page", "main a[href^='/explain?']"),
    ("links-to", "page", "main p a[href*='of=out']"),
    ("links-from", "page", "main p a[href*='of=in']"),
    ("linked", "links-to", "tbody a[href^='/page?']"),
    ("search", "site", "main a[href^='/search?']"),
];

/// Pages that no link leads to.
const TYPED: [(&str, &str); 5] = [
    ("search-empty", "/search"),
    ("quotas-by-value", "/quotas?pages=500"),
    ("search-nothing", "/search?q=no+such+page+anywhere"),
    ("unknown", UNKNOWN),
    ("nowhere", NOWHERE),
];
const UNKNOWN: &str = "/page?url=http%3A%2F%2Fnowhere.example%2F";
const NOWHERE: &str = "/nowhere";

/// Every kind of page, by name.
fn pages(served: &Shown, browser: &Browser) -> Vec<(&'static str, String)> {
    let mut pages = vec![("start", served.at("/"))];
    for (name, from, css) in LINKED {
        let from = pages.iter().find(|page| page.0 == from).unwrap().1.clone();
        if browser.address() != from {
            browser.goto(&from);
        }
        pages.push((
            name,
            browser
                .find(css)
                .property("href")
                .as_str()
                .unwrap()
                .to_owned(),
        ));
    }
    pages.extend(TYPED.map(|(name, path)| (name, served.at(path))));
    pages
}

/// What a page is like at the width that it has now. What may be wider than the screen is in `.wide`.
const FACTS: &str = "
    const root = document.documentElement, count = css => document.querySelectorAll(css).length;
    const sticks = e => !e.closest('.wide, svg, .hidden, .skip, details:not([open]) > :not(summary)')
      && e.getBoundingClientRect().right > root.clientWidth + 0.5;
    return {
      title: document.title, lang: root.lang, mains: count('main'),
      heads: [...document.querySelectorAll('h1, h2, h3, h4, h5, h6')].map(h => Number(h.tagName[1])),
      active: count('script, iframe, object, embed, style, [style], [onclick], [onload]'),
      wide: Math.max(root.scrollWidth, document.body.scrollWidth) > root.clientWidth,
      stick: [...document.querySelectorAll('body *')].filter(sticks).map(e => e.outerHTML.slice(0, 80)),
    };";

/// The page that is open is sound, and fits on screens of every width.
#[track_caller]
pub fn is_sound(browser: &Browser, name: &str) {
    for width in [320, 360, 1280] {
        browser.set_width(width);
        let facts = browser.run(FACTS);
        let of = |field: &str| facts[field].as_str().unwrap().to_owned();
        assert!(!of("title").trim().is_empty(), "{name}: no title");
        assert_eq!(of("lang"), "en", "{name}");
        assert_eq!(facts["mains"], 1, "{name}");
        assert_eq!(facts["active"], 0, "{name}: scripts, styles or frames");
        let heads: Vec<u64> = serde_json::from_value(facts["heads"].clone()).unwrap();
        assert_eq!(heads.first(), Some(&1), "{name}");
        assert_eq!(heads.iter().filter(|h| **h == 1).count(), 1, "{name}");
        let steps = heads.windows(2).all(|pair| pair[1] <= pair[0] + 1);
        assert!(steps, "{name}: headings leave out a level: {heads:?}");
        let none: [&str; 0] = [];
        assert_eq!(facts["stick"], serde_json::json!(none), "{name} at {width}");
        assert_eq!(facts["wide"], false, "{name} at {width} px is too wide");
    }
}

/// How bright the paper and the text of the page are, from 0 to 1.
fn brightness(browser: &Browser) -> (f64, f64) {
    let script = "
        const bright = text => text.match(/\\d+/g).slice(0, 3)
          .reduce((sum, part) => sum + part / 765, 0);
        const style = getComputedStyle(document.body);
        return [bright(style.backgroundColor), bright(style.color)];";
    serde_json::from_value(browser.run(script)).unwrap()
}

/// Nothing was fetched from elsewhere, and the browser had nothing to complain about but pages that
/// are not there.
#[track_caller]
pub fn is_quiet(browser: &Browser, base: &str) {
    let mut requests = 0;
    for entry in browser.log("performance") {
        let text = entry["message"].as_str().unwrap();
        let message: Value = serde_json::from_str(text).unwrap();
        let message = &message["message"];
        if message["method"] == "Network.requestWillBeSent" {
            let url = message["params"]["request"]["url"].as_str().unwrap();
            assert!(url.starts_with(&format!("{base}/")), "{url} is elsewhere");
            requests += 1;
        }
    }
    assert!(requests > 0, "no request was seen");
    for entry in browser.log("browser") {
        let said = entry["message"].as_str().unwrap();
        let missing = [UNKNOWN, NOWHERE].iter().any(|path| {
            said.starts_with(&format!("{base}{path} - ")) && said.contains("status of 404")
        });
        assert!(missing, "{entry}");
    }
}

#[test]
fn every_page_is_sound_on_every_screen() {
    let Some(browser) = Browser::start("every_page_is_sound_on_every_screen") else {
        return;
    };
    let served = Shown::new();
    for (name, address) in pages(&served, &browser) {
        browser.goto(&address);
        browser.shown_on("screen", false);
        is_sound(&browser, name);
        let light = browser.picture(&format!("{name}-light"));
        let (paper, text) = brightness(&browser);
        assert!(paper > 0.9 && text < 0.2, "{name}: {paper}, {text}");
        browser.shown_on("screen", true);
        let dark = browser.picture(&format!("{name}-dark"));
        assert!(light != dark, "{name} is as light in the dark");
        let (paper, text) = brightness(&browser);
        assert!(paper < 0.2 && text > 0.8, "{name}: {paper}, {text}");
        browser.shown_on("screen", false);
        browser.set_width(360);
        browser.picture(&format!("{name}-phone"));
        browser.set_width(1280);
        // Paper is white, has the content, and nothing that one would have to click.
        browser.shown_on("print", true);
        let (paper, text) = brightness(&browser);
        assert!(paper > 0.9 && text < 0.2, "{name}: {paper}, {text}");
        let left = "return [...document.querySelectorAll('form, button, .turns, .skip')]
            .filter(e => e.getClientRects().length).map(e => e.outerHTML)";
        assert_eq!(browser.run(left), serde_json::json!([]), "{name}");
        let has_head = "return document.querySelector('h1').getClientRects().length > 0";
        assert_eq!(browser.run(has_head), true, "{name}");
        if ["start", "refresh", "page", "explain"].contains(&name) {
            assert!(browser.paper(name).starts_with(b"%PDF"), "{name}");
        }
    }
    is_quiet(&browser, &served.base);
    served.stop();
}

/// The program of axe, which finds barriers; `None` if it is not installed.
pub fn axe(test: &str) -> Option<String> {
    let file = std::env::var_os("SEEDBANK_AXE").map(PathBuf::from);
    let file = file.or_else(|| {
        let output = Command::new("npm").args(["root", "-g"]).output().ok()?;
        let folder = String::from_utf8(output.stdout).ok()?;
        Some(Path::new(folder.trim()).join("axe-core/axe.min.js"))
    });
    let program = file.and_then(|file| std::fs::read_to_string(file).ok());
    if program.is_none() {
        let advice = "make deps-browser, npm install -g axe-core, or SEEDBANK_AXE with the path of \
            axe.min.js";
        skipped(test, "axe-core", advice);
    }
    program
}

/// The page that is open has no barrier, by day and by night.
#[track_caller]
pub fn has_no_barrier(browser: &Browser, axe: &str, name: &str) {
    browser.run(axe);
    let script = "
        const done = arguments[arguments.length - 1];
        const options = {resultTypes: ['violations']};
        if (arguments[0]) options.runOnly = ['color-contrast', 'link-in-text-block'];
        axe.run(document, options).then(result => done({
          passed: result.passes.length,
          violations: result.violations.map(v => [v.id, v.help, v.nodes.map(n => n.html)]),
        }), error => done(String(error)));";
    for is_dark in [false, true] {
        browser.shown_on("screen", is_dark);
        // Only colours differ at night, and these are the rules about them.
        let found = browser.run_async(script, &[is_dark.into()]);
        let least = if is_dark { 0 } else { 5 };
        assert!(found["passed"].as_u64() > Some(least), "{name}: {found}");
        let none: [&str; 0] = [];
        assert_eq!(
            found["violations"],
            serde_json::json!(none),
            "{name}, dark: {is_dark}"
        );
    }
}

#[test]
fn no_page_has_a_barrier() {
    let test = "no_page_has_a_barrier";
    let (Some(browser), Some(axe)) = (Browser::start(test), axe(test)) else {
        return;
    };
    let served = Shown::new();
    // Of the lists of seeds one is enough.
    let mut pages = pages(&served, &browser);
    pages.retain(|(name, _)| !["many", "by-site", "sorted"].contains(name));
    for (name, address) in pages {
        browser.goto(&address);
        browser.set_width(1280);
        has_no_barrier(&browser, &axe, name);
    }
    // On a phone other parts are shown.
    browser.set_width(360);
    for path in ["/", "/refresh?refresh=2", "/diff?from=1&to=2", "/compare"] {
        browser.goto(&served.at(path));
        has_no_barrier(&browser, &axe, path);
    }
    served.stop();
}
