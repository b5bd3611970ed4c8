//! What the lines of a block come to, line after line.

use super::interner::{Interner, UrlNumber};
use super::location::SiteMode;
use super::reject::Fault;
use super::summary::{DropReason, ReadSummary};

/// What the lines of a block have said so far, beside their events.
#[derive(Debug)]
pub struct Reading {
    /// What a site is.
    pub mode: SiteMode,
    /// The URLs by number; some may be of lines that turned out not to say them.
    pub urls: Interner,
    /// What was left out.
    pub summary: ReadSummary,
}

impl Reading {
    /// Nothing has been read; `urls` may have some already.
    #[must_use]
    pub fn new(mode: SiteMode, urls: Interner) -> Self {
        Self {
            mode,
            urls,
            summary: ReadSummary::default(),
        }
    }

    /// The page that a line is about; a bad URL rejects the line.
    pub(super) fn page(&mut self, text: &str) -> Result<UrlNumber, Fault> {
        let number = self.urls.parse(text, self.mode);
        number.map_err(|problem| Fault::page_url(&problem))
    }

    /// The target of a link from a page. One that is no page, or the page itself, is counted.
    pub(super) fn target(&mut self, from: UrlNumber, text: &str) -> Option<UrlNumber> {
        match self.urls.parse(text, self.mode) {
            Ok(to) if to == from => self.summary.self_links += 1,
            Ok(to) => return Some(to),
            Err(problem) => self.summary.dropped(DropReason::from(&problem)),
        }
        None
    }

    /// The outlinks of a page, ascending and each once; the others are counted.
    pub(super) fn outlinks(&mut self, mut targets: Vec<UrlNumber>) -> Vec<UrlNumber> {
        let given = targets.len();
        targets.sort_unstable();
        targets.dedup();
        self.summary.duplicate_outlinks += (given - targets.len()) as u64;
        targets
    }
}
