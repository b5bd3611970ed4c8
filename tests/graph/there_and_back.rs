//! Exported graphs of pages and of sites in each format: they match the pages of the bank, and a bank
//! made from them has the same links.
//!
//! Families of cases, and the bugs that they catch:
//! * random histories of every site mode: aliases, gone and known pages, links to these, rows shared
//!   by pages; ids or history that influence the bytes;
//! * a real crawl: many pages, long lists, a site with most of the pages;
//! * an empty bank.

use std::fs;
use std::path::Path;

use seedbank::engine::graph_export::{GraphFormat, GraphOf};
use seedbank::engine::ingest::Format;
use seedbank::engine::{Bank, IngestRequest};
use seedbank::ingest::{Input, Naming, SiteMode, UrlRules};

use super::judge::{self, Graph, bytes, written};
use crate::support;
use crate::support::banks::TestBank;
use crate::support::histories::{exported, for_each_history, made_of};

const FORMATS: &[(GraphOf, GraphFormat)] = &[
    (GraphOf::Pages, GraphFormat::Tsv),
    (GraphOf::Pages, GraphFormat::BvGraph),
    #[cfg(feature = "parquet")]
    (GraphOf::Pages, GraphFormat::Parquet),
    (GraphOf::Sites, GraphFormat::Tsv),
    (GraphOf::Sites, GraphFormat::BvGraph),
    (GraphOf::Sites, GraphFormat::CcGraph),
    #[cfg(feature = "parquet")]
    (GraphOf::Sites, GraphFormat::Parquet),
];

/// The graph that files contain.
fn read(folder: &Path, of: GraphOf, format: GraphFormat) -> Graph {
    match (of, format) {
        (GraphOf::Pages, GraphFormat::Tsv) => judge::tsv(folder, "links.tsv", "pages.tsv"),
        (GraphOf::Sites, GraphFormat::Tsv) => judge::tsv(folder, "site-links.tsv", "sites.tsv"),
        (GraphOf::Pages, GraphFormat::BvGraph) => judge::bv(folder, "pages"),
        (GraphOf::Sites, GraphFormat::BvGraph) => judge::bv(folder, "sites"),
        (_, GraphFormat::CcGraph) => judge::hosts(folder),
        #[cfg(feature = "parquet")]
        (GraphOf::Pages, GraphFormat::Parquet) => {
            judge::tables(folder, "links.parquet", "pages.parquet", "url")
        }
        #[cfg(feature = "parquet")]
        (GraphOf::Sites, GraphFormat::Parquet) => {
            judge::tables(folder, "site-links.parquet", "sites.parquet", "site")
        }
        #[cfg(not(feature = "parquet"))]
        (_, GraphFormat::Parquet) => unreachable!(),
    }
}

/// The format in which a graph is read back, and its input.
fn way_back(folder: &Path, of: GraphOf, format: GraphFormat) -> Option<(Input, Format)> {
    let file = |name: &str| Input::File(folder.join(name));
    match (of, format) {
        (GraphOf::Pages, GraphFormat::Tsv) => {
            let pages = Some(file("pages.tsv"));
            Some((file("links.tsv"), Format::Links { pages }))
        }
        (of, GraphFormat::BvGraph) => {
            let urls = Some(file(&format!("{of}.urls.gz")));
            Some((file(&of.to_string()), Format::BvGraph { urls }))
        }
        (GraphOf::Sites, GraphFormat::CcGraph) => {
            let vertices = vec![file("vertices.txt.gz")];
            let ranks = Vec::new();
            Some((file("edges.txt.gz"), Format::CcGraph { vertices, ranks }))
        }
        _ => None,
    }
}

/// The graph that files must contain, for these pages and sites.
fn adapted(of: GraphOf, format: GraphFormat, pages: &Graph, sites: &Graph) -> Graph {
    match (of, format) {
        (GraphOf::Pages, _) => pages.clone(),
        (GraphOf::Sites, GraphFormat::BvGraph) => {
            sites.clone().named(|name| format!("http://{name}/"))
        }
        (GraphOf::Sites, GraphFormat::CcGraph) => sites.clone().plain(),
        (GraphOf::Sites, _) => sites.clone(),
    }
}

/// A bank that is made of a graph's files.
fn back(input: Input, format: Format, naming: Naming) -> (tempfile::TempDir, Bank) {
    let folder = support::scratch();
    let bank = Bank::create(folder.path().join("bank"), naming).unwrap();
    let request = IngestRequest {
        inputs: vec![input],
        format,
        allow_private: true,
        ..IngestRequest::default()
    };
    let report = bank.ingest(&request).unwrap();
    assert_eq!(report.counts.rejected, 0);
    (folder, bank)
}

