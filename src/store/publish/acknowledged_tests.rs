use super::*;

/// A state with the longest possible text; in epoch 3 without a log.
fn state(epoch: u64) -> Acknowledged {
    let hash = blake3::hash(b"x").to_hex();
    let id = StateId {
        bank: u128::MAX - 1,
        state: u128::MAX,
    };
    let max = u64::MAX.to_string();
    let log = format!("{max} {max} {max} {}", "f".repeat(32));
    let mut words = log.split(' ');
    Acknowledged {
        epoch,
        batch: u32::MAX,
        refresh: u32::MAX,
        is_flushed: epoch.is_multiple_of(2),
        id,
        published: u64::MAX,
        log: LogFingerprint::parse(|| words.next()).filter(|_| epoch != 3),
        manifest: format!("MANIFEST-{max} {max} {hash}").parse().unwrap(),
    }
}

#[test]
fn the_last_one_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(Acknowledged::read(folder.path()).unwrap(), None);
    for epoch in [1, 2, 3, u64::MAX] {
        state(epoch).write(folder.path()).unwrap();
        let read = Acknowledged::read(folder.path()).unwrap();
        assert_eq!(read, Some(state(epoch)));
        assert_eq!(Acknowledged::fault(folder.path()), None);
    }
}

/// A write that is cut off, at any byte, leaves the one before.
#[test]
fn half_a_write_leaves_the_one_before() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(ACKNOWLEDGED);
    state(1).write(folder.path()).unwrap();
    state(2).write(folder.path()).unwrap();
    let before = fs::read(&path).unwrap();
    state(3).write(folder.path()).unwrap();
    let after = fs::read(&path).unwrap();
    let mut differ = (0..before.len()).filter(|&at| before[at] != after[at]);
    let (first, last) = (differ.next().unwrap(), differ.next_back().unwrap());
    assert_eq!(first / SLOT, last / SLOT, "one slot is written");
    for cut in first..=last {
        let mut torn = before.clone();
        torn[first..cut].copy_from_slice(&after[first..cut]);
        fs::write(&path, &torn).unwrap();
        let read = Acknowledged::read(folder.path()).unwrap();
        assert_eq!(read, Some(state(2)), "cut at {cut}");
    }
    // And a torn slot is written anew.
    state(4).write(folder.path()).unwrap();
    state(5).write(folder.path()).unwrap();
    assert_eq!(Acknowledged::fault(folder.path()), None);
    let read = Acknowledged::read(folder.path()).unwrap();
    assert_eq!(read, Some(state(5)));
}

#[test]
fn a_flipped_bit_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(ACKNOWLEDGED);
    state(1).write(folder.path()).unwrap();
    state(2).write(folder.path()).unwrap();
    let sound = fs::read(&path).unwrap();
    for at in 0..sound.len() {
        let mut bytes = sound.clone();
        bytes[at] ^= 1 << (at % 8);
        fs::write(&path, &bytes).unwrap();
        assert!(Acknowledged::fault(folder.path()).is_some(), "byte {at}");
        let read = Acknowledged::read(folder.path()).unwrap().unwrap();
        assert!([state(1), state(2)].contains(&read));
    }
    fs::write(&path, "").unwrap();
    assert!(Acknowledged::read(folder.path()).unwrap_err().is_damage());
}
