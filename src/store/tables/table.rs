//! Typed tables: a name, a key type and a value type, declared once.

use std::fmt;
use std::marker::PhantomData;

use roaring::RoaringBitmap;

use super::codec::{self, Malformed};
use seedbank_algorithms::page::{PageId, PageSet, RowId, SiteId};

/// A 128-bit hash of a content digest, or of a row's targets.
pub type Hash128 = [u8; 16];

/// A table of the store: keys of `K` in byte order, each with a value of `V`.
pub struct Table<K, V> {
    /// The name of its column family.
    pub name: &'static str,
    _types: PhantomData<fn(K) -> V>,
}

impl<K, V> Table<K, V> {
    pub(crate) const fn new(name: &'static str) -> Self {
        Self {
            name,
            _types: PhantomData,
        }
    }
}

/// A key: its bytes sort in the order in which the table is to be read (numbers are big-endian).
pub trait Key: Sized + fmt::Debug {
    /// Appends the key's bytes.
    fn put(&self, out: &mut Vec<u8>);
    /// Reads a key; `None` where the bytes are not a key of this table.
    fn take(bytes: &[u8]) -> Option<Self>;

    /// The key's bytes.
    fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(24);
        self.put(&mut out);
        out
    }
}

/// A value of a table.
pub trait Value: Sized {
    /// Appends the value's bytes.
    fn encode(&self, out: &mut Vec<u8>) -> Result<(), Malformed>;
    /// Reads a value, checking all of it.
    fn decode(bytes: &[u8]) -> Result<Self, Malformed>;
}

/// Makes records the values of tables, encoded by the record codec; each module lists its own
/// types.
macro_rules! record_values {
    ($($type:ty),+ $(,)?) => {$(
        impl $crate::tables::table::Value for $type {
            fn encode(&self, out: &mut Vec<u8>) -> Result<(), $crate::tables::codec::Malformed> {
                $crate::tables::codec::put_record(self, out)
            }
            fn decode(bytes: &[u8]) -> Result<Self, $crate::tables::codec::Malformed> {
                $crate::tables::codec::take_record(bytes)
            }
        }
    )+};
}

pub(crate) use record_values;

fn array<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    bytes.try_into().ok()
}

fn split_u32(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (head, rest) = bytes.split_first_chunk::<4>()?;
    Some((u32::from_be_bytes(*head), rest))
}

impl Key for u32 {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_be_bytes());
    }
    fn take(bytes: &[u8]) -> Option<Self> {
        array(bytes).map(Self::from_be_bytes)
    }
}

impl Key for SiteId {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
    }
    fn take(bytes: &[u8]) -> Option<Self> {
        u32::take(bytes).map(Self)
    }
}

impl Key for PageId {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0.to_be_bytes());
    }
    fn take(bytes: &[u8]) -> Option<Self> {
        array(bytes).map(|b| Self(u64::from_be_bytes(b)))
    }
}

impl Key for RowId {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0.to_be_bytes());
    }
    fn take(bytes: &[u8]) -> Option<Self> {
        array(bytes).map(|b| Self(u64::from_be_bytes(b)))
    }
}

impl Key for String {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.as_bytes());
    }
    fn take(bytes: &[u8]) -> Option<Self> {
        std::str::from_utf8(bytes).ok().map(str::to_owned)
    }
}

impl Key for (SiteId, String) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }
    fn take(bytes: &[u8]) -> Option<Self> {
        let (site, rest) = split_u32(bytes)?;
        Some((SiteId(site), String::take(rest)?))
    }
}

impl Key for Hash128 {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self);
    }
    fn take(bytes: &[u8]) -> Option<Self> {
        array(bytes)
    }
}

impl Key for (SiteId, Hash128) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        out.extend_from_slice(&self.1);
    }
    fn take(bytes: &[u8]) -> Option<Self> {
        let (site, rest) = split_u32(bytes)?;
        Some((SiteId(site), array(rest)?))
    }
}

