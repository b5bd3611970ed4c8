//! ZIP archives as inputs: the WARC files in them, above all those of WACZ 1.1.1.
//!
//! ```text
//! archive/*.warc.gz            every WARC file of the archive is an input of its own
//! pages/*.jsonl                only pages without an answer, which the WARC files omit
//! reports/skippedPages.jsonl   likewise, as Browsertrix Crawler writes it
//! crawl-0.wacz                 a WACZ file of its own, as a crawl by several instances has one for each
//! indexes/, fuzzy.json, ...    nothing that the WARC files do not say
//! ```
//!
//! The central directory decides what is in the archive. It is read record by record, and only what is
//! an input is held in memory.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::{fs, io};

use rawzip::{CompressionMethod, FileReader, RECOMMENDED_BUFFER_SIZE, ReaderAt, ZipLocator};

use super::browsertrix::PageList;
use super::file_source::FormatError;
use super::file_source::{self, FileFormat};
use crate::ingest::entries;
use crate::ingest::open::{Allowance, DetectedInput, Input, InputError, ZipMember};

use crate::ingest::progress::Progress;
use crate::ingest::sniff::DetectedFormat;
use crate::ingest::source::{Pieces, Source, Sources, Stop};

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
            sources.extend(entries::entry_sources(&members.page_lists, lists));
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

/// A ZIP archive within a file.
#[derive(Clone)]
struct Window<'a> {
    file: &'a FileReader,
    start: u64,
    length: u64,
    /// The name of the archive and a slash, if it is within another.
    prefix: String,
}

impl ReaderAt for Window<'_> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let left = self.length.saturating_sub(offset);
        let most = usize::try_from(left)
            .unwrap_or(usize::MAX)
            .min(buffer.len());
        let buffer = buffer.get_mut(..most).unwrap_or_default();
        self.file.read_at(buffer, self.start.saturating_add(offset))
    }
}

/// Reads the WARC files and lists of pages from the central directory, in any order, and from those of the WACZ files
/// in the archive.
fn read_directory(path: &Path, file: File) -> Result<Vec<ZipMember>, DirectoryError> {
    let length = file.metadata().map_or(u64::MAX, |metadata| metadata.len());
    let file = FileReader::from(file);
    let allowance = Allowance::new(path.display().to_string());
    let mut members = Vec::new();
    let mut archives = vec![Window {
        file: &file,
        start: 0,
        length,
        prefix: String::new(),
    }];
    while let Some(window) = archives.pop() {
        let inner = read_archive(path, &window, &allowance, &mut members)?;
        archives.extend(inner);
    }
    Ok(members)
}

/// Adds the WARC files and lists of pages of one archive. Returns the archives in it.
fn read_archive<'a>(
    path: &Path,
    window: &Window<'a>,
    allowance: &Allowance,
    members: &mut Vec<ZipMember>,
) -> Result<Vec<Window<'a>>, DirectoryError> {
    let mut buffer = vec![0; RECOMMENDED_BUFFER_SIZE.max(MAX_RECORD)];
    let archive = ZipLocator::new()
        .locate_in_reader(window.clone(), &mut buffer, window.length)
        .map_err(|(_, error)| error)?;
    let mut inner = Vec::new();
    let mut entries = archive.entries(&mut buffer);
    while let Some(entry) = entries.next_entry()? {
        let name = String::from_utf8_lossy(entry.file_path().as_ref()).into_owned();
        let is_archive = is_wacz(&name);
        if entry.is_dir() || !is_archive && !is_warc(&name) && !is_page_list(&name) {
            continue;
        }
        let name = [&window.prefix, &*name].concat();
        let is_deflated = entry.compression_method() == CompressionMethod::DEFLATE;
        let is_stored = entry.compression_method() == CompressionMethod::STORE;
        let why = if entry.flags().is_encrypted() {
            "it is encrypted"
        } else if is_archive && !is_stored {
            "expected a WACZ file stored, as it is compressed inside"
        } else if is_archive && !window.prefix.is_empty() {
            "expected at most two levels of WACZ files"
        } else if !is_deflated && !is_stored {
            "expected it stored or compressed with deflate"
        } else if members.len() + inner.len() == MAX_MEMBERS {
            "the archive has more than 65,536 such files"
        } else {
            let (start, end) = archive
                .get_entry(entry.wayfinder())?
                .compressed_data_range();
            let stored = end.saturating_sub(start);
            let start = window.start.saturating_add(start);
            if is_archive {
                inner.push(Window {
                    file: window.file,
                    start,
                    length: stored,
                    prefix: name + "/",
                });
            } else {
                members.push(ZipMember {
                    archive: path.to_owned(),
                    allowance: allowance.clone(),
                    name,
                    start,
                    stored,
                    size: entry.uncompressed_size_hint(),
                    crc: entry.crc32(),
                    is_deflated,
                });
            }
            continue;
        };
        return Err(DirectoryError::Member { name, why });
    }
    Ok(inner)
}

