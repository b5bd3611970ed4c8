//! Advice for an input that is not in the expected format: one sentence, with a command that converts
//! the input if there is one.

use seedbank::display::escape_controls;
use seedbank::ingest::{Compression, DetectedFormat, DetectedInput};

/// The part of a command line that ingests what precedes it.
const TAKE: &str = " | seedbank ingest BANK -";

/// The condition under which a text table can be read.
const HEADER: &str =
    "to read it, its first line must name the columns, including `url`; omit --input, or use";

/// Returns what the input is and what to do about it.
#[expect(clippy::too_many_lines, reason = "it is a table")]
pub(super) fn sentence(input: &DetectedInput) -> String {
    let file = escape_controls(&input.file);
    // Where one command converts the input, give the whole pipeline for copying.
    let taken = |program: &str, rest: &str| format!("`{}{TAKE}`", piped(input, program, rest));
    let text = match input.format {
        DetectedFormat::Parquet => {
            "is a Parquet file; omit --input, or use --input parquet".to_owned()
        }
        DetectedFormat::Avro => {
            "is an Avro file; convert it to JSON Lines with `avro-tools tojson`".to_owned()
        }
        DetectedFormat::Orc => {
            "is an ORC file; convert it to JSON Lines with `orc-contents`".to_owned()
        }
        DetectedFormat::Arrow => {
            "is an Arrow file or stream; omit --input, or use --input arrow".to_owned()
        }
        DetectedFormat::Sqlite => "is an SQLite database; export a table as JSON Lines, one record per line".to_owned(),
        DetectedFormat::Zip => format!(
            "is a ZIP archive; expected plain, gzip or zstd input: `unzip -p {}{TAKE}`",
            quoted(&input.file)
        ),
        DetectedFormat::SevenZip => format!(
            "is a 7z archive; expected plain, gzip or zstd input: `7z e -so {}{TAKE}`",
            quoted(&input.file)
        ),
        DetectedFormat::Tar => format!(
            "is a tar archive; extract it first: {}",
            taken("tar -xO", "")
        ),
        DetectedFormat::GzipInside => format!(
            "is compressed twice; only one layer is decompressed automatically: {}",
            taken("gzip -dc", "")
        ),
        DetectedFormat::ZstdInside => format!(
            "is compressed twice; only one layer is decompressed automatically: {}",
            taken("zstd -dc", "")
        ),
        DetectedFormat::Xz => format!(
            "is compressed with xz; expected plain, gzip or zstd input: {}",
            taken("xz -dc", "")
        ),
        DetectedFormat::Bzip2 => format!(
            "is compressed with bzip2; expected plain, gzip or zstd input: {}",
            taken("bzip2 -dc", "")
        ),
        DetectedFormat::Lz4 => format!(
            "is compressed with LZ4; expected plain, gzip or zstd input: {}",
            taken("lz4 -dc", "")
        ),
        DetectedFormat::Pdf => "is a PDF file; expected page records, one JSON object per line".to_owned(),
        DetectedFormat::Utf16 => format!(
            "is UTF-16 text; expected UTF-8: {}",
            taken("iconv -f UTF-16 -t UTF-8", "")
        ),
        DetectedFormat::Utf32 => format!(
            "is UTF-32 text; expected UTF-8: {}",
            taken("iconv -f UTF-32 -t UTF-8", "")
        ),
        DetectedFormat::Warc => "is a WARC file; omit --input, or use --input warc".to_owned(),
        DetectedFormat::Wat => "is a WAT file; omit --input, or use --input wat".to_owned(),
        DetectedFormat::Wet => {
            "is a WET file, which contains text but no links; use the WAT file of the same name".to_owned()
        }
        DetectedFormat::Html => {
            "is an HTML page, which does not contain its own URL; give it as a record, or give the WARC file that contains it".to_owned()
        }
        DetectedFormat::Sitemap => "is a sitemap; omit --input, or use --input sitemap".to_owned(),
        DetectedFormat::SitemapIndex => {
            "is a sitemap index, and the sitemaps that it lists are not fetched automatically; fetch them and give them without --input"
                .to_owned()
        }
        DetectedFormat::Xml => "is XML; expected page records, one JSON object per line".to_owned(),
        DetectedFormat::Cdxj => "is a CDXJ index; omit --input, or use --input cdxj".to_owned(),
        DetectedFormat::Cdx => "is a CDX index; omit --input, or use --input cdx".to_owned(),
        DetectedFormat::JsonArray => "is a JSON array; omit --input, or use --input json".to_owned(),
        DetectedFormat::JsonSpread => {
            "is JSON with objects that are not one per line; omit --input, or use --input json"
                .to_owned()
        }
        DetectedFormat::Nutch(_) => "is a Nutch dump; omit --input, or use --input nutch".to_owned(),
        DetectedFormat::CrawlLog => {
            "is a Heritrix crawl.log; omit --input, or use --input heritrix".to_owned()
        }
        DetectedFormat::JsonStrings => format!(
            "has one JSON string per line; expected JSON objects: {}",
            taken("jq -c '{url: .}'", "")
        ),
        DetectedFormat::JsonLines => {
            "is JSON Lines; omit --input, or use --input jsonl".to_owned()
        }
        DetectedFormat::Links => "is a list of links, two URLs per line; use --input links".to_owned(),
        DetectedFormat::LinksBySpace => format!(
            "is a list of links with a space between the two URLs; --input links expects a tab: `{} | seedbank ingest BANK --input links -`",
            piped(input, "sed 's/ /\\t/'", "")
        ),
        DetectedFormat::Pages => {
            "is a list of pages; use --input links, and give it with --pages".to_owned()
        }
        DetectedFormat::Tabs => format!("is a tab-separated table; {HEADER} --input tsv"),
        DetectedFormat::Commas => format!("is CSV; {HEADER} --input csv"),
        DetectedFormat::Semicolons => format!("is CSV with semicolons; {HEADER} --input csv"),
        DetectedFormat::Urls => {
            "is a list of URLs, which are added as known pages; omit --input, or use --input urls"
                .to_owned()
        }
        DetectedFormat::BvProperties => {
            "is the properties file of a BV graph; use --input bvgraph, and give the name without its extension"
                .to_owned()
        }
        DetectedFormat::Binary => "is not text; expected one JSON object per line".to_owned(),
        _ => "is in another format; expected one JSON object per line".to_owned(),
    };
    format!("{file} {text}")
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

#[cfg(test)]
mod tests {
    use super::*;

    fn input(file: &str, compression: Option<Compression>) -> DetectedInput {
        DetectedInput {
            file: file.to_owned(),
            format: DetectedFormat::JsonArray,
            compression,
        }
    }

    #[test]
    fn a_command_reads_what_the_input_has_inside() {
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
