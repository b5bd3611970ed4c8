//! Advice for an input that is not in the expected format: one sentence, with a command that converts
//! the input if there is one.

use seedbank::display::escape_controls;
use seedbank::ingest::{Compression, DetectedFormat, DetectedInput};

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
        DetectedFormat::Wat => ("is a WAT file", Input("wat")),
        DetectedFormat::Sitemap => ("is a sitemap", Input("sitemap")),
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
        DetectedFormat::Tar => ("is a tar archive; extract it first", Convert("tar -xO")),
        DetectedFormat::GzipInside => (TWICE, Convert("gzip -dc")),
        DetectedFormat::ZstdInside => (TWICE, Convert("zstd -dc")),
        DetectedFormat::Xz => (
            "is compressed with xz; expected plain, gzip or zstd input",
            Convert("xz -dc"),
        ),
        DetectedFormat::Bzip2 => (
            "is compressed with bzip2; expected plain, gzip or zstd input",
            Convert("bzip2 -dc"),
        ),
        DetectedFormat::Lz4 => (
            "is compressed with LZ4; expected plain, gzip or zstd input",
            Convert("lz4 -dc"),
        ),
        DetectedFormat::Utf16 => (
            "is UTF-16 text; expected UTF-8",
            Convert("iconv -f UTF-16 -t UTF-8"),
        ),
        DetectedFormat::Utf32 => (
            "is UTF-32 text; expected UTF-8",
            Convert("iconv -f UTF-32 -t UTF-8"),
        ),
        DetectedFormat::JsonStrings => (
            "has one JSON string per line; expected JSON objects",
            Convert("jq -c '{url: .}'"),
        ),
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
        other => (without_command(other), Advice::None),
    };
    let advice = match advice {
        Advice::None => String::new(),
        Input(format) => format!("; omit --input, or use --input {format}"),
        InputWithHeader(format) => format!(
            "; to read it, its first line must name the columns, including `url`; omit --input, or use --input {format}"
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
