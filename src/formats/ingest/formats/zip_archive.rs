//! ZIP archives as inputs: the WARC files in them, above all those of WACZ 1.1.1.
//!
//! ```text
//! archive/*.warc.gz            every WARC file of the archive is an input of its own
//! pages/*.jsonl                only pages without an answer, which the WARC files omit
//! reports/skippedPages.jsonl   likewise, as Browsertrix Crawler writes it
//! indexes/, fuzzy.json, ...    nothing that the WARC files do not say
//! ```
//!
//! The central directory decides what is in the archive. It is read record by record, and only what is
//! an input is held in memory.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::{fs, io};

use rawzip::{CompressionMethod, RECOMMENDED_BUFFER_SIZE, ZipArchive};

use super::browsertrix::PageList;
use super::file_source::{self, FileFormat};
use super::format_error::FormatError;
use crate::ingest::entries;
use crate::ingest::open::{DetectedInput, Input, InputError};
use crate::ingest::progress::Progress;
use crate::ingest::sniff::DetectedFormat;
use crate::ingest::source::{Pieces, Source, Sources, Stop};
use crate::ingest::zip_member::ZipMember;
use seedbank_algorithms::watch::Watch;

/// The most inputs in one archive.
const MAX_MEMBERS: usize = 65_536;

/// The size of the longest record of a central directory, in bytes.
const MAX_RECORD: usize = 3 * 65_535;

/// Returns a source for each input, and for each WARC file and list of pages in a ZIP archive.
pub(super) fn sources<F: FileFormat>(inputs: &[Input], format: &F) -> Sources {
    let of_input = |input: &Input| match members(input) {
        Ok(None) => file_source::sources(std::slice::from_ref(input), format),
        Ok(Some(members)) => {
            let mut sources = file_source::sources(&members.warc_files, format);
            let lists = PageList::beside_responses();
            sources.extend(entries::each(&members.page_lists, lists));
            sources
        }
        Err(error) => vec![Box::new(Refused {
            file: input.to_string(),
            error: Some(error),
        }) as Box<dyn Source>],
    };
    inputs.iter().flat_map(of_input).collect()
}

/// The inputs in an archive, each kind by name.
#[derive(Default)]
struct Members {
    warc_files: Vec<Input>,
    page_lists: Vec<Input>,
}

/// Lists the inputs in an archive; `None` if the input is not a ZIP archive.
fn members(input: &Input) -> Result<Option<Members>, InputError> {
    let Input::File(path) = input else {
        return Ok(None);
    };
    // A pipe must not be opened, and a missing file is reported by its source.
    if !fs::metadata(path).is_ok_and(|metadata| metadata.is_file()) {
        return Ok(None);
    }
    let Ok(mut file) = File::open(path) else {
        return Ok(None);
    };
    let mut magic = [0; 4];
    if file.read_exact(&mut magic).is_err() || !matches!(&magic, b"PK\x03\x04" | b"PK\x05\x06") {
        return Ok(None);
    }
    let damaged = |source| ZipError::Damaged {
        file: input.to_string(),
        source,
    };
    let mut members = read_directory(path, file).map_err(|error| match error {
        DirectoryError::Zip(source) => damaged(source),
        DirectoryError::Member { name, why } => ZipError::Member {
            file: input.to_string(),
            name,
            why,
        },
    })?;
    if members.is_empty() {
        return Err(InputError::NotRecords(DetectedInput {
            file: input.to_string(),
            format: DetectedFormat::Zip,
            compression: None,
        }));
    }
    check_overlap(input, &mut members)?;
    members.sort_by(|a, b| a.name.cmp(&b.name));
    let mut inputs = Members::default();
    for member in members {
        if is_page_list(&member.name) {
            inputs.page_lists.push(Input::Member(member));
        } else {
            inputs.warc_files.push(Input::Member(member));
        }
    }
    Ok(Some(inputs))
}

