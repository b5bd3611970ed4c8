//! Advice for errors of the library, in terms of the command line.

use seedbank::display::{escape_controls, truncated};
use seedbank::engine::error::{BadRecords, Hint, StoreHint};
use seedbank::ingest::{MAX_LISTED_REJECTS, RejectReason, suggest_field};

use super::unsupported_input;

/// Advice if the published state is older than the stored one.
pub(crate) const UNPUBLISHED: &str =
    "the next command that writes, or `seedbank repair`, publishes them";
/// Advice if no file says which state is the latest.
pub(crate) const UNACKNOWLEDGED: &str = "`seedbank repair` repairs it";
/// Advice if the live state is damaged and contains changes that are not published.
pub(crate) const LIVE_DAMAGED: &str = "`seedbank check` reports the damage; `seedbank repair` replaces the live state by this one and reports what is lost";

/// Advice if the system denies access to a file or folder.
pub(super) const PERMISSIONS: &str =
    "run the command as a user with access to it, or change its permissions";

const DAMAGE: &str = "run `seedbank check`; `seedbank repair` repairs the damage if another copy in the bank is intact; otherwise restore a backup, or ingest a snapshot into a new bank";

/// Returns advice that is short enough for the line of the error itself.
pub(super) const fn inline(hint: &Hint) -> Option<&'static str> {
    Some(match hint {
        Hint::RefreshCold => "`refresh --cold` recomputes it",
        Hint::Check => "run `seedbank check`",
        Hint::NameRejectsFile => "use --rejects to write the list elsewhere",
        Hint::RemoveOrNameRejectsFile => {
            "remove lists that are no longer needed, or use --rejects to write the list elsewhere"
        }
        Hint::SmallerValues => {
            "lower the weight settings, or reduce the numbers of uncrawled outlinks"
        }
        Hint::LowerMinPages => "lower --min-pages",
        Hint::PlanByCores => "use a plan with --method cores",
        Hint::WriteScheme => "add https:// or http://",
        Hint::OtherSeeds => "refresh the plan, or use other URLs",
        _ => return None,
    })
}

/// Returns advice that is printed on a line of its own.
pub(super) fn line(hint: &Hint) -> Option<String> {
    // These advise in terms of flags; a hint without a text here is printed by `inline`.
    let text = match hint {
        Hint::Store(hint) => store_hint(*hint)?,
        Hint::Remote(advice) => advice,
        Hint::Reported(advice) => return Some(escape_controls(advice).into_owned()),
        Hint::RefreshCold => DAMAGE,
        Hint::FixRecords(bad) => {
            return Some(bad_records_hint(
                bad,
                "fix the input, or raise --max-rejects",
            ));
        }
        Hint::FixOrSetFormat(bad) => {
            return Some(bad_records_hint(
                bad,
                "fix the input, or give its format with --input",
            ));
        }
        Hint::ConvertToRecords(seen) => return Some(unsupported_input::sentence(seen)),
        Hint::RaiseMemory => "raise --memory, or write the table in smaller row groups or batches",
        Hint::Expand => {
            "check where the file came from; if it is genuine, decompress it first, or convert it to JSON Lines"
        }
        Hint::CheckExport => {
            "check the export; to report pages as gone, ingest a delta with \"gone\": true"
        }
        Hint::DeltaOrAllowLoss(least) => {
            return Some(format!(
                "to ingest a delta, omit --snapshot; if the loss is intended, use --max-loss {least}"
            ));
        }
        Hint::CheckExportOrAllowLoss(least) => {
            return Some(format!(
                "check the export; if the loss is intended, use --max-loss {least}"
            ));
        }
        Hint::ConfirmForget => "to forget all of this, repeat the command with --yes",
        Hint::IngestFirst => "ingest first: `seedbank ingest BANK FILE`",
        Hint::SameBuild => {
            "use the build that created the bank, or create a new bank and ingest a snapshot"
        }
        Hint::NearestPages(pages) => {
            let pages: Vec<_> = pages.iter().map(|url| truncated(url)).collect();
            return Some(format!(
                "the nearest pages in the bank: {}",
                pages.join(", ")
            ));
        }
        Hint::NearestSites(sites) => {
            let sites: Vec<_> = sites.iter().map(|site| truncated(site)).collect();
            return Some(format!(
                "the nearest sites in the bank: {}",
                sites.join(", ")
            ));
        }
        Hint::UnknownSite => "the bank contains no page of that site either",
        Hint::NameSite => {
            "give a host name (a registrable domain if the bank was created with --site domain)"
        }
        Hint::SiteOrUrl(site) => {
            return Some(format!(
                "give the site, {}, or URLs of pages, http://...",
                truncated(site)
            ));
        }
        Hint::ForgetWithoutBlocks => {
            "restore without --blocks-of, and then block the pages again with `seedbank forget --block`"
        }
        Hint::ListPlans => {
            "`seedbank plans` lists the plans; if there are none, run `seedbank ingest` and then `seedbank refresh`"
        }
        Hint::GiveParameters => {
            "use an existing plan, or create this one by giving parameters, such as `--method cores` or `--plan-file FILE`"
        }
        Hint::ListRefreshes => "`seedbank history` lists plans and refreshes",
        Hint::RefreshAgain => {
            "refresh the plan again after the next batch, name two refreshes, or use `--against` to compare with another plan"
        }
        Hint::OneUrlPerLine => {
            "give one URL per line, starting with http:// or https://; lines that begin with # are skipped"
        }
        Hint::SmallerList => {
            "use sites, hosts (`.example.org`) and URL prefixes where possible, which take far less memory, or shorten the list"
        }
        Hint::Report => "please report this with the command that caused it",
        _ => return None,
    };
    Some(text.to_owned())
}

