//! Typed tables, and the types that are keys and values.

use std::fmt;
use std::marker::PhantomData;

use roaring::RoaringBitmap;

use super::codec::{self, Malformed};
use seedbank_algorithms::page::{PageId, PageSet, RowId, SiteId};

/// A 128-bit hash.
pub type Hash128 = [u8; 16];

/// A table of the store: keys `K` in byte order, each with a value `V`.
pub struct Table<K, V> {
    /// The name.
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

/// A key of a table. The order of its bytes is the order of the table, so numbers are big-endian.
pub trait Key: Sized + fmt::Debug {
    /// Appends the bytes of the key.
    fn put(&self, out: &mut Vec<u8>);
    /// Decodes a key; `None` if the bytes are not a valid key.
    fn take(bytes: &[u8]) -> Option<Self>;

    /// Returns the bytes of the key.
    fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(24);
        self.put(&mut out);
        out
    }
}

/// A value of a table.
pub trait Value: Sized {
    /// Appends the bytes of the value.
    fn encode(&self, out: &mut Vec<u8>) -> Result<(), Malformed>;
    /// Decodes a value and validates all of it.
    fn decode(bytes: &[u8]) -> Result<Self, Malformed>;

    /// Returns the fields of a record. For any other value, which returns nothing, the declaration of the table describes
    /// the layout.
    #[must_use]
    fn layout() -> String {
        String::new()
    }
}

/// Implements [`Value`] by the record codec for the types of a module.
macro_rules! record_values {
    ($($type:ty),+ $(,)?) => {$(
        impl $crate::tables::table::Value for $type {
            fn encode(&self, out: &mut Vec<u8>) -> Result<(), $crate::tables::codec::Malformed> {
                $crate::tables::codec::put_record(self, out)
            }
            fn decode(bytes: &[u8]) -> Result<Self, $crate::tables::codec::Malformed> {
                $crate::tables::codec::take_record(bytes)
            }
            fn layout() -> String {
                $crate::tables::layout::layout_of::<Self>()
            }
        }
    )+};
}

pub(crate) use record_values;

/// A key of a fixed length, which can be the first part of a compound key.
pub trait FixedKey: Key {
    /// The length in bytes.
    const LENGTH: usize;
}

/// Declares keys that are one big-endian number.
macro_rules! number_keys {
    ($($number:ty: $($id:ident),+;)+) => {$(
        impl Key for $number {
            fn put(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_be_bytes());
            }
            fn take(bytes: &[u8]) -> Option<Self> {
                bytes.try_into().ok().map(Self::from_be_bytes)
            }
        }
        impl FixedKey for $number {
            const LENGTH: usize = size_of::<Self>();
        }
        $(
            impl Key for $id {
                fn put(&self, out: &mut Vec<u8>) {
                    self.0.put(out);
                }
                fn take(bytes: &[u8]) -> Option<Self> {
                    <$number>::take(bytes).map(Self)
                }
            }
            impl FixedKey for $id {
                const LENGTH: usize = <$number>::LENGTH;
            }
        )+
    )+};
}

number_keys! {
    u32: SiteId;
    u64: PageId, RowId;
}

impl Key for String {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.as_bytes());
    }
    fn take(bytes: &[u8]) -> Option<Self> {
        std::str::from_utf8(bytes).ok().map(str::to_owned)
    }
}

impl Key for Hash128 {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self);
    }
    fn take(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok()
    }
}

impl<A: FixedKey, B: Key> Key for (A, B) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }
    fn take(bytes: &[u8]) -> Option<Self> {
        let (first, second) = bytes.split_at_checked(A::LENGTH)?;
        Some((A::take(first)?, B::take(second)?))
    }
}

impl<A: FixedKey, B: FixedKey> FixedKey for (A, B) {
    const LENGTH: usize = A::LENGTH + B::LENGTH;
}

/// All information is in the key.
impl Value for () {
    fn encode(&self, _out: &mut Vec<u8>) -> Result<(), Malformed> {
        Ok(())
    }
    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        if bytes.is_empty() {
            Ok(())
        } else {
            Err(Malformed("expected no value".to_owned()))
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
            _ => Err(Malformed("number exceeds 32 bits".to_owned())),
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

/// Ascending page or row indexes of one site.
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
