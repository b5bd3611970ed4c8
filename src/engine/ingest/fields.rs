//! Fixed-width fields in the keys and values of events between passes.

use std::ops::Deref;

use crate::engine::{EngineError, Result};
use seedbank_algorithms::page::{PageId, RowId, SiteId};
use seedbank_store::Hash128;

/// Parses fields from the front of an event's bytes.
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl Fields<'_> {
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (head, rest) = self
            .0
            .split_first_chunk::<N>()
            .ok_or(EngineError::Internal(
                "an event in temporary data is truncated",
            ))?;
        self.0 = rest;
        Ok(*head)
    }

    pub(super) fn byte(&mut self) -> Result<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(super) fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_be_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64> {
        self.array().map(u64::from_be_bytes)
    }

    pub(super) fn i64(&mut self) -> Result<i64> {
        self.array().map(i64::from_be_bytes)
    }

    pub(super) fn hash(&mut self) -> Result<Hash128> {
        self.array()
    }

    pub(super) fn page(&mut self) -> Result<PageId> {
        self.u64().map(PageId)
    }

    pub(super) fn row(&mut self) -> Result<RowId> {
        self.u64().map(RowId)
    }

    pub(super) fn site(&mut self) -> Result<SiteId> {
        self.u32().map(SiteId)
    }
}

/// Maximum length of an event in [`Bytes`].
const MOST: usize = 48;

/// Builder for an event with few fields, without allocation.
#[derive(Clone, Copy)]
pub(super) struct Bytes {
    bytes: [u8; MOST],
    length: usize,
}

impl Default for Bytes {
    fn default() -> Self {
        Self {
            bytes: [0; MOST],
            length: 0,
        }
    }
}

impl Bytes {
    #[inline]
    pub(super) fn u64(self, value: u64) -> Self {
        self.array(value.to_be_bytes())
    }

    #[inline]
    pub(super) fn u32(self, value: u32) -> Self {
        self.array(value.to_be_bytes())
    }

    #[inline]
    pub(super) fn i64(self, value: i64) -> Self {
        self.array(value.to_be_bytes())
    }

    #[inline]
    pub(super) fn byte(self, value: u8) -> Self {
        self.array([value])
    }

    #[inline]
    pub(super) fn array<const N: usize>(mut self, value: [u8; N]) -> Self {
        let end = self.length + N;
        assert!(end <= MOST, "an event has few fields");
        if let Some(place) = self.bytes.get_mut(self.length..end) {
            place.copy_from_slice(&value);
            self.length = end;
        }
        self
    }
}

impl Deref for Bytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// Returns the first bytes of a key, which identify a group of events.
pub(super) fn group<const N: usize>(key: &[u8]) -> Result<[u8; N]> {
    Fields(key).array()
}
