//! Texts of errors of the library and advice for them, in terms of the command line; advice for an input that is not in
//! the expected format.

use indicatif::BinaryBytes;

use crate::cli::parameter_flags::names_as_flags;
use seedbank::display::{escape_controls, truncated};
use seedbank::engine::EngineError;
use seedbank::engine::error::{
    BadRecords, Family, Hint, PlanError, RequestError, StoreError, StoreHint, SystemErrorKind,
};
use seedbank::engine::policy::BadPattern;
use seedbank::ingest::{
    Compression, DetectedFormat, DetectedInput, MAX_LISTED_REJECTS, RejectReason, suggest_field,
};

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
        Hint::ConvertToRecords(seen) => return Some(sentence(seen)),
        Hint::RaiseMemory => "raise --memory, or write the table in smaller row groups or batches",
        Hint::NameColumns => {
            "use --columns to say which columns are which fields, such as --columns url=Source,outlinks=Destination (one link per row), or --columns 'url=Address,outlinks=Links,split=|'"
        }
        Hint::KeepTruncated => {
            "fetch or copy the file again, or use --truncated keep to take the complete records before its end (not in a snapshot)"
        }
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
        Hint::OnePathPerLine => "give one path or address per line; check that the file is a list",
        Hint::SmallerList => {
            "use sites, hosts (`.example.org`) and URL prefixes where possible, which take far less memory, or shorten the list"
        }
        Hint::FewerRepetitions => {
            "use `*` or `+` in place of counts such as {1,900}, or begin the expression with `^`"
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
        StoreHint::NewerBuild => "use a newer version of seedbank; the backups were not changed",
        StoreHint::WholeBank => {
            "use the folder of the cluster bank, which contains the folder `parts`"
        }
        StoreHint::PartsOfOneState => {
            "use the folders of all parts as the last command left them; `seedbank repair` brings all parts to the latest state that they share, and reports what is lost; if a part is lost, `seedbank restore` restores a backup"
        }
        StoreHint::BringParts => {
            "move, link or mount the folders of all parts in the folder `parts` of the bank"
        }
        StoreHint::ExportWithItsBuild => {
            "export it with the build that wrote it, and ingest the export into a new bank; the bank was not changed"
        }
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
        StoreHint::System(kind) => return system(kind),
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

/// Advises about an error of the operating system.
pub(super) const fn system(kind: SystemErrorKind) -> Option<&'static str> {
    Some(match kind {
        SystemErrorKind::ProcessFiles => {
            "raise the limit on open files (`ulimit -n 4096`; in a unit of systemd `LimitNOFILE=4096`), and run the same command again"
        }
        SystemErrorKind::SystemFiles => {
            "end programs that have many files open, or raise `fs.file-max`, and run the same command again"
        }
        SystemErrorKind::Memory => {
            "free memory, or lower --memory and --threads, and run the same command again"
        }
        SystemErrorKind::Access => PERMISSIONS,
        SystemErrorKind::NotPermitted => {
            "check the owner and the attributes of the file (`lsattr`), and the rules of SELinux or AppArmor"
        }
        SystemErrorKind::Transient => "run the same command again",
        SystemErrorKind::Space => "free disk space and run the same command again",
        SystemErrorKind::ReadOnly => "the file system is read-only; use a folder on another one",
        SystemErrorKind::Locks => {
            "mount the file system with locks (NFS: start its lock service, or `-o local_lock=flock` if one machine alone uses it; Lustre: `-o flock`), or use a folder on another one"
        }
        SystemErrorKind::Unsupported => {
            "the file system lacks an operation that banks need; use a folder on another one, such as ext4 or XFS"
        }
        SystemErrorKind::Device => {
            "check the disk (`dmesg`, `smartctl`) and run the same command again; what stays unreadable can only come from a backup (`seedbank restore`)"
        }
        SystemErrorKind::Server => {
            "check the connection to the file server, mount the file system again, and run the same command again"
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
        return [&sentence(seen), "; ", &listed]
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

/// The part of a command line that ingests what precedes it.
const TAKE: &str = " | seedbank ingest BANK -";

/// What to do about an input.
enum Advice {
    /// The description of the input says what to do.
    None,
    /// Use this value of `--input`.
    Input(&'static str),
    /// As [`Advice::Input`], if the first line names the columns.
    InputWithHeader(&'static str),
    /// Convert the decompressed input with this command.
    Convert(&'static str),
    /// Extract the file with this command, which cannot read a pipe.
    Extract(&'static str),
    /// Extract the files in it and give those with records.
    ExtractFiles(&'static str),
}

/// Returns what the input is and what to do about it.
pub(super) fn sentence(input: &DetectedInput) -> String {
    use Advice::{Convert, Extract, ExtractFiles, Input, InputWithHeader};
    let (description, advice) = match input.format {
        DetectedFormat::Parquet => ("is a Parquet file", Input("parquet")),
        DetectedFormat::Arrow => ("is an Arrow file or stream", Input("arrow")),
        DetectedFormat::Warc => ("is a WARC file", Input("warc")),
        DetectedFormat::Arc => ("is an ARC file", Input("warc")),
        DetectedFormat::Wat => ("is a WAT file", Input("wat")),
        DetectedFormat::Sitemap => ("is a sitemap", Input("sitemap")),
        DetectedFormat::Feed => (
            "is a feed, whose pages are added as known pages",
            Input("sitemap"),
        ),
        DetectedFormat::Cdxj => ("is a CDXJ index", Input("cdxj")),
        DetectedFormat::Cdx => ("is a CDX index", Input("cdx")),
        DetectedFormat::JsonArray => ("is a JSON array", Input("json")),
        DetectedFormat::JsonSpread => {
            let text = "is JSON with objects that are not one per line";
            (text, Input("json"))
        }
        DetectedFormat::Nutch(_) => ("is a Nutch dump", Input("nutch")),
        DetectedFormat::CrawlLog => ("is a Heritrix crawl.log", Input("heritrix")),
        DetectedFormat::Browsertrix => ("is a list of pages of Browsertrix", Input("browsertrix")),
        DetectedFormat::JsonLines => ("is JSON Lines", Input("jsonl")),
        DetectedFormat::Urls => {
            let text = "is a list of URLs, which are added as known pages";
            (text, Input("urls"))
        }
        DetectedFormat::Tabs => ("is a tab-separated table", InputWithHeader("tsv")),
        DetectedFormat::Commas => ("is CSV", InputWithHeader("csv")),
        DetectedFormat::Semicolons => ("is CSV with semicolons", InputWithHeader("csv")),
        DetectedFormat::Zip => {
            let text = "is a ZIP archive; only its WARC files are read, from a file on disk, with --input warc or \
                without --input";
            (text, ExtractFiles("unzip -d FOLDER"))
        }
        DetectedFormat::SevenZip => ("is a 7z archive", Extract("7z e -so")),
        DetectedFormat::Rar => ("is a RAR archive", Extract("unrar p -inul")),
        DetectedFormat::Cpio => (
            "is a cpio archive; extract it first",
            Convert("cpio -i --to-stdout"),
        ),
        DetectedFormat::Hosts => (
            "is a list of hosts; expected URLs",
            Convert("sed 's|^|http://|; s|$|/|'"),
        ),
        DetectedFormat::JsonValues => (
            "is a JSON array of other values than objects; expected records",
            Convert("jq -c '.[] | {url: .}'"),
        ),
        DetectedFormat::Tar => ("is a tar archive; extract it first", Convert("tar -xO")),
        DetectedFormat::GzipInside => (TWICE, Convert("gzip -dc")),
        DetectedFormat::ZstdInside => (TWICE, Convert("zstd -dc")),
        DetectedFormat::OtherLinks(name) => {
            let command = piped(input, &format!("jq -c '.outlinks = .{name}'"), TAKE);
            return format!(
                "{} has links in the field {name}, which records call outlinks: `{command}`, or --input jsonl to ignore them",
                escape_controls(&input.file)
            );
        }
        DetectedFormat::LinksBySpace => {
            let command = piped(
                input,
                "sed 's/ /\\t/'",
                "| seedbank ingest BANK --input links -",
            );
            return format!(
                "{} is a list of links with a space between the two URLs; --input links expects a tab: `{command}`",
                escape_controls(&input.file)
            );
        }
        other => converted(other).map_or_else(
            || (without_command(other), Advice::None),
            |(description, command)| (description, Convert(command)),
        ),
    };
    let advice = match advice {
        Advice::None => String::new(),
        Input(format) => format!("; omit --input, or use --input {format}"),
        InputWithHeader(format) => format!(
            "; to read it, its first line must name the columns, including `url`, or --columns must say which column is which field (--columns url=NAME,outlinks=NAME); omit --input, or use --input {format}"
        ),
        Convert(command) => format!(": `{}`", piped(input, command, TAKE)),
        Extract(command) => format!(
            "; expected plain, gzip or zstd input: `{command} {}{TAKE}`",
            quoted(&input.file)
        ),
        ExtractFiles(_) if input.file == STDIN => "; save it as a file".to_owned(),
        ExtractFiles(command) => format!(
            "; extract it and give the files that have records: `{command} {}`",
            quoted(&input.file)
        ),
    };
    format!("{} {description}{advice}", escape_controls(&input.file))
}

/// Returns what a compression or an encoding is, and the command that converts it; `None` for anything else.
const fn converted(input: DetectedFormat) -> Option<(&'static str, &'static str)> {
    match input {
        DetectedFormat::Xz => Some((
            "is compressed with xz; expected plain, gzip or zstd input",
            "xz -dc",
        )),
        DetectedFormat::Bzip2 => Some((
            "is compressed with bzip2; expected plain, gzip or zstd input",
            "bzip2 -dc",
        )),
        DetectedFormat::Lz4 => Some((
            "is compressed with LZ4; expected plain, gzip or zstd input",
            "lz4 -dc",
        )),
        DetectedFormat::Utf16 => {
            Some(("is UTF-16 text; expected UTF-8", "iconv -f UTF-16 -t UTF-8"))
        }
        DetectedFormat::Utf32 => {
            Some(("is UTF-32 text; expected UTF-8", "iconv -f UTF-32 -t UTF-8"))
        }
        DetectedFormat::JsonStrings => Some((
            "has one JSON string per line; expected JSON objects",
            "jq -c '{url: .}'",
        )),
        _ => None,
    }
}

const TWICE: &str = "is compressed twice; only one layer is decompressed automatically";

/// Describes an input for which there is no command, with advice.
const fn without_command(input: DetectedFormat) -> &'static str {
    match input {
        DetectedFormat::Avro => {
            "is an Avro file; convert it to JSON Lines with `avro-tools tojson`"
        }
        DetectedFormat::Orc => "is an ORC file; convert it to JSON Lines with `orc-contents`",
        DetectedFormat::Sqlite => {
            "is an SQLite database; export a table as JSON Lines, one record per line"
        }
        DetectedFormat::Pdf => "is a PDF file; expected page records, one JSON object per line",
        DetectedFormat::Wet => {
            "is a WET file, which contains text but no links; use the WAT file of the same name"
        }
        DetectedFormat::Html => {
            "is an HTML page, which does not contain its own URL; give it as a record, or give the WARC file that contains it"
        }
        DetectedFormat::SitemapIndex => {
            "is a sitemap index, and the sitemaps that it lists are not fetched automatically; fetch them and give them without --input"
        }
        DetectedFormat::Robots => {
            "is a robots.txt, which names no pages; fetch the sitemaps that it names and give them without --input"
        }
        DetectedFormat::Image => "is an image; expected page records, one JSON object per line",
        DetectedFormat::Text => {
            "is text in no known format; expected page records, one JSON object per line, a list of URLs, or a table whose first line names its columns; --help names all formats"
        }
        DetectedFormat::Opml => {
            "is OPML, a list of feeds, which are not fetched automatically; fetch them and give them without --input"
        }
        DetectedFormat::Xml => "is XML; expected page records, one JSON object per line",
        DetectedFormat::Links => "is a list of links, two URLs per line; use --input links",
        DetectedFormat::Pages => "is a list of pages; use --input links, and give it with --pages",
        DetectedFormat::BvProperties => {
            "is the properties file of a BV graph; use --input bvgraph, and give the name without its extension"
        }
        DetectedFormat::Binary => "is not text; expected one JSON object per line",
        _ => "is in another format; expected one JSON object per line",
    }
}

/// Returns the command with which a program reads the decompressed input, followed by `rest`.
fn piped(input: &DetectedInput, program: &str, rest: &str) -> String {
    let space = if rest.is_empty() || rest.starts_with(' ') {
        ""
    } else {
        " "
    };
    let command = match input.compression {
        // Standard input has no file name; the user puts the command into the pipe.
        _ if input.file == STDIN => program.to_owned(),
        Some(Compression::Gzip) => format!("gzip -dc {} | {program}", quoted(&input.file)),
        Some(Compression::Zstd) => format!("zstd -dc {} | {program}", quoted(&input.file)),
        Some(Compression::Brotli) => format!("brotli -dc {} | {program}", quoted(&input.file)),
        None if program.starts_with("tar") => format!("{program}f {}", quoted(&input.file)),
        None => format!("{program} {}", quoted(&input.file)),
    };
    [&command, space, rest].concat()
}

/// The library's name for standard input.
const STDIN: &str = "standard input";

/// Quotes a file name for a shell.
pub(crate) fn quoted(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || "._-/+:@%".contains(c);
    if !name.is_empty() && !name.starts_with('-') && name.chars().all(is_bare) {
        name.to_owned()
    } else if name.starts_with('-') {
        quoted(&format!("./{name}"))
    } else {
        format!("'{}'", name.replace('\'', r"'\''"))
    }
}

/// Returns the whole text of an error; `None` if the library's own text, with its causes, needs no
/// change.
pub(super) fn engine(error: &EngineError) -> Option<String> {
    match error {
        EngineError::Plan(e) => plan(e),
        EngineError::Request(RequestError::QuotasWithoutPlan(by)) => Some(format!(
            "--by {by} does not use a plan; remove --plan, or use --by value or --by seeds"
        )),
        EngineError::Store(StoreError::InsufficientSpace { path, needed, free }) => Some(format!(
            "not enough disk space for {}: expected {}, found {} free",
            path.display(),
            BinaryBytes(*needed),
            BinaryBytes(*free)
        )),
        _ => None,
    }
}

/// Replaces words about types in an error of a plan file, and the list of all parameters.
fn in_words(text: &str) -> String {
    let text = text
        .replace("expected u32", "expected a whole number")
        .replace("expected u64", "expected a whole number");
    let list = text.find(", expected one of `goal`");
    match list {
        Some(at) if text.contains("unknown field `") => format!(
            "{}; `seedbank refresh --help` lists the parameters",
            text.get(..at).unwrap_or(&text)
        ),
        _ => text,
    }
}

/// Returns the whole text of a plan error; `None` as in [`engine`].
pub(super) fn plan(error: &PlanError) -> Option<String> {
    Some(match error {
        PlanError::File(source) => format!("the plan file: {}", in_words(&source.to_string())),
        PlanError::List { name, source } => format!(
            "cannot read the list {name}: {}",
            without_number(source.to_string())
        ),
        PlanError::Line {
            list,
            line,
            why: BadPattern::Expression(text) | BadPattern::Shape(text),
        } => {
            // The error of a regular expression has several lines. The last one is the message.
            let why = text.lines().last().unwrap_or_default();
            let why = why.strip_prefix("error: ").unwrap_or(why);
            format!("invalid line {:?} in the list {list}: {why}", truncated(line))
        }
        PlanError::Stored(source) => format!(
            "the plan was stored by another version of seedbank ({source}); use a new plan name"
        ),
        PlanError::OtherFamily {
            method,
            parameters,
            family,
        } => other_family(method, parameters, *family),
        PlanError::NothingToTune => {
            "--tune tries hops, fetch costs and values of known pages for a crawl over the whole web; use a goal such as --goal coverage with --budget, and omit at least one of --hops, --fetch-cost and --value-known".to_owned()
        }
        PlanError::NotReplaced(parameter) => format!(
            "the plan has another --{parameter}; use --replace to replace all parameters of the plan by those given, or --plan NAME for another plan"
        ),
        PlanError::TenTimes { .. } => format!(
            "{}; if that is meant, give --replace and all parameters of the plan",
            names_as_flags(&error.to_string())
        ),
        PlanError::OutOfRange { .. }
        | PlanError::NoCoreSize
        | PlanError::TwoRules
        | PlanError::NoIterations
        | PlanError::TwoPicks
        | PlanError::NoSeedAllowed(_)
        | PlanError::TooManyPins { .. }
        | PlanError::Cores(_)
        | PlanError::Cover(_) => names_as_flags(&error.to_string()),
        _ => return None,
    })
}

fn other_family(method: &str, parameters: &[&str], family: Family) -> String {
    let flags: Vec<String> = parameters.iter().map(|name| format!("--{name}")).collect();
    let plural_s = if flags.len() > 1 { "" } else { "s" };
    let other = match family {
        Family::Cores => "--method cores",
        Family::Cover => "a cover method (such as --method max-weight)",
    };
    format!(
        "{} belong{plural_s} to {other}, but the plan's method is {method}; remove what does not fit, or give the method",
        flags.join(", ")
    )
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
        assert_eq!(
            text,
            "no site has 9 crawled pages and a link from another site; lower --min-pages"
        );
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
                records: 300_000,
                reasons: [(RejectReason::MissingUrl, 100_001)].into(),
                first: None,
                file: Some("bad.jsonl".into()),
                seen: None,
                unknown_fields: UnknownFields::default(),
            }),
        });
        assert!(
            text.ends_with(
                "100001 of 300000 records are bad, expected at most 1 %: missing_url 100001"
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

#[cfg(test)]
mod unsupported_input_tests {
    use super::*;

    fn input(file: &str, compression: Option<Compression>) -> DetectedInput {
        DetectedInput {
            file: file.to_owned(),
            format: DetectedFormat::JsonArray,
            compression,
        }
    }

    #[test]
    fn commands_decompress_and_quote_the_file() {
        let of = |file, compression| piped(&input(file, compression), "jq -c .", "| cat");
        assert_eq!(of("a.json", None), "jq -c . a.json | cat");
        assert_eq!(
            of("a b.gz", Some(Compression::Gzip)),
            "gzip -dc 'a b.gz' | jq -c . | cat"
        );
        assert_eq!(
            of("-a'b.zst", Some(Compression::Zstd)),
            r"zstd -dc './-a'\''b.zst' | jq -c . | cat"
        );
        assert_eq!(of("standard input", None), "jq -c . | cat");
        let tar = input("a.tar", None);
        assert_eq!(piped(&tar, "tar -xO", ""), "tar -xOf a.tar");
        let tar = input("a.tgz", Some(Compression::Gzip));
        assert_eq!(piped(&tar, "tar -xO", ""), "gzip -dc a.tgz | tar -xO");
    }
}

#[cfg(test)]
mod plan_texts_tests {
    use super::*;
    use crate::cli::failure::CliError;
    use seedbank::engine::PlanOptions;

    #[test]
    fn parameters_are_named_as_flags() {
        let cases = [
            (
                "hops = 3\ndepth = 1",
                "--hops, --depth belong to a cover method (such as --method max-weight), but the plan's method is cores; remove what does not fit, or give the method",
            ),
            (
                "method = 'greedy'\ndensity = 60",
                "--density belongs to --method cores, but the plan's method is greedy; remove what does not fit, or give the method",
            ),
            (
                "method = 'random'\nshare = 'value'",
                "`--share` requires a total number of seeds; add `--seeds`",
            ),
            (
                "method = 'max-out'\nvalue-spam = 1000001",
                "`--value-spam`: expected -1000000 to 1000000, found 1000001",
            ),
            (
                "method = 'greedy'\nbudget = 100",
                "`--budget` applies only to plans over the whole web; add `--scope web`, or omit `--budget`",
            ),
            (
                "method = 'greedy'\nscope = 'web'\nper-site = 3",
                "a plan over the whole web has one list of seeds; use `--seeds` instead of `--per-site`",
            ),
            (
                "method = 'random'\nscope = 'web'\nfetch-cost = 0.5",
                "random does not select by value, so `--fetch-cost` does not apply; use greedy or max-weight",
            ),
            ("new-members = 2", "`--new-members` requires `--core-size`"),
            ("seeds = 0", "`--seeds`: expected at least 1, found 0"),
        ];
        for (options, text) in cases {
            let error = PlanOptions::from_toml(options).unwrap().resolve();
            let error = CliError::from(EngineError::from(error.unwrap_err()));
            assert_eq!(error.text(), text);
            assert_eq!((error.exit_status(), error.hint()), (2, None));
        }
    }

    #[test]
    fn a_plan_file_shows_where_it_is_wrong() {
        let error = CliError::PlanText {
            path: "a\nb.toml".into(),
            source: PlanOptions::from_toml("sedes = 3\n").unwrap_err(),
        };
        let text = error.text();
        let head = "a\\nb.toml: the plan file: TOML parse error at line 1";
        assert!(text.starts_with(head), "{text}");
        assert!(text.lines().count() > 3, "{text}");
    }
}
