//! The texts of `explain` for more than thirty kinds of pages of a real crawl, in
//! `tests/cli_query/explain_texts.txt`. A changed text shows up in the diff of that file. A small delta adds
//! spam, a gone page, an alias and clicks to the crawl.
//!
//! `SEEDBANK_WRITE_TEXTS=1 cargo nextest run --test cli explain_texts` rewrites the file. Of the crawl
//! itself the repository has only these texts; without the crawl the test reports that it is skipped.

use std::fmt::Write;
use std::path::Path;

use crate::support;
use crate::support::command::Place;

/// Before the refreshes.
const DELTA: &str = r#"{"url": "http://annualconference.ku.ac.th/", "spam": true}
{"url": "http://admission.eng.ku.ac.th/", "gone": true}
{"url": "http://emeeting.ku.ac.th/", "redirect": "http://www.ku.ac.th/"}
{"url": "http://ansc.agr.ku.ac.th/", "clicks": 12}
{"url": "http://to-spam.example/", "outlinks": ["http://annualconference.ku.ac.th/"]}
{"url": "http://no-links.example/", "digest": "1"}
{"url": "http://spam.example/", "outlinks": ["http://www.ku.ac.th/"], "spam": true}
{"url": "http://click.example/", "outlinks": ["http://click.example/a", "http://click.example/b"], "clicks": 3}
{"url": "http://click.example/a", "outlinks": [], "spam": true}
{"url": "http://click.example/b", "outlinks": [], "clicks": 2}
{"url": "http://click.example/c", "outlinks": []}
"#;

/// After them.
const LATER: &str = r#"{"url": "http://later.example/", "outlinks": ["http://www.ku.ac.th/"]}
{"url": "http://www.ku.ac.th/study/", "gone": true}
{"url": "http://tv.ku.ac.th/", "clicks": 1}
"#;

const PLANS: [&str; 16] = [
    "default --method cores --within 0 --seeds 20",
    "loose --within 0 --density 50 --seeds 20",
    "stable --within 0 --pick stable --seeds 20",
    "few-hubs --within 0 --max-hubs 5 --seeds 5",
    "sized --within 0 --core-size 10 --new-members 2 --seeds 5",
    "literal --within 0 --growth literal --density 90 --seeds 5",
    "crawled --within 0 --pages crawled --seeds 10",
    "sites --method max-weight --per-site 2 --hops 2",
    "drawn --method random --per-site 1 --hops 1",
    "shared --method greedy --seeds 50 --share value --hops 3",
    "components --method root-scc --per-site 2",
    "outdegree --method max-out --per-site 1 --hops 1",
    "web --method greedy --scope web --seeds 10 --hops 2 --fetch-cost 0.2",
    "budget --method greedy --scope web --seeds 5 --budget 200",
    "web-drawn --method random --scope web --seeds 5",
    "large --within 0 --min-hubs 2 --max-per-site 1 --seeds 20",
];

