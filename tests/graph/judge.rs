//! The graph of a bank, computed from its pages alone, and plain readers of graph files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use seedbank::engine::Bank;
use seedbank::engine::graph_export::{GraphFormat, GraphOf, GraphReport, GraphRequest};
use seedbank::engine::query::PageState;
use webgraph::prelude::{BvGraphSeq, RandomAccessGraph, SequentialLabeling, VecGraph};

use crate::support::gunzip;
use crate::support::model::pages_of;

/// Nodes and links by name; of sites each link with how many there are.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Graph {
    pub nodes: BTreeSet<String>,
    pub links: BTreeMap<(String, String), u64>,
}

impl Graph {
    /// Crawled and known pages, and the links between them.
    pub fn of_pages(bank: &Bank) -> Self {
        let pages = pages_of(bank);
        let is_node = |url: &String| {
            let state = pages.get(url).map(|page| page.state);
            matches!(state, Some(PageState::Crawled | PageState::Known))
        };
        let mut graph = Self::default();
        for (url, page) in pages.iter().filter(|(url, _)| is_node(url)) {
            graph.nodes.insert(url.clone());
            for to in page.outlinks.iter().filter(|to| is_node(to)) {
                graph.links.insert((url.clone(), to.clone()), 1);
            }
        }
        graph
    }

    /// The sites of these pages, and the links between different ones, added up.
    pub fn of_sites(bank: &Bank) -> Self {
        let pages = pages_of(bank);
        Self::of_pages(bank).by_site(|url| pages[url].site.clone())
    }

    /// The links between the sites of pages, added up.
    pub fn by_site(&self, site: impl Fn(&str) -> String) -> Self {
        let mut graph = Self::default();
        graph.nodes.extend(self.nodes.iter().map(|url| site(url)));
        for (from, to) in self.links.keys() {
            let link = (site(from), site(to));
            if link.0 != link.1 {
                *graph.links.entry(link).or_default() += 1;
            }
        }
        graph
    }

    /// The pages of records without aliases and gone pages, and the links between them.
    pub fn of_records(records: &[u8]) -> Self {
        let mut graph = Self::default();
        for line in std::str::from_utf8(records).unwrap().lines() {
            let record: serde_json::Value = serde_json::from_str(line).unwrap();
            let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
            let url = text(&record["url"]);
            for to in record["outlinks"].as_array().into_iter().flatten() {
                graph.nodes.insert(text(to));
                graph.links.insert((url.clone(), text(to)), 1);
            }
            graph.nodes.insert(url);
        }
        graph
    }

    /// The same without how many links there are.
    pub fn plain(mut self) -> Self {
        for links in self.links.values_mut() {
            *links = 1;
        }
        self
    }

    /// The same with other names.
    pub fn named(self, name: impl Fn(&str) -> String) -> Self {
        let links = self.links.into_iter();
        Self {
            nodes: self.nodes.iter().map(|node| name(node)).collect(),
            links: links
                .map(|((from, to), links)| ((name(&from), name(&to)), links))
                .collect(),
        }
    }
}

/// Writes a graph to a folder of its own.
pub fn written(bank: &Bank, of: GraphOf, format: GraphFormat) -> (tempfile::TempDir, GraphReport) {
    let folder = crate::support::scratch();
    let request = GraphRequest { of, format };
    let report = bank.graph(request, folder.path()).unwrap();
    let mut names: Vec<String> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort_unstable();
    assert_eq!(names, request.files());
    (folder, report)
}

/// All bytes of a folder's files.
pub fn bytes(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            (name, fs::read(entry.path()).unwrap())
        })
        .collect()
}

pub fn rows(text: &str) -> Vec<Vec<&str>> {
    text.lines()
        .map(|line| line.split('\t').collect())
        .collect()
}

/// Reads lines of links and of nodes.
pub fn tsv(folder: &Path, links: &str, nodes: &str) -> Graph {
    let text = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let (links, nodes) = (text(links), text(nodes));
    let mut graph = Graph::default();
    for row in rows(&nodes) {
        assert_eq!(row.len(), 4);
        assert!(graph.nodes.insert(row[0].to_owned()), "{row:?} twice");
    }
    for row in rows(&links) {
        let count = row.get(2).map_or(1, |links| links.parse().unwrap());
        let link = (row[0].to_owned(), row[1].to_owned());
        assert!(graph.links.insert(link, count).is_none(), "{row:?} twice");
    }
    graph
}

