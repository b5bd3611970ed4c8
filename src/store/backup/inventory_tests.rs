use super::*;

fn list(name: &str) -> Inventory {
    Inventory {
        made: BackupSummary {
            backup: 3,
            at: 1_795_406_806,
            format: 7,
            epoch: 12,
            batch: 9,
            refresh: 2,
            files: 1,
            bytes: 5,
            parts: None,
        },
        bank: "one".to_owned(),
        modes: vec![0o755],
        files: vec![InventoryFile {
            name: name.to_owned(),
            bytes: 5,
            hash: blake3::hash(b"bytes"),
            modified: 1_795_406_806_123_456_789,
            mode: 0o644,
        }],
    }
}

/// The list of a cluster bank of two parts.
fn list_of_parts(name: &str) -> Inventory {
    let mut list = list(name);
    list.made.parts = Some(2);
    list.modes = vec![0o755, 0o700];
    list
}

#[test]
fn a_list_is_read_back_and_every_flipped_bit_and_cut_is_seen() {
    for list in [
        list("state/000012.sst"),
        list_of_parts("parts/001/state/000012.sst"),
    ] {
        assert_every_change_is_seen(list);
    }
}

fn assert_every_change_is_seen(list: Inventory) {
    let text = list.text().unwrap();
    assert_eq!(Inventory::parse(&text), Ok(list));
    for at in 0..text.len() {
        assert!(Inventory::parse(&text[..at]).is_err(), "cut at {at}");
        for bit in 0..7 {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= 1 << bit;
            let flipped = String::from_utf8(bytes).unwrap();
            // The hash may be written in either case.
            let is_same = flipped.eq_ignore_ascii_case(&text);
            assert!(is_same || Inventory::parse(&flipped).is_err(), "{flipped}");
        }
    }
}

/// Builds without cluster banks read and write the first head. They reject one without `mode`.
#[test]
fn the_head_of_a_cluster_bank_is_another_one() {
    let head = |list: Inventory| list.text().unwrap().lines().next().unwrap().to_owned();
    let summary = [
        "\"backup\":3,\"at\":1795406806,\"format\":7,\"epoch\":12,\"batch\":9,\"refresh\":2",
        "\"files\":1,\"bytes\":5",
    ]
    .join(",");
    let single = format!("{{{summary},\"bank\":\"one\",\"mode\":493}}");
    assert_eq!(head(list("state/x")), single);
    let parts = format!("{{{summary},\"parts\":2,\"bank\":\"one\",\"modes\":[493,448]}}");
    assert_eq!(head(list_of_parts("state/x")), parts);
}

#[test]
fn a_head_must_have_the_permissions_of_each_part() {
    for modes in [vec![], vec![0o755], vec![0o755; 3]] {
        let list = Inventory {
            modes,
            ..list_of_parts("state/x")
        };
        assert!(Inventory::parse(&list.text().unwrap()).is_err());
    }
    for parts in [0, 1025] {
        let mut list = list_of_parts("state/x");
        list.made.parts = Some(parts);
        list.modes = vec![0o755; parts as usize];
        assert!(Inventory::parse(&list.text().unwrap()).is_err());
    }
}

#[test]
fn a_list_of_parts_names_files_of_these_parts_alone() {
    for name in ["parts/001/state/x", "parts/001/rejects/x", "state/x"] {
        let list = list_of_parts(name);
        assert_eq!(Inventory::parse(&list.text().unwrap()), Ok(list));
    }
    for name in [
        "parts/002/state/x",
        "parts/000/state/x",
        "parts/1/state/x",
        "parts/0001/state/x",
        "parts/+01/state/x",
        "parts/001/live/x",
        "parts/001/state/../x",
        "parts/001/state/",
        "parts/001/x",
        "parts/001",
        "parts/x",
        "parts/../state/x",
    ] {
        let list = list_of_parts(name);
        assert!(Inventory::parse(&list.text().unwrap()).is_err(), "{name}");
    }
    // A bank in one database has no parts.
    let single = list("parts/001/state/x");
    assert!(Inventory::parse(&single.text().unwrap()).is_err());
}

#[test]
fn a_list_names_no_file_elsewhere() {
    for name in [
        "state/../x",
        "state/..",
        "live/x",
        "/x",
        "x",
        "state/",
        "state/a/b",
    ] {
        assert!(
            Inventory::parse(&list(name).text().unwrap()).is_err(),
            "{name}"
        );
    }
}
