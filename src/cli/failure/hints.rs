//! What to do about an error of the library, in terms of the command line.

use seedbank::engine::{BadRecords, Hint, StoreHint};
use seedbank::ingest::{MOST_LISTED, RejectReason, field_meant};
use seedbank::shown::{plain, shortened};

use super::foreign;

/// What to do where the state being read is older than the stored one.
pub(crate) const UNPUBLISHED: &str =
    "the next command that writes, or `seedbank repair`, publishes them";
/// What to do where nothing says which state is the latest.
pub(crate) const UNACKNOWLEDGED: &str = "`seedbank repair` mends it";
/// What to do where the live state holds what readers do not see, and is damaged.
pub(crate) const LIVE_DAMAGED: &str = "`seedbank check` tells what is wrong; `seedbank repair` replaces the live state by this one, and tells what is lost";

const DAMAGE: &str = "run `seedbank check`; `seedbank repair` mends it if another copy in the bank is good, else restore a backup, or ingest a snapshot into a new bank";

/// A hint that stands on the error's own line.
pub(super) const fn beside(hint: &Hint) -> Option<&'static str> {
    Some(match hint {
        Hint::RefreshCold => "`refresh --cold` makes it anew",
        Hint::Check => "run `seedbank check`",
        Hint::NameRejectsFile => "name a file with --rejects",
        Hint::RemoveOrNameRejectsFile => {
            "remove the lists that nobody needs, or name a file with --rejects"
        }
        Hint::SmallerValues => "lower the weight settings, or give fewer uncrawled outlinks",
        Hint::LowerMinPages => "lower --min-pages",
        Hint::PlanByCores => "name a plan by cores",
        Hint::OtherSeeds => "refresh the plan, or give other URLs",
        _ => return None,
    })
}

/// A hint that stands on a line of its own.
pub(super) fn line(hint: &Hint) -> Option<String> {
    let text = match hint {
        Hint::Store(hint) => of_store(*hint)?,
        Hint::RefreshCold => DAMAGE,
        Hint::MendRecords(bad) => {
            return Some(of_bad(bad, "mend the input, or raise --max-rejects"));
        }
        Hint::MendOrNameFormat(bad) => {
            return Some(of_bad(
                bad,
                "mend the input, or say with --input which format it has",
            ));
        }
        Hint::MakeRecords(seen) => return Some(foreign::sentence(seen)),
        Hint::RaiseMemory => "raise --memory, or write the table in smaller row groups or batches",
        Hint::Expand => {
            "check where it came from; if it is genuine, decompress it first, or write it as JSON Lines"
        }
        Hint::CheckExport => {
            "check the export; to report pages as gone, ingest a delta with \"gone\": true"
        }
        Hint::DeltaOrAllowLoss => {
            "a batch of changes is ingested without --snapshot; if the loss is meant, pass --max-loss 100"
        }
        Hint::CheckExportOrAllowLoss => {
            "check the export; if the loss is meant, pass --max-loss 100"
        }
        Hint::SameBuild => {
            "use the build that made the bank, or make a new bank and ingest a snapshot"
        }
        Hint::NearestPages(pages) => {
            let pages: Vec<_> = pages.iter().map(|url| shortened(url)).collect();
            return Some(format!(
                "the nearest pages that it knows: {}",
                pages.join(", ")
            ));
        }
        Hint::NearestSites(sites) => {
            let sites: Vec<_> = sites.iter().map(|site| shortened(site)).collect();
            return Some(format!(
                "the nearest sites that it knows: {}",
                sites.join(", ")
            ));
        }
        Hint::UnknownSite => "it knows no page of that site either",
        Hint::NameSite => {
            "give the name of a host (of a registrable domain where the bank was made with --site domain)"
        }
        Hint::SiteOrUrl(site) => {
            return Some(format!(
                "name the whole site, {}, or pages by their URLs, http://...",
                shortened(site)
            ));
        }
        Hint::ForgetWithoutBlocks => {
            "restore without --blocks-of, and name again what has to go: `seedbank forget --block`"
        }
        Hint::ListPlans => {
            "`seedbank plans` lists them; where there is none, `seedbank ingest` and then `seedbank refresh` make one"
        }
        Hint::SayWhatPlan => {
            "name a plan that it has, or make this one by giving it a parameter: `--method cores`, say, or `--plan-file FILE`"
        }
        Hint::ListRefreshes => "`seedbank history` lists plans and refreshes",
        Hint::RefreshAgain => {
            "refresh the plan again after the next batch, or name two refreshes or `--against` another plan"
        }
        Hint::OneUrlALine => {
            "give one URL a line, with its http:// or https://; lines that begin with # are passed over"
        }
        Hint::SmallerList => {
            "name sites, hosts (`.example.org`) and URL prefixes where that will do, which take far less; or shorten the list"
        }
        Hint::Report => "please report this with the command that led to it",
        _ => return None,
    };
    Some(text.to_owned())
}

