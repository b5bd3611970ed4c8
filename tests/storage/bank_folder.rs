//! The folder of a bank: where one can be created, and what a copy of it may lack.

use std::fs;
use std::path::Path;

use crate::support::scratch;
use seedbank::engine::Bank;
use seedbank::ingest::{SiteMode, UrlRules};
use seedbank_store::{RepairedPart, Verdict};

fn is_sound(bank: &Bank) {
    let check = bank.check().unwrap();
    assert!(check.is_clean(), "{check:?}");
    assert_eq!(check.live.verdict, Verdict::Good);
    assert_eq!(bank.status().unwrap().counters.batches, 0);
}

/// Nothing can be renamed onto a mount, the current folder or a symbolic link.
#[cfg(unix)]
#[test]
fn an_empty_folder_becomes_a_bank_in_place() {
    let folder = scratch();
    let (place, link) = (folder.path().join("place"), folder.path().join("link"));
    fs::create_dir(&place).unwrap();
    std::os::unix::fs::symlink(&place, &link).unwrap();
    is_sound(&Bank::create(&link, SiteMode::Host.with(UrlRules::Whatwg)).unwrap());
    is_sound(&Bank::at(&place));
    assert!(link.is_symlink());
    let refused = Bank::create(&place, SiteMode::Host.with(UrlRules::Whatwg)).unwrap_err();
    assert!(refused.to_string().contains("not empty"), "{refused}");
}

#[test]
fn a_folder_that_cannot_be_filled_stays_empty() {
    let folder = scratch();
    let place = folder.path().join("file");
    fs::write(&place, "").unwrap();
    assert!(Bank::create(&place, SiteMode::Host.with(UrlRules::Whatwg)).is_err());
    assert!(Bank::create(place.join("bank"), SiteMode::Host.with(UrlRules::Whatwg)).is_err());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// A copy may lack the published state or parts of it. `check` says so, and any writer, like a
/// repair, restores it for readers.
#[test]
fn a_published_state_that_is_not_there_is_published_again() {
    let damages: [fn(&Path); 4] = [
        |published| fs::remove_dir_all(published).unwrap(),
        |published| fs::remove_dir_all(published.join("0")).unwrap(),
        |published| fs::remove_file(published.join("0.lock")).unwrap(),
        |published| fs::write(published.join("CURRENT"), b"\xff\xfe").unwrap(),
    ];
    for (number, damage) in damages.iter().enumerate() {
        let folder = scratch();
        let place = folder.path().join("bank");
        let bank = Bank::create(&place, SiteMode::Host.with(UrlRules::Whatwg)).unwrap();
        damage(&place.join("published"));
        assert!(bank.status().is_err(), "damage {number}");
        let check = bank.check().unwrap();
        assert_eq!(check.live.verdict, Verdict::Good, "damage {number}");
        assert_eq!(check.published.verdict, Verdict::Damaged, "damage {number}");
        let report = bank.repair(false).unwrap();
        assert_eq!(
            report.repaired,
            [RepairedPart::Published],
            "damage {number}"
        );
        assert_eq!(report.lost, None);
        is_sound(&bank);
    }
}
