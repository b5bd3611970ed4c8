//! The candidate with the largest value that can fill the next place.

use std::cmp::Reverse;

use super::super::super::argmax_search::Key;
use super::{Group, WebShare};
use crate::graph::codec::{Decoder, Encoder};
use crate::watch::Interrupted;

/// The next candidate by value, in one process or in all processes.
#[derive(Debug, Default)]
pub(in super::super) struct Offer {
    /// Whether any candidate follows the last one taken, including candidates that cannot be picked.
    pub(in super::super) has_more: bool,
    /// The value and the number in the web of the next candidate; `None` if no candidate can be picked.
    pub(in super::super) best: Option<Key>,
    /// Its gain.
    pub(in super::super) gain: i64,
    /// Its group for each cap.
    pub(in super::super) groups: Vec<u32>,
}

impl Offer {
    /// Returns the offer of all processes, given that of this one.
    pub(in super::super) fn of_all(self, share: &WebShare) -> Result<Self, Interrupted> {
        let mut message = Encoder::default();
        message.number(self.has_more.into());
        if let Some((value, Reverse(page))) = self.best {
            message.signed(value);
            message.number(page.into());
            message.signed(self.gain);
            for group in self.groups {
                message.number(group.into());
            }
        }
        let mut all = Self::default();
        for message in Group(Some(share)).gather(message.0)? {
            let is_read = all.add(&mut Decoder(&message));
            is_read.ok_or_else(|| share.malformed())?;
        }
        Ok(all)
    }

    /// Adds what a process has sent; `None` if it cannot be decoded.
    fn add(&mut self, message: &mut Decoder<'_>) -> Option<()> {
        self.has_more |= message.number()? > 0;
        if message.0.is_empty() {
            return Some(());
        }
        let best: Key = (message.signed()?, Reverse(message.index()?));
        let gain = message.signed()?;
        let mut groups = Vec::new();
        while !message.0.is_empty() {
            groups.push(message.index()?);
        }
        if self.best.is_none_or(|other| best > other) {
            (self.best, self.gain, self.groups) = (Some(best), gain, groups);
        }
        Some(())
    }
}
