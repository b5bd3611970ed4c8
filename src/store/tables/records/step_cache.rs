//! Cached steps of the last refresh of a plan within a bound.

use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};

use crate::tables::codec::{self, Malformed};
use crate::tables::layout::layout_of;
use crate::tables::table::{Hash128, Value};
use seedbank_algorithms::page::PageId;

/// A cached step of a region, a weakly connected component of the graph: the quantized scores and weights of groups of
/// authorities. The record at rank 0 has the groups and the regions of all steps of the series instead.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct StepCacheRecord {
    /// At rank 0 the grouped pages, ascending; else empty.
    pub pages: Vec<PageId>,
    /// The group of each of these pages, from 0.
    pub groups: Vec<u32>,
    /// At rank 0 the regions; else empty.
    pub regions: Vec<StepRegion>,
    /// The region of the step, by its place in that list.
    pub region: u32,
    /// The upper bound on the largest eigenvalue of the remaining graph of the region.
    pub bound: f64,
    /// Scores other than 0, by group, ascending.
    pub scores: Vec<(u32, u8)>,
    /// Weights above 1, by group, ascending.
    pub weights: Vec<(u32, u16)>,
}

/// A region with cached steps.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StepRegion {
    /// The hash of its pages and links.
    pub fingerprint: Hash128,
    /// The smallest hashes of its rows, ascending.
    pub sample: Vec<u64>,
}

/// The encoded form: pages and their groups; regions; the region of the step and its bound; sets of groups, and their codes.
#[derive(Serialize, Deserialize)]
struct Packed {
    pages: Vec<u8>,
    groups: Vec<u32>,
    regions: Vec<StepRegion>,
    of_region: (u32, f64),
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
            regions: self.regions.clone(),
            of_region: (self.region, self.bound),
            scores: packed(&self.scores)?,
            weights: packed(&self.weights)?,
        };
        codec::put_record(&packed, out)
    }
    fn layout() -> String {
        layout_of::<Packed>()
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let packed: Packed = codec::take_record(bytes)?;
        let pages: Vec<PageId> = Value::decode(&packed.pages)?;
        let is_group = |group: &u32| (*group as usize) < pages.len();
        if pages.len() != packed.groups.len() || !packed.groups.iter().all(is_group) {
            return Err(Malformed("pages and groups do not match".to_owned()));
        }
        let (region, bound) = packed.of_region;
        if !(bound.is_finite() && bound.is_sign_positive()) {
            return Err(Malformed("a bound is not a finite number".to_owned()));
        }
        Ok(Self {
            pages,
            groups: packed.groups,
            regions: packed.regions,
            region,
            bound,
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
            regions: vec![StepRegion {
                fingerprint: [7; 16],
                sample: vec![1, u64::MAX],
            }],
            region: 3,
            bound: 2.5,
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
            ..record.clone()
        };
        let unbounded = StepCacheRecord {
            bound: f64::NAN,
            ..record
        };
        for damaged in [fewer, unbounded] {
            bytes.clear();
            damaged.encode(&mut bytes).unwrap();
            assert!(StepCacheRecord::decode(&bytes).is_err());
        }
    }
}
