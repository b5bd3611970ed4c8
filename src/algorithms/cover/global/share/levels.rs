//! One breadth-first search over the pages of all processes, depth by depth in all of them.

use super::WebShare;
use crate::graph::codec::{Decoder, Encoder};
use crate::graph::{Csr, number};
use crate::watch::Interrupted;

/// The part of a search on the pages of this process, with marks that are reused without clearing.
///
/// Memory: 4 bytes for each page and ghost.
#[derive(Clone, Debug)]
pub(in super::super) struct ShareLevels {
    seen_in: Vec<u32>,
    run: u32,
}

impl ShareLevels {
    pub(in super::super) fn new(share: &WebShare) -> Self {
        Self {
            seen_in: vec![0; share.numbers.len() + share.ghosts() as usize],
            run: 0,
        }
    }

    /// Begins a search.
    pub(in super::super) fn begin(&mut self) {
        self.run = self.run.wrapping_add(1);
        if self.run == 0 {
            self.seen_in.fill(0);
            self.run = 1;
        }
    }

    /// Marks a page or a ghost; returns whether it is met for the first time.
    pub(in super::super) fn is_new(&mut self, page: u32) -> bool {
        std::mem::replace(&mut self.seen_in[page as usize], self.run) != self.run
    }

    /// Follows the links of the pages of one depth, in all processes at the same time. Returns the pages of this process
    /// at the next depth; `None` if no process has a page at this one.
    pub(in super::super) fn next(
        &mut self,
        share: &WebShare,
        links: &Csr,
        level: &[u32],
    ) -> Result<Option<Vec<u32>>, Interrupted> {
        let pages = number(share.numbers.len());
        let mut next = Vec::new();
        let mut sent: Vec<(usize, u32)> = Vec::new();
        for &target in level.iter().flat_map(|&page| links.list(page)) {
            if !self.is_new(target) {
                continue;
            }
            match target.checked_sub(pages) {
                None => next.push(target),
                Some(ghost) => sent.push(share.ghost(ghost)),
            }
        }
        sent.sort_unstable();
        let mut messages = Vec::new();
        for process in 0..share.communicator.processes() {
            let mut message = Encoder::default();
            message.number(u64::from(!level.is_empty()));
            let mut last = 0;
            for (_, place) in sent.iter().filter(|of| of.0 == process) {
                message.number((place - last).into());
                last = *place;
            }
            messages.push(message.0);
        }
        let mut any = false;
        for (process, message) in share.communicator.all_to_all(messages)?.iter().enumerate() {
            let is_read = self.read(share, process, message, &mut next);
            any |= is_read.ok_or_else(|| share.malformed())?;
        }
        Ok(any.then_some(next))
    }

    /// Reads the message of a process. Returns whether it has a page at the depth; `None` if it cannot be decoded.
    fn read(
        &mut self,
        share: &WebShare,
        process: usize,
        message: &[u8],
        next: &mut Vec<u32>,
    ) -> Option<bool> {
        let mut message = Decoder(message);
        let any = message.number()? > 0;
        let mut place: u32 = 0;
        while !message.0.is_empty() {
            place = place.checked_add(message.index()?)?;
            let page = *share.mirrors.get(process)?.get(place as usize)?;
            if self.is_new(page) {
                next.push(page);
            }
        }
        Some(any)
    }
}
