//! Identities of banks and of their states.
//!
//! An epoch numbers the states of one bank. Random identities also distinguish states of different banks,
//! and of copies of a bank that have diverged.

use std::fmt;
use std::fs::File;
use std::io::Read;

use serde::{Deserialize, Serialize};

use super::Counters;
use crate::error::StoreError;

/// The identities of a bank and of one of its states, each 128 random bits.
///
/// Every commit writes a new identity of the state, so that a state of a diverged copy differs from the
/// state of the bank with the same epoch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Lineage {
    /// The identity of the bank, chosen when it is created or restored.
    pub bank: u128,
    /// The identity of the state.
    pub state: u128,
    /// The identity of the previous state; 0 for the first one.
    pub previous: u128,
}

/// The identity of a state of a bank, as recorded outside its database.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct StateId {
    /// The bank.
    pub(crate) bank: u128,
    /// The state.
    pub(crate) state: u128,
}

impl fmt::Display for StateId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bank {:032x} state {:032x}", self.bank, self.state)
    }
}

impl StateId {
    /// Parses the two numbers in the text that `Display` writes.
    pub(crate) fn parse(bank: &str, state: &str) -> Option<Self> {
        let number = |text: &str| {
            let number = u128::from_str_radix(text, 16).ok()?;
            (text.len() == 32).then_some(number)
        };
        Some(Self {
            bank: number(bank)?,
            state: number(state)?,
        })
    }
}

/// Returns 128 random bits.
fn random() -> Result<u128, StoreError> {
    let source = "/dev/urandom";
    let mut bytes = [0; 16];
    File::open(source)
        .and_then(|mut file| file.read_exact(&mut bytes))
        .map_err(StoreError::io("read", source))?;
    Ok(u128::from_be_bytes(bytes))
}

impl Lineage {
    /// Creates the identities of the first state of a new bank.
    pub(crate) fn new_bank() -> Result<Self, StoreError> {
        Ok(Self {
            bank: random()?,
            state: random()?,
            previous: 0,
        })
    }

    /// Creates the identities of the next state.
    pub(crate) fn next(self) -> Result<Self, StoreError> {
        Ok(Self {
            bank: self.bank,
            state: random()?,
            previous: self.state,
        })
    }

    /// Returns the identity of the state.
    pub(crate) fn id(self) -> StateId {
        StateId {
            bank: self.bank,
            state: self.state,
        }
    }
}

/// A sorted file of a bulk load.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct LoadFile {
    /// The name of its column family.
    pub family: String,
    /// The name in the folder of the load.
    pub name: String,
    /// The size in bytes.
    pub bytes: u64,
    /// The blake3 hash of the contents.
    pub hash: [u8; 32],
}

/// A bulk load whose files are complete and synced. It is finished now or at the next open, unless one of
/// its files is damaged.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Intent {
    /// The folder of the files, in the `loads` folder of the bank.
    pub folder: String,
    /// All files, grouped by family.
    pub files: Vec<LoadFile>,
    /// The counters to write after all files are ingested.
    pub counters: Counters,
    /// The identities to write with them.
    pub lineage: Lineage,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_is_read_back() {
        let lineage = Lineage::new_bank().unwrap().next().unwrap();
        let text = lineage.id().to_string();
        let words: Vec<&str> = text.split(' ').collect();
        assert_eq!(StateId::parse(words[1], words[3]), Some(lineage.id()));
        assert_eq!(StateId::parse(&words[1][1..], words[3]), None);
        assert_ne!(lineage.state, lineage.previous);
    }
}
