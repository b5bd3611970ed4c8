//! Events between passes: fixed-width fields in their keys and values, and changes of pages as targets of links.

use std::ops::Deref;

use super::exchange::Shuffle;
use crate::engine::{EngineError, Result};
use seedbank_algorithms::page::{PageId, RowId, SiteId};
use seedbank_store::Hash128;
use seedbank_store::links::LinkKey;
use seedbank_store::records::PageState;

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

// Changes of pages as targets of links, between passes.

const STATES: [PageState; 6] = [
    PageState::Known,
    PageState::Crawled,
    PageState::Gone,
    PageState::Unlinked,
    PageState::Alias,
    PageState::Resource,
];

pub(super) fn state_byte(state: Option<PageState>) -> u8 {
    match state {
        Some(PageState::Known) => 0,
        Some(PageState::Crawled) => 1,
        Some(PageState::Gone) => 2,
        Some(PageState::Unlinked) => 3,
        Some(PageState::Alias) => 4,
        Some(PageState::Resource) => 5,
        None => 6,
    }
}

pub(super) fn read_state(byte: u8) -> Result<PageState> {
    let state = STATES.get(usize::from(byte)).copied();
    state.ok_or(EngineError::Internal("an event has no state"))
}

/// Changes of the links from a block of pages or rows to a target: bitmaps of the places in the
/// block that gain or lose a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Places {
    pub(super) gained: u64,
    pub(super) lost: u64,
    /// `Some(true)` if the block gains its first link to the target, `Some(false)` if it loses its
    /// last one.
    pub(super) block: Option<bool>,
}

/// Change of a page as a target.
pub(super) enum TargetEvent {
    /// The state before and after the batch's records, and whether the page ever had a record.
    State {
        old: Option<PageState>,
        new: PageState,
        has_record: bool,
    },
    /// An alias begins (true) or ceases (false) to lead to the page.
    Lead(bool),
    /// Pages of a block of `intra` gain or lose a link to the page.
    Intra { block: u32, places: Places },
    /// Rows of a block of `rows` gain or lose a link to the page.
    Citers { block: LinkKey, places: Places },
}

pub(super) fn target_event(
    targets: &mut Shuffle,
    page: PageId,
    old: Option<PageState>,
    new: PageState,
    has_record: bool,
) -> Result<()> {
    let key = Bytes::default().u64(page.0).byte(0);
    let value = [state_byte(old), state_byte(Some(new)), u8::from(has_record)];
    Ok(targets.push(&key, &value)?)
}

/// Records that an alias begins or ceases to lead to a page.
pub(super) fn lead_event(targets: &mut Shuffle, page: PageId, begins: bool) -> Result<()> {
    let key = Bytes::default().u64(page.0).byte(LEAD);
    Ok(targets.push(&key, &[u8::from(begins)])?)
}

pub(super) fn intra_event(
    targets: &mut Shuffle,
    target: u32,
    block: LinkKey,
    places: Places,
) -> Result<()> {
    let target = PageId::new(block.site, target);
    let key = Bytes::default().u64(target.0).byte(1).u32(block.block);
    Ok(targets.push(&key, &put_places(places))?)
}

pub(super) fn citers_event(
    targets: &mut Shuffle,
    target: PageId,
    block: LinkKey,
    places: Places,
) -> Result<()> {
    let key = Bytes::default().u64(target.0).byte(2);
    let key = key.u32(block.site.0).u32(block.block);
    Ok(targets.push(&key, &put_places(places))?)
}

/// The kind of an event of `targets` about aliases.
const LEAD: u8 = 3;

fn put_places(places: Places) -> Bytes {
    let block = match places.block {
        None => 0,
        Some(false) => 1,
        Some(true) => 2,
    };
    let bytes = Bytes::default().byte(block).u64(places.gained);
    // Most blocks only gain links.
    if places.lost == 0 {
        bytes
    } else {
        bytes.u64(places.lost)
    }
}

fn read_places(value: &[u8]) -> Result<Places> {
    let mut fields = Fields(value);
    let block = match fields.byte()? {
        0 => None,
        block => Some(block == 2),
    };
    let gained = fields.u64()?;
    let lost = if fields.0.is_empty() {
        0
    } else {
        fields.u64()?
    };
    Ok(Places {
        gained,
        lost,
        block,
    })
}

/// Parses an event of `targets`. The key's first eight bytes are the page.
pub(super) fn read_target(key: &[u8], value: &[u8]) -> Result<TargetEvent> {
    let mut key = Fields(key);
    key.page()?;
    Ok(match key.byte()? {
        0 => {
            let mut value = Fields(value);
            TargetEvent::State {
                old: STATES.get(usize::from(value.byte()?)).copied(),
                new: read_state(value.byte()?)?,
                has_record: value.byte()? == 1,
            }
        }
        LEAD => TargetEvent::Lead(value == [1]),
        1 => TargetEvent::Intra {
            block: key.u32()?,
            places: read_places(value)?,
        },
        _ => TargetEvent::Citers {
            block: LinkKey {
                site: key.site()?,
                block: key.u32()?,
            },
            places: read_places(value)?,
        },
    })
}