impl Key for (u32, u32) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }
    fn take(bytes: &[u8]) -> Option<Self> {
        let (first, rest) = split_u32(bytes)?;
        Some((first, u32::take(rest)?))
    }
}

impl Key for (u32, PageId) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }
    fn take(bytes: &[u8]) -> Option<Self> {
        let (first, rest) = split_u32(bytes)?;
        Some((first, PageId::take(rest)?))
    }
}

impl Key for (PageId, PageId) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }
    fn take(bytes: &[u8]) -> Option<Self> {
        let (first, second) = bytes.split_first_chunk::<8>()?;
        Some((PageId(u64::from_be_bytes(*first)), PageId::take(second)?))
    }
}

impl Key for (PageId, u32) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }
    fn take(bytes: &[u8]) -> Option<Self> {
        let (page, rest) = bytes.split_first_chunk::<8>()?;
        Some((PageId(u64::from_be_bytes(*page)), u32::take(rest)?))
    }
}

impl Key for (u32, SiteId) {
    fn put(&self, out: &mut Vec<u8>) {
        (self.0, self.1.0).put(out);
    }
    fn take(bytes: &[u8]) -> Option<Self> {
        let (first, site) = Key::take(bytes)?;
        Some((first, SiteId(site)))
    }
}

/// Everything is in the key.
impl Value for () {
    fn encode(&self, _out: &mut Vec<u8>) -> Result<(), Malformed> {
        Ok(())
    }
    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        if bytes.is_empty() {
            Ok(())
        } else {
            Err(Malformed("there is a value where none belongs".to_owned()))
        }
    }
}

impl Value for u32 {
    fn encode(&self, out: &mut Vec<u8>) -> Result<(), Malformed> {
        codec::put_varint(u64::from(*self), out);
        Ok(())
    }
    fn decode(mut bytes: &[u8]) -> Result<Self, Malformed> {
        let value = codec::take_varint(&mut bytes)?;
        match u32::try_from(value) {
            Ok(value) if bytes.is_empty() => Ok(value),
            _ => Err(Malformed("number is not one of 32 bits".to_owned())),
        }
    }
}

impl Value for SiteId {
    fn encode(&self, out: &mut Vec<u8>) -> Result<(), Malformed> {
        self.0.encode(out)
    }
    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        u32::decode(bytes).map(Self)
    }
}

/// Ascending indexes within one site.
impl Value for Vec<u32> {
    fn encode(&self, out: &mut Vec<u8>) -> Result<(), Malformed> {
        codec::put_ascending(self.iter().map(|&index| u64::from(index)), out);
        Ok(())
    }
    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let list = codec::take_ascending(bytes, u64::from(u32::MAX))?;
        Ok(list
            .into_iter()
            .map(|v| u32::try_from(v).unwrap_or(u32::MAX))
            .collect())
    }
}

/// Ascending page ids.
impl Value for Vec<PageId> {
    fn encode(&self, out: &mut Vec<u8>) -> Result<(), Malformed> {
        codec::put_ascending(self.iter().map(|page| page.0), out);
        Ok(())
    }
    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let list = codec::take_ascending(bytes, u64::MAX)?;
        Ok(list.into_iter().map(PageId).collect())
    }
}

impl Value for Vec<f64> {
    fn encode(&self, out: &mut Vec<u8>) -> Result<(), Malformed> {
        codec::put_scores(self, out);
        Ok(())
    }
    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        codec::take_scores(bytes)
    }
}

impl Value for RoaringBitmap {
    fn encode(&self, out: &mut Vec<u8>) -> Result<(), Malformed> {
        codec::put_bitmap(self, out)
    }
    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        codec::take_bitmap(bytes)
    }
}

impl Value for PageSet {
    fn encode(&self, out: &mut Vec<u8>) -> Result<(), Malformed> {
        codec::put_pages(self, out)
    }
    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        codec::take_pages(bytes)
    }
}
