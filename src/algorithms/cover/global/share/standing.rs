//! What decides about the next pick.

use std::cmp::Reverse;

use super::super::super::argmax_search::{Key, TopTwo};
use super::{Group, WebShare};
use crate::graph::codec::{Decoder, Encoder};
use crate::watch::Interrupted;

/// What decides about the next pick: in one process, or in all of them.
#[derive(Debug)]
pub(in super::super) struct Standing {
    /// The number of unreached pages whose value differs from the fetch cost.
    pub(in super::super) unreached: u64,
    /// The two best candidates that can be picked, by their numbers in the web.
    pub(in super::super) top: TopTwo,
    /// The group of the best one for each cap.
    pub(in super::super) groups: Vec<u32>,
}

impl Standing {
    /// Returns what holds for all processes, given what holds for this one.
    pub(in super::super) fn of_all(self, share: &WebShare) -> Result<Self, Interrupted> {
        let mut message = Encoder::default();
        message.number(self.unreached);
        for (gain, Reverse(page)) in self.top.first.into_iter().chain(self.top.second) {
            message.signed(gain);
            message.number(page.into());
            if Some((gain, Reverse(page))) == self.top.first {
                message.number(self.groups.len() as u64);
                self.groups
                    .iter()
                    .for_each(|group| message.number((*group).into()));
            }
        }
        let mut all = Self {
            unreached: 0,
            top: TopTwo::default(),
            groups: Vec::new(),
        };
        for message in Group(Some(share)).gather(message.0)? {
            let is_read = all.add(&mut Decoder(&message));
            is_read.ok_or_else(|| share.malformed())?;
        }
        Ok(all)
    }

    /// Adds what a process has sent; `None` if it cannot be decoded.
    fn add(&mut self, message: &mut Decoder<'_>) -> Option<()> {
        self.unreached = self.unreached.checked_add(message.number()?)?;
        let mut is_first = true;
        while !message.0.is_empty() {
            let key: Key = (message.signed()?, Reverse(message.index()?));
            self.top.offer(key);
            if std::mem::take(&mut is_first) {
                let count = message.number()?;
                let groups: Option<Vec<u32>> = (0..count).map(|_| message.index()).collect();
                if self.top.first == Some(key) {
                    self.groups = groups?;
                }
            }
        }
        Some(())
    }
}
