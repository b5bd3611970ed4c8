//! The served pages as a person uses them in a real browser: with a mouse, and with the keyboard
//! alone.

use std::fs::File;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::serve_browser::{Shown, axe, has_no_barrier, is_quiet, is_sound};
use crate::support::command::Place;
use crate::support::webdriver::{Browser, ENTER, TAB, asked};

/// The cells of a column, from the first row to the last.
fn column(browser: &Browser, number: usize) -> Vec<String> {
    let script = format!(
        "return [...document.querySelectorAll('tbody tr')].map(r => r.cells[{number}].innerText)"
    );
    serde_json::from_value(browser.run(&script)).unwrap()
}

/// The JSON objects that a command prints, whatever its status.
fn printed_lines(place: &Place, args: &str, input: &str) -> Vec<Value> {
    let ended = place.run_with(&args.split(' ').collect::<Vec<_>>(), input.as_bytes());
    let lines = ended.out.lines();
    lines.map(|l| serde_json::from_str(l).unwrap()).collect()
}

/// The records of a file that `synth` wrote.
fn records(place: &Place, name: &str) -> Vec<Value> {
    let file = File::open(place.path("crawl").join(name)).unwrap();
    let text = String::from_utf8(zstd::decode_all(file).unwrap()).unwrap();
    text.lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect()
}

/// Types into the search box of the page that is open, and presses Enter.
fn search(browser: &Browser, text: &str) {
    let asked = browser.find("#find");
    browser.run("document.querySelector('#find').value = ''");
    asked.send_keys(text);
    asked.send_keys(ENTER);
    browser.wait("location.pathname === '/search' && document.querySelector('h1')");
}

#[test]
fn seeds_are_searched_sorted_filtered_and_paged() {
    let Some(browser) = Browser::start("seeds_are_searched_sorted_filtered_and_paged") else {
        return;
    };
    let served = Shown::new();
    browser.goto(&served.at("/"));
    let seeds = served.place.run(&["seeds", "bank"]).done();
    let (_, part) = seeds.lines().nth(1).unwrap().split_once("://").unwrap();
    let part = &part[..part.len() - 1];
    search(&browser, part);
    assert_eq!(browser.find("h1").text(), format!("Results for “{part}”"));
    assert_eq!(browser.find("#find").property("value"), part);
    let result = browser.find("main a[href^='/page?']");
    let url = result.text();
    assert!(url.contains(part), "{url}");
    result.click();
    browser.wait("location.pathname === '/page' && document.querySelector('h1')");
    assert_eq!(browser.find("h1").text(), url);

    // To the seeds of a plan, sorted by the heads of their columns.
    browser.find(".home").click();
    browser.wait("location.pathname === '/'");
    browser.find("main a[href='/refresh?refresh=3']").click();
    browser.wait("location.pathname === '/refresh' && document.querySelector('h1')");
    let by_rank = column(&browser, 1);
    let mut by_url = by_rank.clone();
    by_url.sort();
    assert_ne!(by_rank, by_url);
    let sorted = |at: usize, how: &str| {
        browser.wait(&format!(
            "document.querySelector('thead th:nth-child({at})').ariaSort === '{how}'"
        ));
    };
    sorted(1, "ascending");
    sorted(2, "none");
    browser.link("Page").click();
    sorted(2, "ascending");
    assert_eq!(column(&browser, 1), by_url);
    browser.link("Page").click();
    sorted(2, "descending");
    by_url.reverse();
    assert_eq!(column(&browser, 1), by_url);

    // By the form: other than by the heads it is sorted and filtered at once.
    browser.find("select[name=sort] option[value=rank]").click();
    browser.find("main form button").click();
    sorted(1, "descending");
    let mut back = by_rank.clone();
    back.reverse();
    assert_eq!(column(&browser, 1), back);
    browser.find("input[name=desc]").click();
    let filter = browser.find("main input[name=q]");
    let host = by_rank[0].split('/').nth(2).unwrap();
    filter.send_keys(host);
    filter.send_keys(ENTER);
    sorted(1, "ascending");
    let with_it: Vec<String> = by_rank
        .iter()
        .filter(|u| u.contains(host))
        .cloned()
        .collect();
    assert!(!with_it.is_empty() && with_it.len() < by_rank.len());
    assert_eq!(column(&browser, 1), with_it);
    let status = browser.find("[role=status]").text();
    let said = format!("{} of {} seeds", with_it.len(), by_rank.len());
    assert!(status.starts_with(&said), "{status}");
    // A sorted list keeps what it was filtered by.
    browser.link("Page").click();
    sorted(2, "ascending");
    assert_eq!(column(&browser, 1).len(), with_it.len());

    // From one page of a long list to the next, and back.
    browser.goto(&served.at("/refresh?refresh=4"));
    assert_eq!(column(&browser, 0).len(), 100);
    browser.find("a[rel=next]").click();
    browser.wait("document.querySelector('a[rel=prev]')");
    browser.find("a[rel=next]").click();
    browser.wait("!document.querySelector('a[rel=next]')");
    let ranks: Vec<String> = (201..=250).map(|rank| rank.to_string()).collect();
    assert_eq!(column(&browser, 0), ranks);
    browser.find("a[rel=prev]").click();
    browser.wait("document.querySelector('a[rel=next]')");
    assert_eq!(column(&browser, 0)[..2], ["101", "102"]);
    is_quiet(&browser, &served.base);
    served.stop();
}

