//! Values of some classes that processes tell each other.

use super::HubShare;
use crate::graph::codec::{Decoder, Encoder};
use crate::graph::dense_index::number;
use crate::graph::exchange::gather;
use crate::graph::role::Role;
use crate::watch::Interrupted;

/// Appends a value.
fn write(message: &mut Encoder, place: u32, value: f64) {
    message.number(place.into());
    message.0.extend(value.to_le_bytes());
}

fn read(message: &mut Decoder<'_>) -> Option<(u32, f64)> {
    let place = message.index()?;
    let (bytes, rest) = message.0.split_first_chunk()?;
    message.0 = rest;
    Some((place, f64::from_le_bytes(*bytes)))
}

impl HubShare {
    /// Adds the values of the ghosts among `changed` to those of their owners, and sets them to 0. `changed` becomes a
    /// list of own classes that changed, perhaps with repetitions. Sums must be exact in any order. Returns the sums of
    /// counts over all processes. All processes call it at the same time.
    ///
    /// Cost: some 11 bytes for each of the ghosts.
    pub(crate) fn fold_ghosts<const N: usize>(
        &self,
        role: Role,
        changed: &mut Vec<u32>,
        values: &mut [f64],
        counts: [u64; N],
    ) -> Result<[u64; N], Interrupted> {
        if self.is_whole() {
            return Ok(counts);
        }
        let side = self.side(role);
        let mut of_counts = Encoder::default();
        for count in counts {
            of_counts.number(count);
        }
        let mut messages = vec![of_counts; self.communicator().processes()];
        changed.retain(|&class| {
            if class < side.own {
                return true;
            }
            let after = side.first_ghosts.partition_point(|first| *first <= class);
            let process = after.saturating_sub(1);
            let value = std::mem::take(&mut values[class as usize]);
            if let (Some(message), Some(first)) =
                (messages.get_mut(process), side.first_ghosts.get(process))
            {
                write(message, class - first, value);
            }
            false
        });
        let messages = messages.into_iter().map(|message| message.0).collect();
        let mut sums = [0_u64; N];
        for (from, message) in self.communicator().all_to_all(messages)?.iter().enumerate() {
            let mut message = Decoder(message);
            for sum in &mut sums {
                let count = message.number().ok_or_else(|| self.malformed())?;
                *sum = sum.saturating_add(count);
            }
            while !message.0.is_empty() {
                let (place, value) = read(&mut message).ok_or_else(|| self.malformed())?;
                let mirrors = side.mirrors.get(from);
                let class = mirrors.and_then(|of| of.get(place as usize)).copied();
                let class = class.ok_or_else(|| self.malformed())?;
                values[class as usize] += value;
                changed.push(class);
            }
        }
        Ok(sums)
    }

    /// Tells other processes values of own classes. Returns the values that they tell of ghosts. All processes call it at
    /// the same time.
    pub(crate) fn announce(
        &self,
        role: Role,
        values: &[(u32, f64)],
    ) -> Result<Vec<(u32, f64)>, Interrupted> {
        if self.is_whole() {
            return Ok(Vec::new());
        }
        let side = self.side(role);
        let mut messages = vec![Encoder::default(); self.communicator().processes()];
        for &(class, value) in values {
            for &place in side.mirrors_of(class) {
                let after = side.first_mirrors.partition_point(|first| *first <= place);
                let process = after.saturating_sub(1);
                if let (Some(message), Some(first)) =
                    (messages.get_mut(process), side.first_mirrors.get(process))
                {
                    write(message, place - first, value);
                }
            }
        }
        let messages = messages.into_iter().map(|message| message.0).collect();
        let mut told = Vec::new();
        for (from, message) in self.communicator().all_to_all(messages)?.iter().enumerate() {
            let ghosts = side.ghosts_of(from);
            let mut message = Decoder(message);
            while !message.0.is_empty() {
                let (place, value) = read(&mut message).ok_or_else(|| self.malformed())?;
                let class = number(ghosts.start).checked_add(place);
                let class = class.filter(|class| (*class as usize) < ghosts.end);
                told.push((class.ok_or_else(|| self.malformed())?, value));
            }
        }
        Ok(told)
    }

    /// Returns which statements hold in any process. All processes call it at the same time with equally many.
    pub(crate) fn any(&self, mut own: Vec<bool>) -> Result<Vec<bool>, Interrupted> {
        if self.is_whole() {
            return Ok(own);
        }
        let message = Encoder(own.iter().map(|holds| u8::from(*holds)).collect());
        for message in gather(self.communicator(), message)? {
            if message.len() != own.len() {
                return Err(self.malformed());
            }
            for (any, holds) in own.iter_mut().zip(message) {
                *any |= holds != 0;
            }
        }
        Ok(own)
    }
}
