//! Advice for errors of the library, in terms of the Python package.

use seedbank::display::truncated;
use seedbank::engine::error::{BadRecords, Hint, StoreHint, SystemErrorKind};
use seedbank::ingest::{RejectReason, suggest_field};

/// Advice about damage.
const DAMAGE: &str = "`bank.check()` reports the damage; `repair` of the command line repairs it if another copy in the bank is intact; otherwise restore a backup, or ingest a snapshot into a new bank";

/// Returns the advice of a hint.
pub(crate) fn text(hint: &Hint) -> Option<String> {
    let text = match hint {
        Hint::Store(hint) => store(*hint)?,
        Hint::Reported(advice) => return Some(advice.clone()),
        Hint::FixRecords(bad) => {
            return Some(bad_records(bad, "fix the input, or raise `max_rejects`"));
        }
        Hint::FixOrSetFormat(bad) => {
            return Some(bad_records(bad, "fix the input, or give its `format`"));
        }
        Hint::ConvertToRecords(seen) => {
            return Some(format!(
                "{} has another format than expected; give its `format`, or convert it to records",
                seen.file
            ));
        }
        Hint::RaiseMemory => "raise `memory`, or give the input in smaller parts",
        Hint::NameColumns => {
            "say with `columns` which columns are which fields, such as columns=\"url=Source,outlinks=Destination\""
        }
        Hint::KeepTruncated => {
            "fetch or copy the file again, or use truncated=\"keep\" to take the complete records before its end (not in a snapshot)"
        }
        Hint::Expand => {
            "check where the file came from; if it is genuine, decompress it first, or convert it to JSON Lines"
        }
        Hint::CheckExport => {
            "check the input; to report pages as gone, ingest records with \"gone\": True, without `snapshot`"
        }
        Hint::DeltaOrAllowLoss(least) => {
            return Some(format!(
                "to ingest a delta, omit `snapshot`; if the loss is intended, use max_loss={least}"
            ));
        }
        Hint::CheckExportOrAllowLoss(least) => {
            return Some(format!(
                "check the input; if the loss is intended, use max_loss={least}"
            ));
        }
        Hint::Remote(advice) => advice,
        Hint::NameRejectsFile => "name a file for the list with `rejects`",
        Hint::RemoveOrNameRejectsFile => {
            "remove lists that are no longer needed, or name a file for the list with `rejects`"
        }
        Hint::IngestFirst => "ingest first",
        Hint::SameBuild => {
            "use the version that created the bank, or create a new bank and ingest a snapshot"
        }
        Hint::WriteScheme => "add https:// or http://",
        Hint::NearestPages(pages) => {
            return Some(format!("the nearest pages in the bank: {}", list(pages)));
        }
        Hint::NearestSites(sites) => {
            return Some(format!("the nearest sites in the bank: {}", list(sites)));
        }
        Hint::UnknownSite => "the bank contains no page of that site either",
        Hint::NameSite => {
            "give a host name, or a registrable domain if the bank's sites are domains"
        }
        Hint::SiteOrUrl(site) => {
            return Some(format!(
                "give the site, {}, or URLs of pages",
                truncated(site)
            ));
        }
        Hint::ListPlans => {
            "`bank.plans()` lists the plans; if there are none, ingest a batch and refresh"
        }
        Hint::GiveParameters => {
            "use an existing plan, or create this one by giving parameters, such as goal=\"coverage\""
        }
        Hint::ListRefreshes => "`bank.history()` lists plans and refreshes",
        Hint::RefreshAgain => {
            "refresh the plan again after the next batch, or name two refreshes, or another plan with `against`"
        }
        Hint::OnePathPerLine => "give one path or address per line; check that the file is a list",
        Hint::OneUrlPerLine => "give URLs that begin with http:// or https://",
        Hint::RefreshCold => "refresh with cold=True, which recomputes it",
        Hint::Check => "`bank.check()` reports what is damaged",
        Hint::SmallerValues => "lower the weights, or reduce the numbers of uncrawled outlinks",
        Hint::LowerMinPages => "lower `min_pages`",
        Hint::SmallerList => {
            "use sites, hosts and URL prefixes where possible, or shorten the list"
        }
        Hint::FewerRepetitions => {
            "use `*` or `+` in place of counts such as {1,900}, or begin the expression with `^`"
        }
        Hint::PlanByCores => "use a plan with method=\"cores\"",
        Hint::OtherSeeds => "refresh the plan, or use other URLs",
        Hint::Report => "please report this with the code that caused it",
        _ => return None,
    };
    Some(text.to_owned())
}

