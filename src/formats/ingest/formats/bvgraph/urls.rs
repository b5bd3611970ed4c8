//! The URLs of a graph's nodes, by number.

use crate::ingest::blocks::{Blocks, lines};
use crate::ingest::formats::nodes::texts::{self, Texts};
use crate::ingest::location::MAX_URL;
use crate::ingest::open::Input;
use crate::ingest::progress::Progress;
use crate::ingest::source::{Stop, check_held_bytes};
use seedbank_algorithms::watch::Watch;

/// Where the URLs of the nodes come from.
#[derive(Debug)]
pub(super) enum Urls {
    /// Node n is `http://n<n>.invalid/`.
    Numbered,
    /// A list.
    Listed(Texts),
}

/// Reads a list of URLs, one a line, which may take `max_held_bytes` bytes of memory.
pub(super) fn read(input: &Input, max_held_bytes: usize, watch: &dyn Watch) -> Result<Texts, Stop> {
    watch.stage("urls", input.length()?);
    let progress = Progress::new(watch);
    let mut list = Texts::default();
    for block in Blocks::new(input.open(&progress)?, progress.clone(), None) {
        let block = block?;
        for line in lines(&block.text) {
            // One byte over the limit is enough to be refused for the length.
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

/// Looks URLs up, fastest in ascending order.
pub(super) enum Cursor<'a> {
    /// The URL is made of the number, and kept here.
    Numbered(String),
    Listed(texts::Cursor<'a>),
}

impl<'a> Cursor<'a> {
    pub(super) const fn of(urls: &'a Urls) -> Self {
        match urls {
            Urls::Numbered => Self::Numbered(String::new()),
            Urls::Listed(list) => Self::Listed(texts::Cursor::of(list)),
        }
    }

    /// The URL of a node; empty where the list has none.
    pub(super) fn url(&mut self, node: u64) -> &[u8] {
        match self {
            Self::Numbered(url) => {
                *url = format!("http://n{node}.invalid/");
                url.as_bytes()
            }
            Self::Listed(list) => list.text(node),
        }
    }
}