#[test]
fn graphs_are_those_of_the_pages_and_come_back() {
    for_each_history(8, 0, |bank, _| {
        let naming = bank.status().unwrap();
        let naming = naming.site_mode.with(naming.url_rules);
        let (pages, sites) = (Graph::of_pages(bank), Graph::of_sites(bank));
        let (_folder, other) = made_of(bank);
        for &(of, format) in FORMATS {
            let (folder, report) = written(bank, of, format);
            let (same, _) = written(&other, of, format);
            assert!(
                bytes(folder.path()) == bytes(same.path()),
                "{of} {format:?}"
            );
            let wanted = adapted(of, format, &pages, &sites);
            let found = read(folder.path(), of, format);
            assert_eq!(found, wanted, "{of} {format:?}");
            assert_eq!(report.nodes, wanted.nodes.len() as u64);
            assert_eq!(report.links, wanted.links.len() as u64);
            let Some((input, format)) = way_back(folder.path(), of, format) else {
                continue;
            };
            // A batch of nothing is refused.
            if wanted.nodes.is_empty() {
                continue;
            }
            let (wanted, naming) = match of {
                GraphOf::Pages => (wanted, naming),
                // Names of sites are no URLs, and a host is a site of its own.
                GraphOf::Sites => (
                    Graph::of_sites(bank)
                        .plain()
                        .named(|name| format!("http://{name}/")),
                    SiteMode::Host.with(UrlRules::Whatwg),
                ),
            };
            let (_folder, new) = back(input, format, naming);
            assert_eq!(Graph::of_pages(&new), wanted, "{of}");
        }
    });
}

#[test]
fn a_real_crawl_comes_back() {
    let Some(shared) = support::shared("a_real_crawl_comes_back") else {
        return;
    };
    let of_crawl = TestBank::real(&shared, "ku-2017-webir");
    let bank = &of_crawl.bank;
    let naming = SiteMode::Host.with(UrlRules::Whatwg);
    let pages = Graph::of_records(&exported(bank));
    assert!(pages.links.len() > 200_000);
    let sites = pages.by_site(|url| {
        let url = url::Url::parse(url).unwrap();
        url.host_str().unwrap().to_owned()
    });
    let as_pages = |name: &str| format!("http://{name}/");
    for &(of, format) in FORMATS {
        let (folder, _) = written(bank, of, format);
        let found = read(folder.path(), of, format);
        assert!(
            found == adapted(of, format, &pages, &sites),
            "{of} {format:?}"
        );
        if let Some((input, format)) = way_back(folder.path(), of, format) {
            let (_folder, new) = back(input, format, naming);
            let wanted = match of {
                GraphOf::Pages => pages.clone(),
                GraphOf::Sites => sites.clone().plain().named(as_pages),
            };
            assert!(Graph::of_records(&exported(&new)) == wanted, "{of}");
        }
    }
}

#[test]
fn attributes_are_exported_as_they_were_recorded() {
    let bank = TestBank::new();
    bank.delta(concat!(
        r#"{"url": "http://a.example/", "outlinks": ["http://b.example/x"], "spam": true, "clicks": 7}"#,
        "\n",
        r#"{"url": "http://c.example/", "outlinks": [], "spam": false, "uncrawled_outlinks": 0}"#,
        "\n",
    ));
    let (folder, report) = written(&bank.bank, GraphOf::Pages, GraphFormat::Tsv);
    let pages = fs::read_to_string(folder.path().join("pages.tsv")).unwrap();
    assert_eq!(
        pages,
        "http://a.example/\t1\t7\t\nhttp://b.example/x\t\t\t\nhttp://c.example/\t0\t\t0\n"
    );
    assert_eq!((report.nodes, report.crawled, report.links), (3, 2, 1));
    #[cfg(feature = "parquet")]
    {
        let (folder, _) = written(&bank.bank, GraphOf::Pages, GraphFormat::Parquet);
        let rows = judge::table(&folder.path().join("pages.parquet"));
        let column =
            |name: &str| -> Vec<String> { rows.iter().map(|row| row[name].clone()).collect() };
        assert_eq!(column("state"), ["crawled", "known", "crawled"]);
        assert_eq!(column("spam"), ["true", "", "false"]);
        assert_eq!(column("clicks"), ["7", "", ""]);
        assert_eq!(column("uncrawled_outlinks"), ["", "", "0"]);
    }
}

#[test]
fn links_to_gone_pages_are_left_out_and_counted() {
    let bank = TestBank::new();
    bank.delta(concat!(
        r#"{"url": "http://a.example/", "outlinks": ["http://a.example/1", "http://b.example/"]}"#,
        "\n",
        r#"{"url": "http://a.example/2", "outlinks": ["http://b.example/"]}"#,
        "\n",
        r#"{"url": "http://a.example/1", "gone": true}"#,
        "\n",
        r#"{"url": "http://b.example/", "gone": true}"#,
        "\n",
    ));
    for (of, nodes, links_to_gone) in [(GraphOf::Pages, 2, 3), (GraphOf::Sites, 1, 2)] {
        let (_folder, report) = written(&bank.bank, of, GraphFormat::Tsv);
        assert_eq!(
            (report.nodes, report.links, report.links_to_gone),
            (nodes, 0, links_to_gone)
        );
    }
}