const fn store(hint: StoreHint) -> Option<&'static str> {
    Some(match hint {
        StoreHint::OtherFolder => "use a folder that does not exist or is empty",
        StoreHint::CheckPathOrCreate => "check the path, or create a bank there with `Bank.create`",
        StoreHint::NewerBuild => {
            "use a newer version of seedbank-engine; the backups were not changed"
        }
        StoreHint::ExportWithItsBuild => {
            "export the bank with the build that wrote it, and ingest the export into a new bank; the bank was not changed"
        }
        StoreHint::PartsOfOneState => {
            "use the folders of all parts as the last call left them; `repair` of the command line brings all parts to the latest state that they share; if a part is lost, restore a backup"
        }
        StoreHint::BringParts => {
            "move, link or mount the folders of all parts in the folder `parts` of the bank"
        }
        StoreHint::Wait => "try again when the other writer has finished, or use wait=True",
        StoreHint::Repair => {
            "`repair` of the command line repairs what it can without loss; `bank.check()` reports what is intact"
        }
        StoreHint::CheckAndRepair => DAMAGE,
        StoreHint::Publish => {
            "free disk space if the disk is full; the next call that writes publishes the stored state"
        }
        StoreHint::SeveralBanks => "split the crawl into several banks",
        StoreHint::FreeSpace | StoreHint::FreeSpaceForStore => "free disk space and try again",
        StoreHint::Permissions => {
            "run as a user with access to the files, or change their permissions"
        }
        StoreHint::System(kind) => return system(kind),
        StoreHint::CheckPathOfBackups => {
            "check the path; `bank.backup` creates a folder of backups"
        }
        StoreHint::OtherFolderForBackups => {
            "use a folder for backups only, outside the bank, that does not exist or is empty"
        }
        StoreHint::ListBackups => "`restore` of the command line lists the backups",
        StoreHint::OtherBackup => "restore the intact backup",
        StoreHint::BackUpAgain => {
            "if the bank still exists, `bank.backup` with verify=True repairs what it can"
        }
        _ => return None,
    })
}

/// Returns advice about an error of the operating system.
const fn system(kind: SystemErrorKind) -> Option<&'static str> {
    Some(match kind {
        SystemErrorKind::ProcessFiles => {
            "raise the limit on open files (`resource.setrlimit(resource.RLIMIT_NOFILE, ...)`) and try again"
        }
        SystemErrorKind::SystemFiles => {
            "end programs that have many files open, or raise `fs.file-max`, and try again"
        }
        SystemErrorKind::Memory => "free memory, or lower `memory` and `threads`, and try again",
        SystemErrorKind::NotPermitted => {
            "check the owner and the attributes of the file, and the rules of SELinux or AppArmor"
        }
        SystemErrorKind::Transient => "try again",
        SystemErrorKind::ReadOnly => "the file system is read-only; use a folder on another one",
        SystemErrorKind::Locks => {
            "mount the file system with locks, or use a folder on another one"
        }
        SystemErrorKind::Unsupported => {
            "the file system lacks an operation that banks need; use a folder on another one"
        }
        SystemErrorKind::Device => "check the disk and try again, or restore a backup",
        SystemErrorKind::Server => "check the connection to the file server and try again",
        _ => return None,
    })
}

/// Returns advice about bad records: where they are listed, and which fields are probably misspelt.
fn bad_records(bad: &BadRecords, advice: &str) -> String {
    let no_url = bad.reasons.contains_key(&RejectReason::MissingUrl);
    let names = bad.unknown_fields.names.keys();
    let meant = names.filter_map(|name| Some((name, suggest_field(name)?)));
    // A record that has its url uses such a field for something else.
    let meant = meant.filter(|(_, field)| no_url || *field != "url");
    let proposals: Vec<String> = meant
        .map(|(name, field)| format!("{}: did you mean {field}? ", truncated(name)))
        .collect();
    let proposals = proposals.concat();
    match &bad.file {
        Some(file) => format!("{proposals}they are listed in {}; {advice}", file.display()),
        None => format!("{proposals}{advice}"),
    }
}

fn list(names: &[String]) -> String {
    let names: Vec<_> = names.iter().map(|name| truncated(name)).collect();
    names.join(", ")
}
