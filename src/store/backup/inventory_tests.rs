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
        },
        bank: "one".to_owned(),
        mode: 0o755,
        files: vec![InventoryFile {
            name: name.to_owned(),
            bytes: 5,
            hash: blake3::hash(b"bytes"),
            modified: 1_795_406_806_123_456_789,
            mode: 0o644,
        }],
    }
}

#[test]
fn a_list_is_read_back_and_every_flipped_bit_and_cut_is_seen() {
    let list = list("state/000012.sst");
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
