//! What the last refresh of a plan kept of its steps within a bound, for the next one.

use serde::{Deserialize, Serialize};

use super::codec::{self, Malformed};
use super::table::Value;
use crate::page::{PageId, PageSet};

/// What is kept of a step: scores and weights of authorities on their grids (`rank::coarse`), each as a
/// set of pages with a code for every page, in the order of ids.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct KeptRecord {
    /// Scores that are not 0.
    pub scores: Vec<(PageId, u8)>,
    /// Weights above 1.
    pub weights: Vec<(PageId, u16)>,
}

/// The bytes of it: sets of pages, and their codes.
#[derive(Serialize, Deserialize)]
struct Packed {
    scores: (Vec<u8>, Vec<u8>),
    weights: (Vec<u8>, Vec<u16>),
}

fn packed<T: Copy>(of: &[(PageId, T)]) -> Result<(Vec<u8>, Vec<T>), Malformed> {
    let pages: PageSet = of.iter().map(|(page, _)| page.0).collect();
    let mut bytes = Vec::new();
    pages.encode(&mut bytes)?;
    Ok((bytes, of.iter().map(|(_, code)| *code).collect()))
}

fn unpacked<T>((pages, codes): (Vec<u8>, Vec<T>)) -> Result<Vec<(PageId, T)>, Malformed> {
    let pages = PageSet::decode(&pages)?;
    if pages.len() != codes.len() as u64 {
        return Err(Malformed("it has other pages than codes".to_owned()));
    }
    Ok(pages.iter().map(PageId).zip(codes).collect())
}

impl Value for KeptRecord {
    fn encode(&self, out: &mut Vec<u8>) -> Result<(), Malformed> {
        let packed = Packed {
            scores: packed(&self.scores)?,
            weights: packed(&self.weights)?,
        };
        codec::put_record(&packed, out)
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let packed: Packed = codec::take_record(bytes)?;
        Ok(Self {
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
            scores: vec![(PageId(3), 7), (PageId(1 << 40), 255)],
            weights: vec![(PageId(4), 65_535)],
        };
        let mut bytes = Vec::new();
        record.encode(&mut bytes).unwrap();
        assert_eq!(KeptRecord::decode(&bytes).unwrap(), record);
        for cut in 0..bytes.len() {
            assert!(KeptRecord::decode(&bytes[..cut]).is_err());
        }
        let (pages, _) = packed(&record.scores).unwrap();
        assert!(unpacked((pages, vec![1_u8])).is_err());
    }
}
