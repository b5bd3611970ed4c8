//! Cached steps of the last refresh of a plan within a bound.

use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};

use crate::tables::codec::{self, Malformed};
use crate::tables::table::Value;
use seedbank_algorithms::page::PageId;

/// A cached step: the quantized scores and weights of groups of authorities. The record at rank 0 has the
/// groups of all steps of the series instead.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct StepCacheRecord {
    /// At rank 0 the grouped pages, ascending; else empty.
    pub pages: Vec<PageId>,
    /// The group of each of these pages, from 0.
    pub groups: Vec<u32>,
    /// Scores other than 0, by group, ascending.
    pub scores: Vec<(u32, u8)>,
    /// Weights above 1, by group, ascending.
    pub weights: Vec<(u32, u16)>,
}

/// The encoded form: pages and their groups; sets of groups, and their codes.
#[derive(Serialize, Deserialize)]
struct Packed {
    pages: Vec<u8>,
    groups: Vec<u32>,
    scores: (Vec<u8>, Vec<u8>),
    weights: (Vec<u8>, Vec<u16>),
}

fn packed<T: Copy>(entries: &[(u32, T)]) -> Result<(Vec<u8>, Vec<T>), Malformed> {
    let groups: RoaringBitmap = entries.iter().map(|(group, _)| *group).collect();
    let mut bytes = Vec::new();
    codec::put_bitmap(&groups, &mut bytes)?;
    Ok((bytes, entries.iter().map(|(_, code)| *code).collect()))
}

fn unpacked<T>(groups: &[u8], codes: Vec<T>) -> Result<Vec<(u32, T)>, Malformed> {
    let groups = codec::take_bitmap(groups)?;
    if groups.len() != codes.len() as u64 {
        return Err(Malformed(
            "the number of groups differs from the number of codes".to_owned(),
        ));
    }
    Ok(groups.iter().zip(codes).collect())
}

impl Value for StepCacheRecord {
    fn encode(&self, out: &mut Vec<u8>) -> Result<(), Malformed> {
        let mut pages = Vec::new();
        self.pages.encode(&mut pages)?;
        let packed = Packed {
            pages,
            groups: self.groups.clone(),
            scores: packed(&self.scores)?,
            weights: packed(&self.weights)?,
        };
        codec::put_record(&packed, out)
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let packed: Packed = codec::take_record(bytes)?;
        let pages: Vec<PageId> = Value::decode(&packed.pages)?;
        let is_group = |group: &u32| (*group as usize) < pages.len();
        if pages.len() != packed.groups.len() || !packed.groups.iter().all(is_group) {
            return Err(Malformed("pages and groups do not match".to_owned()));
        }
        Ok(Self {
            pages,
            groups: packed.groups,
            scores: unpacked(&packed.scores.0, packed.scores.1)?,
            weights: unpacked(&packed.weights.0, packed.weights.1)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_comes_back_as_it_was_and_a_damaged_one_does_not() {
        let record = StepCacheRecord {
            pages: vec![PageId(3), PageId(1 << 40)],
            groups: vec![1, 0],
            scores: vec![(0, 7), (1, 255)],
            weights: vec![(1, 65_535)],
        };
        let mut bytes = Vec::new();
        record.encode(&mut bytes).unwrap();
        assert_eq!(StepCacheRecord::decode(&bytes).unwrap(), record);
        for cut in 0..bytes.len() {
            assert!(StepCacheRecord::decode(&bytes[..cut]).is_err());
        }
        let (groups, _) = packed(&record.scores).unwrap();
        assert!(unpacked(&groups, vec![1_u8]).is_err());
        let fewer = StepCacheRecord {
            groups: vec![1],
            ..record
        };
        bytes.clear();
        fewer.encode(&mut bytes).unwrap();
        assert!(StepCacheRecord::decode(&bytes).is_err());
    }
}
