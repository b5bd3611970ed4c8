//! The URLs of a graph's nodes, by number.
//!
//! Front-coded in memory: each URL is kept as the length of what it shares with the previous one,
//! and the rest; every sixteenth is kept whole. LAW's lists are in URL order, so little is left of
//! them; and most links lead to neighbours, so a cursor that goes on from the last URL saves most
//! of the decoding.

use crate::ingest::blocks::{Blocks, lines};
use crate::ingest::location::MAX_URL;
use crate::ingest::open::Input;
use crate::ingest::progress::Progress;
use crate::ingest::source::Stop;
use crate::watch::Watch;

/// How many URLs are coded together; the first of them is whole.
const BLOCK: u64 = 16;

/// Where the URLs of the nodes come from.
#[derive(Debug)]
pub(super) enum Urls {
    /// Node n is `http://n<n>.invalid/`.
    Numbered,
    /// A list.
    Listed(UrlList),
}

/// Texts by their numbers, front-coded.
#[derive(Debug, Default)]
pub(super) struct UrlList {
    coded: Vec<u8>,
    /// Where in the coded bytes each block begins.
    blocks: Vec<usize>,
    length: u64,
    last: Vec<u8>,
}

impl UrlList {
    pub(super) const fn len(&self) -> u64 {
        self.length
    }

    fn push(&mut self, url: &[u8]) {
        let shared = if self.length.is_multiple_of(BLOCK) {
            self.blocks.push(self.coded.len());
            0
        } else {
            let pairs = url.iter().zip(&self.last);
            pairs.take_while(|(own, last)| own == last).count()
        };
        let rest = url.get(shared..).unwrap_or_default();
        push_length(shared, &mut self.coded);
        push_length(rest.len(), &mut self.coded);
        self.coded.extend_from_slice(rest);
        self.last.clear();
        self.last.extend_from_slice(url);
        self.length += 1;
    }
}

/// Appends a length, seven bits to a byte, the lowest first.
fn push_length(mut length: usize, out: &mut Vec<u8>) {
    while length > 127 {
        out.push(0x80 | (length & 127).to_le_bytes()[0]);
        length >>= 7;
    }
    out.push(length.to_le_bytes()[0]);
}

/// Reads a list of URLs, one a line.
pub(super) fn read(input: &Input, watch: &dyn Watch) -> Result<UrlList, Stop> {
    watch.stage("urls", input.length()?);
    let progress = Progress::new(watch);
    let mut list = UrlList::default();
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
        progress.tell();
    }
    Ok(list)
}

/// Looks URLs up, fastest in ascending order.
pub(super) struct Cursor<'a> {
    urls: &'a Urls,
    url: Vec<u8>,
    /// The node whose URL is decoded next, and where its code begins.
    next: u64,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) const fn of(urls: &'a Urls) -> Self {
        Self {
            urls,
            url: Vec::new(),
            next: 0,
            at: 0,
        }
    }

    /// The URL of a node; empty where the list has none.
    pub(super) fn url(&mut self, node: u64) -> &[u8] {
        match self.urls {
            Urls::Numbered => {
                self.url.clear();
                self.url.extend_from_slice(b"http://n");
                self.url.extend_from_slice(node.to_string().as_bytes());
                self.url.extend_from_slice(b".invalid/");
            }
            Urls::Listed(list) => self.decode(list, node),
        }
        &self.url
    }

    fn decode(&mut self, list: &UrlList, node: u64) {
        if node >= list.length {
            self.url.clear();
            self.next = 0;
            return;
        }
        let block = node / BLOCK;
        let decoded = self.next.checked_sub(1);
        if decoded == Some(node) {
            return;
        }
        if decoded.is_none_or(|decoded| decoded / BLOCK != block || decoded > node) {
            self.next = block * BLOCK;
            let start = usize::try_from(block).ok();
            self.at = start
                .and_then(|block| list.blocks.get(block).copied())
                .unwrap_or(list.coded.len());
        }
        while self.next <= node {
            let shared = self.length(&list.coded);
            let rest = self.length(&list.coded);
            self.url.truncate(shared);
            let rest = list.coded.get(self.at..self.at + rest).unwrap_or_default();
            self.url.extend_from_slice(rest);
            self.at += rest.len();
            self.next += 1;
        }
    }

    fn length(&mut self, coded: &[u8]) -> usize {
        let mut length = 0;
        let mut shift = 0;
        while let Some(byte) = coded.get(self.at) {
            self.at += 1;
            length |= usize::from(byte & 127) << shift;
            if byte & 128 == 0 {
                break;
            }
            shift += 7;
        }
        length
    }
}
