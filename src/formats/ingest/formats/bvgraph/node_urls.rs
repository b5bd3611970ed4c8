//! The URLs of a graph's nodes, by number.

use crate::ingest::blocks::{Blocks, lines};
use crate::ingest::entries::utf_8;
use crate::ingest::formats::node_graph::NodeNames;
use crate::ingest::formats::node_graph::front_coded::{self, FrontCodedList};
use crate::ingest::formats::node_graph::url_budget::UrlBudget;
use crate::ingest::location::MAX_URL;
use crate::ingest::open::Input;
use crate::ingest::progress::Progress;
use crate::ingest::reject::Fault;
use crate::ingest::source::{Stop, check_held_bytes};
use seedbank_algorithms::watch::Watch;

/// Where the URLs come from.
#[derive(Debug)]
pub(super) enum NodeUrls {
    /// Node n is `http://n<n>.invalid/`.
    Numbered,
    /// From a list.
    Listed(FrontCodedList),
}

/// Reads a list of URLs, one per line, which may take `max_held_bytes` bytes of memory.
pub(super) fn read(
    input: &Input,
    max_held_bytes: usize,
    watch: &dyn Watch,
) -> Result<FrontCodedList, Stop> {
    watch.stage("urls", input.length()?);
    let progress = Progress::new(watch);
    let mut list = FrontCodedList::default();
    for block in Blocks::new(input.open(&progress)?, progress.clone(), None) {
        let block = block?;
        for line in lines(&block.text) {
            // One byte over the limit suffices for a rejection.
            list.push(line.get(..=MAX_URL).unwrap_or(line));
        }
        if let Some(overlong) = block.overlong {
            let mut line = overlong.head;
            line.resize(MAX_URL + 1, b'?');
            list.push(&line);
        }
        check_held_bytes(input, list.memory(), max_held_bytes)?;
        progress.report();
    }
    Ok(list)
}

/// Looks up URLs, fastest in ascending order.
pub(super) enum Cursor<'a> {
    /// The last URL.
    Numbered(String),
    Listed(front_coded::Cursor<'a>),
}

impl<'a> Cursor<'a> {
    pub(super) const fn new(urls: &'a NodeUrls) -> Self {
        match urls {
            NodeUrls::Numbered => Self::Numbered(String::new()),
            NodeUrls::Listed(list) => Self::Listed(front_coded::Cursor::new(list)),
        }
    }
}

impl NodeNames for Cursor<'_> {
    fn name(&mut self, node: u64) -> &[u8] {
        match self {
            Self::Numbered(url) => {
                *url = format!("http://n{node}.invalid/");
                url.as_bytes()
            }
            Self::Listed(list) => list.text(node),
        }
    }

    fn own_url(&mut self, node: u64) -> Result<&str, Fault> {
        utf_8(self.name(node))
    }

    fn link_url(&mut self, node: u64, budget: &mut UrlBudget) -> Result<Option<&str>, Fault> {
        let url = self.name(node);
        budget.take(url)?;
        Ok(std::str::from_utf8(url).ok())
    }
}