/// The kind of page, the plan that is asked, and the page.
const KINDS: [(&str, &str, &str); 58] = [
    (
        "seed of the first core",
        "default",
        "http://kucc28.ku.ac.th/870-2/",
    ),
    (
        "seed that was one before",
        "stable",
        "http://kucc28.ku.ac.th/870-2/",
    ),
    (
        "seed that died since",
        "stable",
        "http://www.ku.ac.th/study/",
    ),
    ("hub", "default", "http://dss.agr.ku.ac.th/"),
    ("authority, crawled", "default", "http://pr.ku.ac.th/"),
    ("authority, known", "default", "http://line.me/"),
    ("hub and authority", "loose", "http://ofs.soc.ku.ac.th/"),
    (
        "near a core as a hub",
        "default",
        "http://eto.ku.ac.th/dla/",
    ),
    (
        "near a core as a hub, in a dense place",
        "default",
        "http://tv.ku.ac.th/",
    ),
    (
        "near a core as an authority",
        "default",
        "http://ca.ku.ac.th/",
    ),
    (
        "near a core as an authority, in a dense place",
        "default",
        "http://web.ku.ac.th/",
    ),
    (
        "near a core that had all its hubs",
        "few-hubs",
        "http://fish.ku.ac.th/",
    ),
    (
        "near a core of full size, as a hub",
        "sized",
        "http://eto.ku.ac.th/",
    ),
    (
        "near a core of full size, as an authority",
        "sized",
        "http://rdi.ku.ac.th/",
    ),
    (
        "near a core that ended, as a hub",
        "literal",
        "http://council.ku.ac.th/qa/",
    ),
    (
        "near a core that ended, as an authority",
        "literal",
        "http://rdi.ku.ac.th/",
    ),
    ("near no core", "default", "http://login.ku.ac.th/"),
    (
        "near no core, in a dense place",
        "default",
        "http://admission.ku.ac.th/",
    ),
    (
        "no inter-site links, crawled",
        "default",
        "http://click.example/b",
    ),
    (
        "no inter-site links, known",
        "default",
        "http://forest.ku.ac.th/",
    ),
    (
        "inter-site links that do not count",
        "default",
        "http://to-spam.example/",
    ),
    (
        "spam, by cores",
        "default",
        "http://annualconference.ku.ac.th/",
    ),
    ("gone", "default", "http://admission.eng.ku.ac.th/"),
    ("alias", "default", "http://emeeting.ku.ac.th/"),
    (
        "no page any more",
        "default",
        "http://emeeting.ku.ac.th/newmenu.html",
    ),
    (
        "known, where only crawled pages count",
        "crawled",
        "http://music/",
    ),
    (
        "the bank did not know it then",
        "default",
        "http://later.example/",
    ),
    (
        "not known, but others like it",
        "default",
        "http://tv.ku.ac.th",
    ),
    ("not known at all", "default", "http://nowhere.example/"),
    ("no URL", "default", "ftp://ku.ac.th/"),
    (
        "hub of a core that gives no seed",
        "large",
        "http://www.ku.ac.th/about/",
    ),
    (
        "only hub of a core that gives no seed",
        "large",
        "http://private.ocs.ku.ac.th/archive/images/index2557.html",
    ),
    (
        "authority of a core that gives no seed",
        "large",
        "http://calendar.ku.ac.th/",
    ),
    (
        "authority of a core of one hub that gives no seed",
        "large",
        "http://www.ku.ac.th/e-magazine/",
    ),
    (
        "near a core that gives no seed, as an authority",
        "large",
        "http://ansc.agr.ku.ac.th/",
    ),
    (
        "near a core that gives no seed, as a hub",
        "large",
        "http://www.ku.ac.th/e-magazine/index2556.html",
    ),
    (
        "seed by coverage, with a runner-up",
        "sites",
        "http://ca.ku.ac.th/",
    ),
    (
        "seed by coverage, without a runner-up",
        "sites",
        "http://ocs.ku.ac.th/",
    ),
    (
        "seed by coverage, covered before",
        "sites",
        "http://www.ku.ac.th/sitemap/",
    ),
    (
        "seed with clicks and spam around it",
        "sites",
        "http://click.example/",
    ),
    ("seed that was drawn", "drawn", "http://rc.ku.ac.th/"),
    (
        "seed of seats that were shared out",
        "shared",
        "http://finance.ku.ac.th/",
    ),
    ("seed by out-degree", "outdegree", "http://radio.ku.ac.th/"),
    ("seed of a component", "components", "http://fish.ku.ac.th/"),
    ("covered", "sites", "http://rc.ku.ac.th/"),
    (
        "not covered, all seats taken",
        "sites",
        "http://lib.ku.ac.th/",
    ),
    (
        "not covered, and worth nothing",
        "sites",
        "http://spam.example/",
    ),
    ("not covered, and not drawn", "drawn", "http://pr.ku.ac.th/"),
    ("no seats", "shared", "http://ca.ku.ac.th/"),
    ("known, by coverage", "sites", "http://music/"),
    ("seed over the web", "web", "http://www.ku.ac.th/faculty/"),
    (
        "seed for a crawl, reached before",
        "budget",
        "http://council.ku.ac.th/news/",
    ),
    (
        "seed over the web that was drawn",
        "web-drawn",
        "http://council.ku.ac.th/401-2/",
    ),
    ("reached, crawled", "web", "http://pr.ku.ac.th/"),
    ("reached, known", "web", "http://ask.com/"),
    ("could be a seed over the web", "web", "http://ca.ku.ac.th/"),
    ("leads nowhere", "web", "http://rvn.ku.ac.th/"),
    ("spam, over the web", "web", "http://spam.example/"),
];

#[test]
fn texts_of_explain_are_those_that_were_read() {
    let Some(shared) = support::shared("explain_texts") else {
        return;
    };
    let place = Place::with_bank();
    let crawl = shared.join("data/ku-2017-webir/crawl.jsonl.gz");
    let crawl = crawl.to_str().unwrap();
    place.write("delta.jsonl", DELTA);
    place.write("later.jsonl", LATER);
    for file in [crawl, "delta.jsonl"] {
        place.run(&["ingest", "bank", file, "--name", "day"]).done();
    }
    for plan in PLANS {
        let args = [vec!["refresh", "bank", "--plan"], plan.split(' ').collect()].concat();
        place.run(&args).done();
    }
    place.run(&["refresh", "bank", "--plan", "stable"]).done();
    place.run(&["ingest", "bank", "later.jsonl"]).done();
    let mut told = vec![String::new(); KINDS.len()];
    for plan in PLANS {
        let plan = plan.split(' ').next().unwrap();
        let asked: Vec<usize> = (0..KINDS.len()).filter(|at| KINDS[*at].1 == plan).collect();
        let urls: Vec<&str> = asked.iter().map(|at| KINDS[*at].2).collect();
        let args = [&["explain", "bank", "--plan", plan][..], &urls].concat();
        let ended = place.run(&args);
        assert!(matches!(ended.status, Some(0 | 5)), "{ended:?}");
        // One page alone is told as an answer or an error; of several there is a text for each.
        let texts: Vec<&str> = ended.out.split("\n\n").collect();
        assert_eq!(texts.len(), urls.len(), "{plan}: {}", ended.out);
        for (at, text) in asked.into_iter().zip(texts) {
            told[at] = format!("{}\n", text.trim_end());
        }
    }
    let mut text = String::new();
    for ((kind, plan, _), told) in KINDS.iter().zip(told) {
        writeln!(text, "## {kind} (plan {plan})\n\n{told}").unwrap();
    }
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli_query/explain_texts.txt");
    if std::env::var_os("SEEDBANK_WRITE_TEXTS").is_some() {
        std::fs::write(&golden, &text).unwrap();
    }
    let wanted = std::fs::read_to_string(&golden).unwrap_or_default();
    let differ = wanted.split("## ").zip(text.split("## "));
    let differ: Vec<_> = differ.filter(|(wanted, told)| wanted != told).collect();
    assert!(
        wanted == text,
        "not the texts of tests/cli_query/explain_texts.txt (SEEDBANK_WRITE_TEXTS=1 writes it anew): {differ:#?}"
    );
}