#[test]
fn two_refreshes_are_chosen_and_lists_are_saved() {
    let Some(browser) = Browser::start("two_refreshes_are_chosen_and_lists_are_saved") else {
        return;
    };
    let served = Shown::new();
    browser.goto(&served.at("/refresh?refresh=2"));
    browser.find("main a[href^='/diff?']").click();
    browser.wait("location.pathname === '/diff' && document.querySelector('h1')");
    let counts = || -> Vec<u32> {
        let text = browser.find("main > p b").text();
        let words = text.split(' ').filter_map(|word| word.parse().ok());
        words.collect()
    };
    let forth = counts();
    assert!(forth[0] > 0 && forth[2] > 0, "{forth:?}");
    browser.find("select[name=from] option[value='2']").click();
    browser.find("select[name=to] option[value='1']").click();
    browser.find("main form button").click();
    browser.wait("document.querySelector('h1').innerText.startsWith('From refresh 2')");
    assert_eq!(
        browser.find("h1").text(),
        "From refresh 2 of plan default to refresh 1 of plan default"
    );
    assert_eq!(counts(), [forth[1], forth[0], forth[2]]);
    is_quiet(&browser, &served.base);

    // Every format of a list, as the command prints it; the browser saves it under its name.
    browser.goto(&served.at("/refresh?refresh=3"));
    let links = browser.run("return [...document.querySelectorAll('.files a')].map(a => [a.innerText, a.pathname + a.search])");
    let links: Vec<(String, String)> = serde_json::from_value(links).unwrap();
    assert_eq!(links.len(), 11);
    for (format, address) in &links {
        let (head, list) = asked(served.port(), "GET", address, "");
        if format == "parquet" {
            assert!(list.starts_with(b"PAR1") && list.ends_with(b"PAR1"));
        } else {
            let args = ["seeds", "bank", "--plan", "sites", "--format", format];
            let printed = served.place.run(&args).done();
            assert_eq!(String::from_utf8(list).unwrap(), printed, "{format}");
        }
        let name = "content-disposition: attachment; filename=\"seeds-sites-3.";
        assert!(head.contains(name), "{head}");
    }
    let saved = served.place.path("saved");
    let how = json!({"behavior": "allow", "downloadPath": saved});
    browser.chrome("Browser.setDownloadBehavior", &how);
    browser.link("csv").click();
    let file = saved.join("seeds-sites-3.csv");
    let until = Instant::now() + Duration::from_secs(20);
    while !file.is_file() {
        assert!(Instant::now() < until, "nothing was saved");
        std::thread::sleep(Duration::from_millis(50));
    }
    let args = ["seeds", "bank", "--plan", "sites", "--format", "csv"];
    assert_eq!(
        std::fs::read_to_string(file).unwrap(),
        served.place.run(&args).done()
    );
    // What was clicked is still there.
    assert_eq!(browser.address(), served.at("/refresh?refresh=3"));
    served.stop();
}

