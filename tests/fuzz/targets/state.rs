//! The small files of a bank's folder that are not in its database: the marker, the
//! acknowledgement, the readers' pointer, and the database's own pointer and the structure of its
//! MANIFEST. What they say, they say again when it is written.
//!
//! Most end in a checksum, which is corrected half of the time: otherwise nothing would get past
//! it.

use std::fs;
use std::path::Path;

use seedbank::engine::Bank;
use seedbank_store::raw_state;

use super::{kind, texts};

/// The size in bytes of one of the two slots of the acknowledgement.
const SLOT: usize = 512;

pub(super) fn run(data: &[u8]) {
    let (kind, rest) = kind(data);
    let folder = tempfile::tempdir().unwrap();
    let bank = folder.path();
    for part in ["live", "published"] {
        fs::create_dir(bank.join(part)).unwrap();
    }
    match kind % 7 {
        0 => acknowledged(bank, rest),
        1 => {
            let half = rest.len() / 2;
            acknowledged(bank, &[slot(&rest[..half]), slot(&rest[half..])].concat());
        }
        2 => pointer(bank, rest),
        3 => pointer(bank, &[&summed(rest)[..], b"\n"].concat()),
        4 => {
            fs::write(bank.join("live/CURRENT"), "MANIFEST-000004\n").unwrap();
            fs::write(bank.join("live/MANIFEST-000004"), rest).unwrap();
            // At least one record, which has seven bytes before its contents.
            assert!(raw_state(bank).live.is_err() || rest.len() >= 7);
        }
        5 => {
            fs::write(bank.join("live/CURRENT"), rest).unwrap();
            assert!(raw_state(bank).live.is_err());
        }
        _ => {
            fs::write(bank.join("SEEDBANK"), rest).unwrap();
            assert!(Bank::at(bank).status().is_err());
        }
    }
}

fn acknowledged(bank: &Path, bytes: &[u8]) {
    let path = bank.join("ACKNOWLEDGED");
    fs::write(&path, bytes).unwrap();
    let Ok(said) = raw_state(bank).acknowledged else {
        return;
    };
    let said = said.expect("there is such a file");
    let slot = slot(format!("serial 7 {said}").as_bytes());
    fs::write(&path, slot).unwrap();
    assert_eq!(raw_state(bank).acknowledged.unwrap(), Some(said));
}

fn pointer(bank: &Path, bytes: &[u8]) {
    let path = bank.join("published/CURRENT");
    fs::write(&path, bytes).unwrap();
    if let Ok(line) = raw_state(bank).pointer {
        fs::write(&path, &line).unwrap();
        assert_eq!(raw_state(bank).pointer.unwrap(), line);
    }
}

/// A text followed by its checksum.
fn summed(text: &[u8]) -> Vec<u8> {
    let sum = blake3::hash(text).to_hex();
    [text, b" ", &sum.as_bytes()[..16]].concat()
}

fn slot(text: &[u8]) -> Vec<u8> {
    let mut bytes = summed(text);
    bytes.resize(SLOT - 1, b' ');
    bytes.push(b'\n');
    bytes
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let hash = blake3::hash(b"").to_hex();
    let id = format!("bank {:032x} state {:032x}", 7, 8);
    let said = |serial: u8, place: &str| {
        format!(
            "serial {serial} epoch 12 batch 9 refresh 3 in {place} {id} published 11 MANIFEST-000123 48211 {hash}"
        )
    };
    let (one, other) = (said(1, "log"), said(2, "files"));
    let mut slots = vec![0];
    slots.extend([slot(one.as_bytes()), slot(other.as_bytes())].concat());
    let mut seeds = vec![slots];
    seeds.extend(texts(&[1], &[&format!("{one}{other}")]));
    seeds.extend(texts(&[2], &["12\n", "12"]));
    seeds.extend(texts(
        &[3],
        &[&format!("12 MANIFEST-000123 48211 {hash} {id}")],
    ));
    // A record of three bytes, and the beginning of one.
    seeds.push(vec![4, 1, 2, 3, 4, 3, 0, 1, b'a', b'b', b'c']);
    seeds.push(vec![4, 1, 2, 3, 4, 3, 0, 2, b'a', b'b', b'c']);
    seeds.extend(texts(&[5], &["MANIFEST-000004\n", "x"]));
    seeds.extend(texts(
        &[6],
        &["seedbank bank, format 1\n", "seedbank bank, format 99\n"],
    ));
    seeds
}