const fn store_hint(hint: StoreHint) -> Option<&'static str> {
    Some(match hint {
        StoreHint::OtherFolder => "use a folder that does not exist or is empty",
        StoreHint::CheckPathOrCreate => {
            "check the path, or create a bank there with `seedbank init`"
        }
        StoreHint::NewerBuild => "use a newer version of seedbank; the bank was not changed",
        StoreHint::WholeBank => {
            "use the folder of the cluster bank, which contains the folder `parts`"
        }
        StoreHint::PartsOfOneState => {
            "use the folders of all parts as the last command left them; if one is lost, `seedbank restore` restores a backup"
        }
        StoreHint::RestoreBackup => {
            "restore a backup with `seedbank restore`, which creates all parts of a new bank"
        }
        StoreHint::BringParts => {
            "move, link or mount the folders of all parts in the folder `parts` of the bank"
        }
        StoreHint::NewBank => {
            "a development version before 0.1 wrote this bank; create a new bank and ingest a snapshot; the old bank was not changed"
        }
        StoreHint::Migrate => "run `seedbank migrate BANK`, or any command that writes",
        StoreHint::Wait => "try again when the other process has finished, or use --wait",
        StoreHint::Repair => {
            "`seedbank repair` repairs what it can without loss; `seedbank check` reports what is intact"
        }
        StoreHint::CheckAndRepair => DAMAGE,
        StoreHint::Publish => {
            "free disk space if the disk is full; `seedbank repair`, or the next command that writes, publishes it"
        }
        StoreHint::SeveralBanks => "split the crawl into several banks",
        StoreHint::FreeSpace => {
            "free disk space and run the same command again; the bank is unchanged"
        }
        StoreHint::Permissions => PERMISSIONS,
        StoreHint::FreeSpaceForStore => {
            "free disk space and run the same command again; no partial result is visible"
        }
        StoreHint::CheckPathOfBackups => {
            "check the path; `seedbank backup` creates a folder of backups"
        }
        StoreHint::OtherFolderForBackups => {
            "use a folder for backups only, outside the bank, that does not exist or is empty"
        }
        StoreHint::ListBackups => "`seedbank restore --list` lists them",
        StoreHint::OtherBackup => "use `seedbank restore --at` to restore the intact one",
        StoreHint::BackUpAgain => {
            "if the bank still exists, `seedbank backup --verify` makes a new backup and repairs what it can; `seedbank restore --list --verify` reports the damage"
        }
        _ => return None,
    })
}

/// Advises about bad records: what the input is if it does not contain records at all; otherwise which
/// field names are probably misspelt, followed by `advice`.
fn bad_records_hint(bad: &BadRecords, advice: &str) -> String {
    let listed = match &bad.file {
        Some(file) if bad.count > MAX_LISTED_REJECTS => {
            format!(
                "the first {MAX_LISTED_REJECTS} are listed in {}; ",
                file.display()
            )
        }
        Some(file) => format!("they are listed in {}; ", file.display()),
        None => String::new(),
    };
    if let Some(seen) = &bad.seen {
        let listed = listed.trim_end_matches("; ");
        let listed = listed.replacen("they are", "the bad records are", 1);
        return [&unsupported_input::sentence(seen), "; ", &listed]
            .concat()
            .trim_end_matches("; ")
            .to_owned();
    }
    let no_url = bad.reasons.contains_key(&RejectReason::MissingUrl);
    let names = bad.unknown_fields.names.keys();
    let meant = names.filter_map(|name| Some((name, suggest_field(name)?)));
    // A record that has its url uses such a field for something else.
    let meant = meant.filter(|(_, field)| no_url || *field != "url");
    let proposals: Vec<String> = meant
        .map(|(name, field)| format!("{}: did you mean {field}? ", escape_controls(name)))
        .collect();
    [&proposals.concat(), &listed, advice].concat()
}

/// Removes the number of an error of the operating system, which repeats its text, and the name of the
/// temporary file that may follow.
pub(super) fn without_number(mut text: String) -> String {
    if let Some(at) = text.rfind(" (os error ") {
        text.truncate(at);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::failure::CliError;
    use seedbank::engine::EngineError;
    use seedbank::engine::error::ExperimentError;
    use seedbank::ingest::UnknownFields;
    use seedbank_store::StoreError;

    #[test]
    fn short_hints_are_inline_and_others_on_a_line_of_their_own() {
        let of = |error: EngineError| {
            let error = CliError::from(error);
            (error.text(), error.hint(), error.exit_status())
        };
        let few = ExperimentError::SmallSites { min_pages: 9 };
        let (text, hint, status) = of(few.into());
        assert_eq!(text, "no site has 9 crawled pages; lower --min-pages");
        assert_eq!((hint, status), (None, 2));
        let ledger = EngineError::DamagedCache(StoreError::Damaged {
            table: "components",
            key: "series 1".to_owned(),
            what: "it is in another order".to_owned(),
        });
        let (text, hint, status) = of(ledger);
        assert_eq!(
            text,
            "damaged bank: table components, key series 1: it is in another order; `refresh --cold` recomputes it"
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
                "100001 of 200000 records are bad, expected at most 1 %: missing_url 100001"
            ),
            "{text}"
        );
        assert_eq!(
            hint.as_deref(),
            Some("the first 100000 are listed in bad.jsonl; fix the input, or raise --max-rejects")
        );
        assert_eq!(status, 3);
    }
}
