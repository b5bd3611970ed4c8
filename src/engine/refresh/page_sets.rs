//! Sets of pages in messages.

use roaring::RoaringTreemap;

use crate::engine::{EngineError, Result};
use seedbank_algorithms::page::PageSet;

/// Encodes sets of pages.
pub(super) fn encode_sets(sets: &[PageSet]) -> Result<Vec<Vec<u8>>> {
    let bytes = |pages: &PageSet| {
        let mut bytes = Vec::with_capacity(pages.serialized_size());
        let written = pages.serialize_into(&mut bytes);
        written.map_err(|_| EngineError::Internal("a bitmap cannot be written"))?;
        Ok(bytes)
    };
    sets.iter().map(bytes).collect()
}

/// Decodes what [`encode_sets`] has encoded; `None` if it cannot be decoded.
pub(super) fn decode_sets(sets: &[Vec<u8>]) -> Option<Vec<PageSet>> {
    let set = |bytes: &Vec<u8>| RoaringTreemap::deserialize_from(bytes.as_slice()).ok();
    sets.iter().map(set).collect()
}