#[test]
fn a_list_is_pasted_or_chosen_as_a_file() {
    let test = "a_list_is_pasted_or_chosen_as_a_file";
    let Some(browser) = Browser::start(test) else {
        return;
    };
    let served = Shown::new();
    let seeds = served.place.run(&["seeds", "bank"]).done();
    let seed = seeds.lines().next().unwrap();
    browser.goto(&served.at("/"));
    browser.find("header a[href='/compare']").click();
    browser.wait("location.pathname === '/compare' && document.querySelector('h1')");
    let list = format!("# ours\n{seed}\nhttp://nowhere.example/\nnot a url\n{seed}\n");
    browser.find("#list").send_keys(&list);
    browser.find("main form button").click();
    browser.wait("document.querySelector('main h2')");
    assert_eq!(
        browser.find("main h2").text(),
        "Compared with refresh 2 of plan default"
    );
    // What was pasted stands there still, line for line.
    assert_eq!(browser.find("#list").property("value"), list.as_str());
    let lines = "return [...document.querySelectorAll('table')].pop().innerText";
    let lines = browser.run(lines).as_str().unwrap().to_owned();
    for text in ["seed 1", "not in the bank", "not a URL", "as line 2"] {
        assert!(lines.contains(text), "no {text:?} in {lines}");
    }
    is_sound(&browser, "compared");
    browser.picture("compared");
    if let Some(axe) = axe(test) {
        has_no_barrier(&browser, &axe, "compared");
    }

    let best: String = seeds.lines().take(5).flat_map(|url| [url, "\n"]).collect();
    let file = served.place.write("list.txt", &best);
    browser.goto(&served.at("/compare"));
    browser.find("select[name=plan]").send_keys("sites");
    browser
        .find("input[type=file]")
        .send_keys(file.to_str().unwrap());
    browser.find("main form button").click();
    browser.wait("document.querySelector('main h2')");
    assert_eq!(
        browser.find("main h2").text(),
        "Compared with refresh 3 of plan sites"
    );
    assert_eq!(browser.find("#list").property("value"), "");
    let rows = "return [...document.querySelectorAll('table')].pop().tBodies[0].rows.length";
    assert_eq!(browser.run(rows), 5);
    is_quiet(&browser, &served.base);
    served.stop();
}

/// Presses Tab until what has the focus fits a selector. On the way the focus can always be seen, and
/// it never stays where it is.
#[track_caller]
fn tab_to(browser: &Browser, css: &str) {
    let script = format!(
        "const e = document.activeElement, style = getComputedStyle(e), box = e.getBoundingClientRect();
         window.before = window.focused; window.focused = e;
         return {{
           there: e.matches({css:?}), moved: window.before !== e, html: e.outerHTML.slice(0, 100),
           ring: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0,
           seen: box.width > 0 && box.left >= 0 && box.top >= 0
             && box.right <= innerWidth + 1 && box.bottom <= innerHeight + 1,
         }};"
    );
    for _ in 0..100 {
        browser.press(TAB);
        let found = browser.run(&script);
        for must in ["moved", "ring", "seen"] {
            assert_eq!(found[must], true, "{must}: {found}");
        }
        if found["there"] == true {
            return;
        }
    }
    panic!("Tab does not lead to {css}");
}

#[test]
fn the_keyboard_alone_leads_to_the_evidence() {
    let Some(browser) = Browser::start("the_keyboard_alone_leads_to_the_evidence") else {
        return;
    };
    let served = Shown::new();
    let seeds = served.place.run(&["seeds", "bank"]).done();
    let seed = seeds.lines().next().unwrap();
    browser.goto(&served.at("/"));
    // The first stop leads past what stands above every page.
    tab_to(&browser, ".skip");
    browser.picture("skip");
    browser.press(ENTER);
    browser.wait("location.hash === '#main'");
    tab_to(&browser, "*");
    let is_inside = "return !!document.activeElement.closest('main')";
    assert_eq!(browser.run(is_inside), true);

    browser.goto(&served.at("/"));
    tab_to(&browser, "#find");
    browser.active().send_keys(seed);
    browser.press(ENTER);
    browser.wait("location.pathname === '/search' && document.querySelector('h1')");
    tab_to(&browser, "main a[href^='/page?']");
    assert_eq!(browser.active().text(), seed);
    browser.press(ENTER);
    browser.wait("location.pathname === '/page' && document.querySelector('h1')");
    tab_to(&browser, "main a[href^='/explain?']");
    browser.picture("focus");
    browser.press(ENTER);
    browser.wait("location.pathname === '/explain' && document.querySelector('.evidence')");
    assert_eq!(browser.find("h1").text(), seed);
    let evidence = browser.find(".evidence").text();
    assert!(evidence.contains("the hub chosen from core"), "{evidence}");
    is_quiet(&browser, &served.base);
    served.stop();
}

