//! What the last refresh of a plan kept of its steps within a bound, for the next one.

use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};

use super::codec::{self, Malformed};
use super::table::Value;
use crate::page::PageId;

/// What is kept of a step: scores and weights of authorities on their grids (`rank::coarse`), by the place
/// of each page in the list of all that the steps of the refresh name, ascending. That list stands at
/// rank 0, where a step has none.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct KeptRecord {
    /// At rank 0 the pages, ascending; else none.
    pub pages: Vec<PageId>,
    /// Scores that are not 0.
    pub scores: Vec<(u32, u8)>,
    /// Weights above 1.
    pub weights: Vec<(u32, u16)>,
}

/// The bytes of it: the pages; sets of places, and their codes.
#[derive(Serialize, Deserialize)]
struct Packed {
    pages: Vec<u8>,
    scores: (Vec<u8>, Vec<u8>),
    weights: (Vec<u8>, Vec<u16>),
}

fn packed<T: Copy>(of: &[(u32, T)]) -> Result<(Vec<u8>, Vec<T>), Malformed> {
    let places: RoaringBitmap = of.iter().map(|(place, _)| *place).collect();
    let mut bytes = Vec::new();
    codec::put_bitmap(&places, &mut bytes)?;
    Ok((bytes, of.iter().map(|(_, code)| *code).collect()))
}

fn unpacked<T>((places, codes): (Vec<u8>, Vec<T>)) -> Result<Vec<(u32, T)>, Malformed> {
    let places = codec::take_bitmap(&places)?;
    if places.len() != codes.len() as u64 {
        return Err(Malformed("it has other pages than codes".to_owned()));
    }
    Ok(places.iter().zip(codes).collect())
}

impl Value for KeptRecord {
    fn encode(&self, out: &mut Vec<u8>) -> Result<(), Malformed> {
        let mut pages = Vec::new();
        self.pages.encode(&mut pages)?;
        let packed = Packed {
            pages,
            scores: packed(&self.scores)?,
            weights: packed(&self.weights)?,
        };
        codec::put_record(&packed, out)
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let packed: Packed = codec::take_record(bytes)?;
        Ok(Self {
            pages: Value::decode(&packed.pages)?,
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
            scores: vec![(0, 7), (1, 255)],
            weights: vec![(1, 65_535)],
        };
        let mut bytes = Vec::new();
        record.encode(&mut bytes).unwrap();
        assert_eq!(KeptRecord::decode(&bytes).unwrap(), record);
        for cut in 0..bytes.len() {
            assert!(KeptRecord::decode(&bytes[..cut]).is_err());
        }
        let (places, _) = packed(&record.scores).unwrap();
        assert!(unpacked((places, vec![1_u8])).is_err());
    }
}