/// Reads the WARC files and lists of pages from the central directory, in any order.
fn read_directory(path: &Path, file: File) -> Result<Vec<ZipMember>, DirectoryError> {
    let mut buffer = vec![0; RECOMMENDED_BUFFER_SIZE.max(MAX_RECORD)];
    let archive = ZipArchive::from_file(file, &mut buffer)?;
    let mut members = Vec::new();
    let mut entries = archive.entries(&mut buffer);
    while let Some(entry) = entries.next_entry()? {
        let name = String::from_utf8_lossy(entry.file_path().as_ref()).into_owned();
        if entry.is_dir() || !is_warc(&name) && !is_page_list(&name) {
            continue;
        }
        let is_deflated = entry.compression_method() == CompressionMethod::DEFLATE;
        let why = if entry.flags().is_encrypted() {
            "it is encrypted"
        } else if !is_deflated && entry.compression_method() != CompressionMethod::STORE {
            "expected it stored or compressed with deflate"
        } else if members.len() == MAX_MEMBERS {
            "the archive has more than 65,536 such files"
        } else {
            let (start, end) = archive
                .get_entry(entry.wayfinder())?
                .compressed_data_range();
            members.push(ZipMember {
                archive: path.to_owned(),
                name,
                start,
                stored: end.saturating_sub(start),
                size: entry.uncompressed_size_hint(),
                crc: entry.crc32(),
                is_deflated,
            });
            continue;
        };
        return Err(DirectoryError::Member { name, why });
    }
    Ok(members)
}

/// Returns whether a name is that of a WARC file, plain or compressed. The copies that macOS adds are none.
fn is_warc(name: &str) -> bool {
    let endings = [".warc", ".warc.gz", ".warc.zst", ".warc.br"];
    let name = name.to_ascii_lowercase();
    !name.starts_with("__macosx/") && endings.iter().any(|ending| name.ends_with(ending))
}

/// Returns whether a name is that of a list of pages, as WACZ and Browsertrix Crawler have it.
fn is_page_list(name: &str) -> bool {
    let path = Path::new(name);
    let is_list = path
        .extension()
        .is_some_and(|extension| extension == "jsonl");
    is_list && path.parent() == Some(Path::new("pages")) || name == "reports/skippedPages.jsonl"
}

/// Refuses an archive in which two files share data, since a small one could contain endless input.
fn check_overlap(input: &Input, members: &mut [ZipMember]) -> Result<(), InputError> {
    members.sort_by_key(|member| (member.start, member.stored));
    let mut pairs = members.iter().zip(members.iter().skip(1));
    let overlap = pairs.find(|(member, next)| member.start + member.stored > next.start);
    let Some((member, _)) = overlap else {
        return Ok(());
    };
    let error = ZipError::Member {
        file: input.to_string(),
        name: member.name.clone(),
        why: "another file of the archive has the same data",
    };
    Err(error.into())
}

/// Why a central directory cannot be used.
enum DirectoryError {
    Zip(rawzip::Error),
    Member { name: String, why: &'static str },
}

impl From<rawzip::Error> for DirectoryError {
    fn from(error: rawzip::Error) -> Self {
        Self::Zip(error)
    }
}

#[derive(Debug, thiserror::Error)]
enum ZipError {
    #[error("{file} is a damaged or truncated ZIP archive; fetch it again")]
    Damaged { file: String, source: rawzip::Error },
    #[error(
        "{file} contains {name}, which cannot be read: {why}; extract it, and give it as a file"
    )]
    Member {
        file: String,
        name: String,
        why: &'static str,
    },
}

impl FormatError for ZipError {}

/// An input that is refused before any other is read.
struct Refused {
    file: String,
    error: Option<InputError>,
}

impl Refused {
    fn stop(&mut self) -> Stop {
        let file = self.file.clone();
        let error = self.error.take().unwrap_or_else(|| InputError::Open {
            file,
            source: io::ErrorKind::InvalidData.into(),
        });
        error.into()
    }
}

impl Source for Refused {
    fn name(&self) -> String {
        self.file.clone()
    }

    fn prepare(&mut self, _: &dyn Watch) -> Result<Option<u64>, Stop> {
        Err(self.stop())
    }

    fn open<'a>(&'a mut self, _: &Progress<'a>) -> Result<Pieces<'a>, Stop> {
        Err(self.stop())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_is_an_input() {
        for (name, is) in [
            ("archive/data.warc.gz", true),
            ("archive/rec-1.warc", true),
            ("x/y/CRAWL.WARC.ZST", true),
            ("data.warc.br", true),
            ("archive/data.warc.gz.part", false),
            ("__MACOSX/archive/._data.warc.gz", false),
            ("indexes/index.cdx.gz", false),
            ("datapackage.json", false),
        ] {
            assert_eq!(is_warc(name), is, "{name}");
        }
        for (name, is) in [
            ("pages/pages.jsonl", true),
            ("pages/extraPages.jsonl", true),
            ("reports/skippedPages.jsonl", true),
            ("pages/more/pages.jsonl", false),
            ("logs/pages.jsonl", false),
            ("pages/pages.json", false),
        ] {
            assert_eq!(is_page_list(name), is, "{name}");
        }
    }
}