/// Returns whether a name is that of a WACZ file, as a crawl by several instances has one for each.
fn is_wacz(name: &str) -> bool {
    let extension = Path::new(name).extension();
    let is_wacz = extension.is_some_and(|extension| extension.eq_ignore_ascii_case("wacz"));
    is_wacz && !name.to_ascii_lowercase().starts_with("__macosx/")
}

/// Returns whether a name is that of a WARC file, plain or compressed. The copies that macOS adds do not count.
fn is_warc(name: &str) -> bool {
    let endings = [".warc", ".warc.gz", ".warc.zst", ".warc.br"];
    let name = name.to_ascii_lowercase();
    !name.starts_with("__macosx/") && endings.iter().any(|ending| name.ends_with(ending))
}

/// Returns whether a name is that of a list of pages, as WACZ and Browsertrix Crawler have it.
fn is_page_list(name: &str) -> bool {
    let name = name.rsplit_once(".wacz/").map_or(name, |(_, inner)| inner);
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
    use std::io::Write;

    use rawzip::ZipArchiveWriter;

    use super::*;

    /// An archive of one stored file.
    fn archive_of(name: &str, content: &[u8]) -> Vec<u8> {
        let mut archive = ZipArchiveWriter::new(Vec::new());
        let (mut entry, config) = archive.new_file(name).start().unwrap();
        let mut writer = config.wrap(&mut entry);
        writer.write_all(content).unwrap();
        let (_, descriptor) = writer.finish().unwrap();
        entry.finish(descriptor).unwrap();
        archive.finish().unwrap()
    }

    #[test]
    fn an_archive_may_contain_archives_of_one_level() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("outer.wacz");
        let read = |archive: &[u8]| {
            fs::write(&place, archive).unwrap();
            members(&Input::File(place.clone()))
        };
        let inner = archive_of("archive/data.warc", b"WARC/1.0");
        let outer = archive_of("crawl-0.wacz", &inner);
        let found = read(&outer).unwrap().unwrap();
        assert!(found.page_lists.is_empty());
        let [Input::Member(member)] = &*found.warc_files else {
            panic!("one WARC file");
        };
        assert_eq!(member.name, "crawl-0.wacz/archive/data.warc");
        let mut content = String::new();
        member.open().unwrap().read_to_string(&mut content).unwrap();
        assert_eq!(content, "WARC/1.0");
        assert!(read(&archive_of("all.wacz", &outer)).is_err());
        assert!(read(&archive_of("crawl-0.wacz", &inner[..inner.len() - 8])).is_err());
    }

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
            ("crawl-0.wacz", true),
            ("x/CRAWL.WACZ", true),
            ("__MACOSX/._crawl-0.wacz", false),
            ("wacz", false),
        ] {
            assert_eq!(is_wacz(name), is, "{name}");
        }
        for (name, is) in [
            ("pages/pages.jsonl", true),
            ("pages/extraPages.jsonl", true),
            ("reports/skippedPages.jsonl", true),
            ("crawl-0.wacz/pages/pages.jsonl", true),
            ("pages/more/pages.jsonl", false),
            ("logs/pages.jsonl", false),
            ("pages/pages.json", false),
        ] {
            assert_eq!(is_page_list(name), is, "{name}");
        }
    }
}