/// Reads a graph in the BV format by the reader of its own library.
pub fn bv(folder: &Path, name: &str) -> Graph {
    let seq = BvGraphSeq::with_basename(folder.join(name))
        .endianness::<dsi_bitstream::traits::BE>()
        .load()
        .unwrap();
    let lists = VecGraph::from_lender(seq.iter());
    let urls = gunzip(&folder.join(format!("{name}.urls.gz")));
    let urls: Vec<&str> = urls.lines().collect();
    assert_eq!(seq.num_nodes(), urls.len());
    let weights = folder.join(format!("{name}.weights.gz"));
    let weights = weights.exists().then(|| gunzip(&weights));
    let mut weights = weights.iter().flat_map(|text| text.lines());
    let mut graph = Graph::default();
    for (node, url) in urls.iter().enumerate() {
        assert!(graph.nodes.insert((*url).to_owned()), "{url} twice");
        if node >= lists.num_nodes() {
            continue;
        }
        for to in lists.successors(node) {
            let weight = weights.next().map_or(1, |weight| weight.parse().unwrap());
            let link = ((*url).to_owned(), urls[to].to_owned());
            assert!(graph.links.insert(link, weight).is_none());
        }
    }
    assert_eq!(weights.next(), None);
    graph
}

/// Reads vertices and edges of hosts, which have to be in order.
pub fn hosts(folder: &Path) -> Graph {
    let vertices = gunzip(&folder.join("vertices.txt.gz"));
    let edges = gunzip(&folder.join("edges.txt.gz"));
    let mut names = Vec::new();
    for (id, row) in rows(&vertices).iter().enumerate() {
        assert_eq!((row.len(), row[0].parse()), (2, Ok(id)));
        names.push(row[1].to_owned());
    }
    assert!(names.is_sorted(), "{names:?}");
    let turned = |name: &String| name.rsplit('.').collect::<Vec<_>>().join(".");
    let mut graph = Graph::default();
    graph.nodes.extend(names.iter().map(turned));
    let mut last = None;
    for row in rows(&edges) {
        let ends: Vec<usize> = row.iter().map(|id| id.parse().unwrap()).collect();
        assert_eq!(ends.len(), 2);
        assert!(last < Some(ends.clone()), "{row:?} is out of order");
        let link = (turned(&names[ends[0]]), turned(&names[ends[1]]));
        graph.links.insert(link, 1);
        last = Some(ends);
    }
    graph
}

/// Rows of a Parquet file, each with the text of its columns.
#[cfg(feature = "parquet")]
pub fn table(file: &Path) -> Vec<BTreeMap<String, String>> {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    let reader = SerializedFileReader::new(fs::File::open(file).unwrap()).unwrap();
    let rows = reader.get_row_iter(None).unwrap();
    rows.map(|row| {
        let row = row.unwrap();
        let columns = row.get_column_iter();
        columns
            .map(|(name, field)| {
                let text = match field {
                    Field::Null => String::new(),
                    Field::Str(text) => text.clone(),
                    Field::Double(number) => number.to_string(),
                    other => other.to_string(),
                };
                (name.clone(), text)
            })
            .collect()
    })
    .collect()
}

/// Reads two tables whose ids belong together.
#[cfg(feature = "parquet")]
pub fn tables(folder: &Path, links: &str, nodes: &str, name: &str) -> Graph {
    let mut graph = Graph::default();
    let mut names = Vec::new();
    let nodes = table(&folder.join(nodes));
    for (id, row) in nodes.iter().enumerate() {
        assert_eq!(row["id"], id.to_string());
        names.push(row[name].clone());
        assert!(graph.nodes.insert(row[name].clone()));
    }
    let mut degrees = vec![(0, 0); names.len()];
    for row in table(&folder.join(links)) {
        let [from, to] = ["from_id", "to_id"].map(|end| row[end].parse::<usize>().unwrap());
        let links = row.get("links").map_or(1, |links| links.parse().unwrap());
        degrees[from].1 += links;
        degrees[to].0 += links;
        let link = (names[from].clone(), names[to].clone());
        assert!(graph.links.insert(link, links).is_none());
    }
    for (row, (inward, outward)) in nodes.iter().zip(degrees) {
        let numbers = ["in_links", "out_links"].map(|name| row[name].parse::<u64>().unwrap());
        assert_eq!(numbers, [inward, outward], "{row:?}");
    }
    graph
}