/// The first sentence of `explain`, which the pages have too.
fn sentence(place: &Place, url: &str) -> String {
    let text = place.run(&["explain", "bank", url]).done();
    text.lines().nth(1).unwrap().trim().to_owned()
}

#[test]
fn every_answer_is_three_steps_from_the_start() {
    let Some(browser) = Browser::start("every_answer_is_three_steps_from_the_start") else {
        return;
    };
    let served = Shown::new();
    let place = &served.place;
    let home = || browser.goto(&served.at("/"));
    let step = |css: &str, path: &str| {
        browser.find(css).click();
        browser.wait(&format!(
            "location.pathname === '{path}' && document.querySelector('h1')"
        ));
    };
    let is_explained = |url: &str| {
        assert_eq!(browser.find("h1").text(), url);
        let plans = browser.run(
            "return [...document.querySelectorAll('.why > p:first-child')].map(p => p.innerText)",
        );
        let plans: Vec<String> = serde_json::from_value(plans).unwrap();
        assert!(plans.contains(&sentence(place, url)), "{url}: {plans:?}");
    };

    // A seed, and a hub of a core that is none: through the lists alone.
    let core = printed_lines(place, "cores bank --format jsonl", "").remove(0);
    let seed = core["seed"].as_str().unwrap();
    home();
    step("main a[href='/refresh?refresh=2']", "/refresh");
    step("td a[href^='/page?']", "/page");
    is_explained(seed);
    let hub = core["hubs"]
        .as_array()
        .unwrap()
        .iter()
        .find(|hub| **hub != seed);
    let hub = hub.unwrap().as_str().unwrap();
    home();
    step("main a[href='/refresh?refresh=2']", "/refresh");
    step("td a[href^='/core?']", "/core");
    browser.link(hub).click();
    browser.wait("location.pathname === '/page' && document.querySelector('h1')");
    is_explained(hub);

    // Any other page: it is searched for, clicked, and its evidence is a step further.
    let crawled = records(place, "day-000.jsonl.zst");
    let urls: String = crawled
        .iter()
        .flat_map(|page| [page["url"].as_str().unwrap(), "\n"])
        .collect();
    let kinds = printed_lines(place, "explain bank - --format jsonl", &urls);
    let near = kinds
        .iter()
        .find(|page| page["kind"] == "near-core")
        .unwrap();
    let gone = records(place, "day-001.jsonl.zst")
        .into_iter()
        .find(|page| page["gone"] == true)
        .unwrap();
    for (page, word) in [(near, "too few"), (&gone, "gone")] {
        let url = page["url"].as_str().unwrap();
        home();
        search(&browser, url);
        browser.link(url).click();
        browser.wait("location.pathname === '/page' && document.querySelector('h1')");
        is_explained(url);
        let said = sentence(place, url);
        assert!(said.contains(word), "{said}");
        step("main a[href^='/explain?']", "/explain");
        assert_eq!(browser.find("main p b").text(), said);
    }

    // The search and the address of a page that the bank does not have say so.
    home();
    search(&browser, "http://nowhere.example/");
    let said = browser.find(".notice").text();
    assert!(
        said.starts_with("The bank has no page and no site"),
        "{said}"
    );
    browser.goto(&served.at("/page?url=http%3A%2F%2Fnowhere.example%2F"));
    assert_eq!(browser.find("h1").text(), "Not found");
    let again = browser.find("#find");
    again.send_keys(seed);
    again.send_keys(ENTER);
    browser.wait("location.pathname === '/search' && document.querySelector('h1')");
    browser.link(seed).click();
    browser.wait("location.pathname === '/page' && document.querySelector('h1')");
    is_explained(seed);
    is_quiet(&browser, &served.base);
    served.stop();
}
