//! What the last refresh of a plan kept of its steps within a bound, for the next one.

use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};

use super::codec::{self, Malformed};
use super::table::Value;
use seedbank_algorithms::page::PageId;

/// What is kept of a step: scores and weights of groups of authorities on their grids (`rank::quantize`).
/// At rank 0, where there is no step, stand the groups, for all steps of the refresh.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct KeptRecord {
    /// At rank 0 the pages that are in a group, ascending; else none.
    pub pages: Vec<PageId>,
    /// The group of each of these pages, from 0.
    pub groups: Vec<u32>,
    /// Scores that are not 0, by group, ascending.
    pub scores: Vec<(u32, u8)>,
    /// Weights above 1, by group, ascending.
    pub weights: Vec<(u32, u16)>,
}

/// The bytes of it: the pages and their groups; sets of groups, and their codes.
#[derive(Serialize, Deserialize)]
struct Packed {
    pages: Vec<u8>,
    groups: Vec<u32>,
    scores: (Vec<u8>, Vec<u8>),
    weights: (Vec<u8>, Vec<u16>),
}

fn packed<T: Copy>(of: &[(u32, T)]) -> Result<(Vec<u8>, Vec<T>), Malformed> {
    let groups: RoaringBitmap = of.iter().map(|(group, _)| *group).collect();
    let mut bytes = Vec::new();
    codec::put_bitmap(&groups, &mut bytes)?;
    Ok((bytes, of.iter().map(|(_, code)| *code).collect()))
}

fn unpacked<T>((groups, codes): (Vec<u8>, Vec<T>)) -> Result<Vec<(u32, T)>, Malformed> {
    let groups = codec::take_bitmap(&groups)?;
    if groups.len() != codes.len() as u64 {
        return Err(Malformed("it has other groups than codes".to_owned()));
    }
    Ok(groups.iter().zip(codes).collect())
}

impl Value for KeptRecord {
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
            return Err(Malformed("it has other pages than groups".to_owned()));
        }
        Ok(Self {
            pages,
            groups: packed.groups,
            scores: unpacked(packed.scores)?,
            weights: unpacked(packed.weights)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_comes_back_as_it_was_and_a_damaged_one_does_not() {
        let record = KeptRecord {
            pages: vec![PageId(3), PageId(1 << 40)],
            groups: vec![1, 0],
            scores: vec![(0, 7), (1, 255)],
            weights: vec![(1, 65_535)],
        };
        let mut bytes = Vec::new();
        record.encode(&mut bytes).unwrap();
        assert_eq!(KeptRecord::decode(&bytes).unwrap(), record);
        for cut in 0..bytes.len() {
            assert!(KeptRecord::decode(&bytes[..cut]).is_err());
        }
        let (groups, _) = packed(&record.scores).unwrap();
        assert!(unpacked((groups, vec![1_u8])).is_err());
        let fewer = KeptRecord {
            groups: vec![1],
            ..record
        };
        bytes.clear();
        fewer.encode(&mut bytes).unwrap();
        assert!(KeptRecord::decode(&bytes).is_err());
    }
}
