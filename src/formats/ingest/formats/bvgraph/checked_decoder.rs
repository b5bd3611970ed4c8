//! Checks the codes of a graph before `webgraph` uses them.
//!
//! `webgraph` allocates memory for an outdegree, subtracts, slices and adds as the codes say. With a
//! damaged graph, it would panic, loop forever, or abort for lack of memory. So each number is
//! compared with what the list so far allows before `webgraph` sees it.

use webgraph::graphs::bvgraph::Decode;

use super::properties::Properties;
use super::reject_invalid::reject;

/// The most links, of 8 bytes each, in all lists in memory; far more than in any crawl.
const MAX_HELD: u64 = 32 << 20;

/// A decoder that checks every number.
#[derive(Debug)]
pub(super) struct CheckedDecoder<D> {
    codes: D,
    nodes: u64,
    /// The number of links in the properties, and how many of them are still to come.
    all_links: u64,
    links: u64,
    shortest_interval: u64,
    /// The outdegrees of the latest nodes, in a ring buffer.
    degrees: Vec<u64>,
    /// The largest outdegree so far in each slot: the memory of a list is reused for the next one
    /// there.
    largest: Vec<u64>,
    /// The sum of the largest outdegrees.
    held: u64,
    node: u64,
    /// Successors of the current node that are still to come.
    left: u64,
    /// Of the list that is copied from: its length, its number of blocks, the next block, and the
    /// end of the last one.
    reference: u64,
    blocks: u64,
    block: u64,
    copied_to: u64,
}

impl<D> CheckedDecoder<D> {
    pub(super) fn new(codes: D, header: &Properties) -> Self {
        let lists = header.flags.compression_window + 1;
        Self {
            codes,
            nodes: header.nodes,
            all_links: header.links,
            links: header.links,
            shortest_interval: header.flags.min_interval_length as u64,
            degrees: vec![0; lists],
            largest: vec![0; lists],
            held: 0,
            node: 0,
            left: 0,
            reference: 0,
            blocks: 0,
            block: 0,
            copied_to: 0,
        }
    }

    fn place(&self, node: u64) -> usize {
        usize::try_from(node % self.degrees.len() as u64).unwrap_or(0)
    }

    /// Checks the memory for a list before it is allocated.
    fn hold(&mut self, degree: u64) {
        let place = self.place(self.node);
        self.degrees[place] = degree;
        let more = degree.saturating_sub(self.largest[place]);
        self.largest[place] += more;
        self.held += more;
        if self.held > MAX_HELD {
            reject(format!(
                "lists of {} links to be held, of which {MAX_HELD} are",
                self.held
            ));
        }
    }

    fn take(&mut self, successors: u64) {
        match self.left.checked_sub(successors) {
            Some(left) => self.left = left,
            None => reject("more links than its outdegree".to_owned()),
        }
    }

    /// Checks a distance between nodes, which is doubled if its lowest bit is the sign.
    fn distance(&self, distance: u64) -> u64 {
        if distance > self.nodes.saturating_mul(2) {
            reject(format!("a link over {distance} nodes"));
        }
        distance
    }
}

impl<D: Decode> Decode for CheckedDecoder<D> {
    fn read_outdegree(&mut self) -> u64 {
        let degree = self.codes.read_outdegree();
        if degree > self.nodes {
            reject(format!("{degree} links in a graph of {} nodes", self.nodes));
        }
        match self.links.checked_sub(degree) {
            Some(links) => self.links = links,
            None => reject(format!("its properties claim {} links", self.all_links)),
        }
        self.hold(degree);
        self.node += 1;
        self.left = degree;
        degree
    }

    fn read_reference_offset(&mut self) -> u64 {
        let back = self.codes.read_reference_offset();
        let node = self.node - 1;
        if back > node || back >= self.degrees.len() as u64 {
            reject(format!("a copy of the list {back} nodes before"));
        }
        self.reference = self.degrees[self.place(node - back)];
        back
    }

    fn read_block_count(&mut self) -> u64 {
        let blocks = self.codes.read_block_count();
        if blocks > self.reference + 1 {
            reject(format!("{blocks} blocks of {} links", self.reference));
        }
        (self.blocks, self.block, self.copied_to) = (blocks, 0, 0);
        if blocks == 0 {
            self.take(self.reference);
        }
        blocks
    }

    fn read_block(&mut self) -> u64 {
        let block = self.codes.read_block();
        let length = block.saturating_add(u64::from(self.block > 0));
        let end = self.copied_to.saturating_add(length);
        if end > self.reference {
            reject(format!("a block of {length} links"));
        }
        if self.block.is_multiple_of(2) {
            self.take(length);
        }
        self.copied_to = end;
        self.block += 1;
        // Blocks are alternately copied and skipped; the rest after a last skipped block is copied.
        if self.block == self.blocks && self.blocks.is_multiple_of(2) {
            self.take(self.reference - end);
        }
        block
    }

    fn read_interval_count(&mut self) -> u64 {
        let intervals = self.codes.read_interval_count();
        if intervals.saturating_mul(self.shortest_interval) > self.left {
            reject(format!("{intervals} intervals in {} links", self.left));
        }
        intervals
    }

    fn read_interval_start(&mut self) -> u64 {
        let start = self.codes.read_interval_start();
        self.distance(start)
    }

    fn read_interval_len(&mut self) -> u64 {
        let length = self.codes.read_interval_len();
        self.take(length.saturating_add(self.shortest_interval));
        length
    }

    fn read_first_residual(&mut self) -> u64 {
        let residual = self.codes.read_first_residual();
        self.distance(residual)
    }

    fn read_residual(&mut self) -> u64 {
        let residual = self.codes.read_residual();
        self.distance(residual)
    }
}
