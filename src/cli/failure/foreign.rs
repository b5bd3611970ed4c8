//! What to do with an input that is something else than records: a sentence, with a command where
//! one makes records of it.

use seedbank::ingest::{Compression, Foreign, SeenInput};
use seedbank::shown::plain;

/// Takes in what a command writes.
const TAKE: &str = " | seedbank ingest BANK -";

/// When a table as text is read.
const HEADER: &str =
    "it is read where its first line names its columns, url among them: leave --input out, or say";

/// What the input is, and what to do about it.
#[expect(clippy::too_many_lines, reason = "it is a table")]
pub(super) fn sentence(input: &SeenInput) -> String {
    let file = plain(&input.file);
    let taken = |program: &str, rest: &str| format!("`{}{TAKE}`", piped(input, program, rest));
    let text = match input.is {
        Foreign::Parquet => {
            "is a Parquet file; leave --input out, or say --input parquet".to_owned()
        }
        Foreign::Avro => {
            "is an Avro file; `avro-tools tojson` makes a JSON object a line of it".to_owned()
        }
        Foreign::Orc => {
            "is an ORC file; `orc-contents` makes a JSON object a line of it".to_owned()
        }
        Foreign::Arrow => {
            "is an Arrow file or stream; leave --input out, or say --input arrow".to_owned()
        }
        Foreign::Sqlite => "is an SQLite database; export a table of it as JSON Lines, one record a line".to_owned(),
        Foreign::Zip => format!(
            "is a ZIP archive; plain, gzip and zstd are read: `unzip -p {}{TAKE}`",
            quoted(&input.file)
        ),
        Foreign::SevenZip => format!(
            "is a 7z archive; plain, gzip and zstd are read: `7z e -so {}{TAKE}`",
            quoted(&input.file)
        ),
        Foreign::Tar => format!(
            "is a tar archive; what is in it can be read: {}",
            taken("tar -xO", "")
        ),
        Foreign::GzipInside => format!(
            "is compressed twice, and one layer is taken off here: {}",
            taken("gzip -dc", "")
        ),
        Foreign::ZstdInside => format!(
            "is compressed twice, and one layer is taken off here: {}",
            taken("zstd -dc", "")
        ),
        Foreign::Xz => format!(
            "is compressed with xz; plain, gzip and zstd are read: {}",
            taken("xz -dc", "")
        ),
        Foreign::Bzip2 => format!(
            "is compressed with bzip2; plain, gzip and zstd are read: {}",
            taken("bzip2 -dc", "")
        ),
        Foreign::Lz4 => format!(
            "is compressed with LZ4; plain, gzip and zstd are read: {}",
            taken("lz4 -dc", "")
        ),
        Foreign::Pdf => "is a PDF file; what is taken is records of pages, one a line".to_owned(),
        Foreign::Utf16 => format!(
            "is text in UTF-16; UTF-8 is read: {}",
            taken("iconv -f UTF-16 -t UTF-8", "")
        ),
        Foreign::Utf32 => format!(
            "is text in UTF-32; UTF-8 is read: {}",
            taken("iconv -f UTF-32 -t UTF-8", "")
        ),
        Foreign::Warc => "is a WARC file; leave --input out, or say --input warc".to_owned(),
        Foreign::Wat => "is a WAT file; leave --input out, or say --input wat".to_owned(),
        Foreign::Wet => {
            "is a WET file, which has texts and no links; take the WAT file beside it".to_owned()
        }
        Foreign::Html => {
            "is an HTML page, and a page by itself says nothing of its URL; give it as a record, or the WARC file that it is in".to_owned()
        }
        Foreign::Sitemap => "is a sitemap; leave --input out, or say --input sitemap".to_owned(),
        Foreign::SitemapIndex => {
            "is a list of sitemaps, and none of them has been fetched; fetch those that it names, and give them without --input"
                .to_owned()
        }
        Foreign::Xml => "is XML; what is taken is records of pages, one JSON object a line".to_owned(),
        Foreign::Cdxj => "is a CDXJ index; leave --input out, or say --input cdxj".to_owned(),
        Foreign::Cdx => "is a CDX index; leave --input out, or say --input cdx".to_owned(),
        Foreign::JsonArray => "is a JSON array; leave --input out, or say --input json".to_owned(),
        Foreign::JsonSpread => {
            "is JSON whose objects are not one a line; leave --input out, or say --input json"
                .to_owned()
        }
        Foreign::Nutch(_) => "is a dump of Nutch; leave --input out, or say --input nutch".to_owned(),
        Foreign::CrawlLog => {
            "is a crawl.log of Heritrix; leave --input out, or say --input heritrix".to_owned()
        }
        Foreign::JsonStrings => format!(
            "is a JSON string a line, and a record is an object: {}",
            taken("jq -c '{url: .}'", "")
        ),
        Foreign::JsonLines => {
            "is JSON Lines; leave --input out, or say --input jsonl".to_owned()
        }
        Foreign::Links => "is links, two URLs a line; say --input links".to_owned(),
        Foreign::LinksBySpace => format!(
            "is links with a space between two URLs, and --input links wants a tab: `{} | seedbank ingest BANK --input links -`",
            piped(input, "sed 's/ /\\t/'", "")
        ),
        Foreign::Pages => {
            "is a list of pages; give it with --input links --pages, beside the links".to_owned()
        }
        Foreign::Tabs => format!("is a table with tabs; {HEADER} --input tsv"),
        Foreign::Commas => format!("is CSV; {HEADER} --input csv"),
        Foreign::Semicolons => format!("is CSV with semicolons; {HEADER} --input csv"),
        Foreign::Urls => {
            "is a list of URLs, which become known pages; leave --input out, or say --input urls"
                .to_owned()
        }
        Foreign::BvProperties => {
            "has the properties of a BV graph; say --input bvgraph, and give its name without the ending"
                .to_owned()
        }
        Foreign::Binary => "is no text; what is taken is one JSON object a line".to_owned(),
        _ => "is another format; what is taken is one JSON object a line".to_owned(),
    };
    format!("{file} {text}")
}

/// The command by which a program reads the input, decompressed, followed by the rest.
fn piped(input: &SeenInput, program: &str, rest: &str) -> String {
    let space = if rest.is_empty() || rest.starts_with(' ') {
        ""
    } else {
        " "
    };
    let command = match input.compression {
        // What the shell pipes in has no name.
        _ if input.file == STDIN => program.to_owned(),
        Some(Compression::Gzip) => format!("gzip -dc {} | {program}", quoted(&input.file)),
        Some(Compression::Zstd) => format!("zstd -dc {} | {program}", quoted(&input.file)),
        None if program.starts_with("tar") => format!("{program}f {}", quoted(&input.file)),
        None => format!("{program} {}", quoted(&input.file)),
    };
    [&command, space, rest].concat()
}

/// How the library calls standard input.
const STDIN: &str = "standard input";

/// A name as a shell takes it.
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

    fn input(file: &str, compression: Option<Compression>) -> SeenInput {
        SeenInput {
            file: file.to_owned(),
            is: Foreign::JsonArray,
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