const fn of_store(hint: StoreHint) -> Option<&'static str> {
    Some(match hint {
        StoreHint::OtherFolder => "name a folder that does not exist yet or is empty",
        StoreHint::CheckPathOrCreate => "check the path, or make a bank there with `seedbank init`",
        StoreHint::NewerBuild => "use a newer seedbank; the bank was not touched",
        StoreHint::NewBank => {
            "a development version before 0.1 wrote this bank; make a new bank and ingest a snapshot; the old bank was not touched"
        }
        StoreHint::Migrate => "run `seedbank migrate BANK`, or any command that writes",
        StoreHint::Wait => "try again when it has finished, or add --wait",
        StoreHint::Repair => {
            "`seedbank repair` mends what can be mended without loss; `seedbank check` tells what is good"
        }
        StoreHint::CheckAndRepair => DAMAGE,
        StoreHint::Publish => {
            "make room if the disk is full; `seedbank repair`, or the next command that writes, publishes it"
        }
        StoreHint::SeveralBanks => "cut the crawl into several banks",
        StoreHint::MakeRoom => "make room and run the same command again; the bank is as it was",
        StoreHint::MakeRoomInStore => {
            "make room and run the same command again; nothing half done is visible"
        }
        StoreHint::CheckPathOfBackups => {
            "check the path; `seedbank backup` makes a folder of backups"
        }
        StoreHint::OtherFolderForBackups => {
            "name a folder for this alone, outside the bank, that does not exist yet or is empty"
        }
        StoreHint::ListBackups => "`seedbank restore --list` prints them",
        StoreHint::OtherBackup => "`seedbank restore --at` takes the one that is whole",
        StoreHint::BackUpAgain => {
            "if the bank is still there, `seedbank backup --verify` makes another and mends what it can; `seedbank restore --list --verify` tells what is wrong"
        }
        _ => return None,
    })
}

/// What to do about bad records: what the input is where it is no records at all, or else which
/// fields are missing under another name, and `advice`.
fn of_bad(bad: &BadRecords, advice: &str) -> String {
    let listed = match &bad.file {
        Some(file) if bad.count > MOST_LISTED => {
            format!("the first {MOST_LISTED} are listed in {}; ", file.display())
        }
        Some(file) => format!("they are listed in {}; ", file.display()),
        None => String::new(),
    };
    if let Some(seen) = &bad.seen {
        let listed = listed.trim_end_matches("; ");
        let listed = listed.replacen("they are", "the bad records are", 1);
        return [&foreign::sentence(seen), "; ", &listed]
            .concat()
            .trim_end_matches("; ")
            .to_owned();
    }
    let no_url = bad.reasons.contains_key(&RejectReason::MissingUrl);
    let names = bad.unknown_fields.names.keys();
    let meant = names.filter_map(|name| Some((name, field_meant(name)?)));
    // A record that has its url says something else with such a field.
    let meant = meant.filter(|(_, field)| no_url || *field != "url");
    let proposals: Vec<String> = meant
        .map(|(name, field)| format!("{}: did you mean {field}? ", plain(name)))
        .collect();
    [&proposals.concat(), &listed, advice].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::failure::CliError;
    use seedbank::engine::{EngineError, ExperimentError};
    use seedbank::ingest::UnknownFields;
    use seedbank_store::StoreError;

    #[test]
    fn some_hints_stand_beside_the_error_and_some_below() {
        let of = |error: EngineError| {
            let error = CliError::from(error);
            (error.text(), error.hint(), error.exit_status())
        };
        let few = ExperimentError::SmallSites { min_pages: 9 };
        let (text, hint, status) = of(few.into());
        assert_eq!(text, "no site has 9 crawled pages; lower --min-pages");
        assert_eq!((hint, status), (None, 2));
        let ledger = EngineError::Ledger(StoreError::Damaged {
            table: "components",
            key: "series 1".to_owned(),
            what: "it is in another order".to_owned(),
        });
        let (text, hint, status) = of(ledger);
        assert_eq!(
            text,
            "damaged bank: table components, key series 1: it is in another order; `refresh --cold` makes it anew"
        );
        assert_eq!((hint.as_deref(), status), (Some(DAMAGE), 4));
        let (text, hint, status) = of(EngineError::TooManyRejects {
            limit: 1.0,
            bad: Box::new(BadRecords {
                count: 100_001,
                records: 200_000,
                reasons: [(RejectReason::MissingUrl, 100_001)].into(),
                first: None,
                file: Some("bad.jsonl".into()),
                seen: None,
                unknown_fields: UnknownFields::default(),
            }),
        });
        assert!(
            text.ends_with(
                "100001 of 200000 records are bad, and at most 1 % may be: missing_url 100001"
            ),
            "{text}"
        );
        assert_eq!(
            hint.as_deref(),
            Some(
                "the first 100000 are listed in bad.jsonl; mend the input, or raise --max-rejects"
            )
        );
        assert_eq!(status, 3);
    }
}
