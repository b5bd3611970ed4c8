//! Formats of graphs whose pages are numbered nodes: lists of links by number, and the names of all
//! nodes, held in memory.

pub(super) mod front_coded;
pub(super) mod gap_code;
pub(super) mod url_budget;

use crate::ingest::blocks::{MAX_LINE, line_too_long};
use crate::ingest::interner::UrlNumber;
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::record::PageRecord;
use crate::ingest::reject::Fault;
use crate::ingest::summary::DropReason;
use gap_code::Numbers;
use url_budget::UrlBudget;

/// Looks up the names of nodes while lists are read.
pub(super) trait NodeNames {
    /// Returns the name of a node as it is listed; empty if there is none.
    fn name(&mut self, node: u64) -> &[u8];

    /// Returns the URL of a node whose list is read.
    fn own_url(&mut self, node: u64) -> Result<&str, Fault>;

    /// Takes the memory for a link to a node and returns the node's URL; `None` if it has no valid URL.
    fn link_url(&mut self, node: u64, budget: &mut UrlBudget) -> Result<Option<&str>, Fault>;

    /// Returns the number of the page of a node whose list is read.
    fn page(&mut self, node: u64, parser: &mut PieceParser) -> Result<UrlNumber, Fault> {
        parser.page(self.own_url(node)?)
    }

    /// Returns the number of the target of a link from a page; `None` if it is the page itself or invalid, both of
    /// which are counted.
    fn target(
        &mut self,
        page: UrlNumber,
        node: u64,
        budget: &mut UrlBudget,
        parser: &mut PieceParser,
    ) -> Result<Option<UrlNumber>, Fault> {
        let Some(url) = self.link_url(node, budget)? else {
            parser.summary.dropped(DropReason::Invalid);
            return Ok(None);
        };
        Ok(parser.target(page, url))
    }
}

/// Reads the coded list of a node, whose URLs may take `max_held_bytes` bytes.
pub(super) fn read_list(
    list: &[u8],
    names: &mut impl NodeNames,
    max_held_bytes: usize,
    parser: &mut PieceParser,
) -> Result<PageRecord<UrlNumber>, Fault> {
    // A line of text may not be longer either: it bounds what a record takes.
    if list.len() > MAX_LINE {
        return Err(line_too_long(list.len() as u64));
    }
    let mut numbers = Numbers::new(list);
    let page = names.page(numbers.next().unwrap_or_default(), parser)?;
    let mut targets = Vec::new();
    let mut budget = UrlBudget::new(list.len(), max_held_bytes);
    let mut to = 0;
    for gap in numbers {
        to += gap;
        targets.extend(names.target(page, to, &mut budget, parser)?);
    }
    let mut record = PageRecord::new(page);
    record.outlinks = Some(parser.outlinks(targets));
    Ok(record)
}
