//! The properties of a graph, checked for plausibility.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use dsi_bitstream::traits::{BE, Endianness, LE};
use webgraph::graphs::bvgraph::{CompFlags, get_endianness, parse_properties};

use super::error::BvGraphError;
use super::reject_invalid::guarded;

/// The largest window, in lists. Far larger than in practice; it bounds the memory.
const MAX_WINDOW: usize = 1 << 16;

/// The most links per byte. Real crawls have 2 to 10. The densest graph that can be distinguished
/// from a hostile file, in which every list copies the previous one, comes near this, and so does
/// the largest compression ratio of gzip.
const MAX_LINKS_PER_BYTE: u64 = 1_000;

/// A number of links that is accepted in a file of any size.
const FEW_LINKS: u64 = 1 << 20;

/// The most bytes of the properties, which have a few hundred.
const MAX_PROPERTIES: u64 = 1 << 20;

pub(super) struct Properties {
    pub(super) nodes: u64,
    pub(super) links: u64,
    pub(super) flags: CompFlags,
    pub(super) little_endian: bool,
}

/// Returns the name of a file of a graph. The basename may be that of one of its files.
///
/// `Path::with_extension` is not used, since basenames such as `cnr-2000.v2` contain dots.
#[must_use]
pub fn file(basename: &Path, extension: &str) -> PathBuf {
    let named = ["graph", "properties"]
        .iter()
        .any(|known| basename.extension().is_some_and(|own| own == *known));
    let mut name: OsString = if named {
        basename.with_extension("").into_os_string()
    } else {
        basename.as_os_str().to_owned()
    };
    name.push(".");
    name.push(extension);
    name.into()
}

impl Properties {
    /// Reads the properties and checks them against the size of the graph file.
    pub(super) fn read(basename: &Path) -> Result<Self, BvGraphError> {
        let path = file(basename, "properties");
        let wrong = |detail: String| BvGraphError::Properties {
            file: path.display().to_string(),
            detail,
        };
        if let Some(detail) = mismatch(&path)? {
            return Err(wrong(detail));
        }
        let endianness = guarded(|| get_endianness(&path)).map_err(wrong)?;
        let endianness = endianness.map_err(|error| wrong(format!("{error:#}")))?;
        let little_endian = endianness == LE::NAME;
        let parsed = guarded(|| {
            if little_endian {
                parse_properties::<LE>(&path)
            } else {
                parse_properties::<BE>(&path)
            }
        });
        let parsed = parsed.map_err(wrong)?;
        let (nodes, links, flags) = parsed.map_err(|error| wrong(format!("{error:#}")))?;
        if flags.compression_window > MAX_WINDOW {
            let window = flags.compression_window;
            return Err(wrong(format!("a windowsize of {window}")));
        }
        let graph = file(basename, "graph");
        let bytes = length(&graph)?;
        // Every outdegree takes at least one bit, which bounds the memory for one list.
        let nodes = nodes as u64;
        if nodes > bytes.saturating_mul(8) {
            return Err(BvGraphError::TooShort {
                file: graph.display().to_string(),
                bytes,
                nodes,
            });
        }
        // A bit or two copy a list, and two numbers are a run of links of any length: without this
        // bound, a small file could cause days of work.
        if links > bytes.saturating_mul(MAX_LINKS_PER_BYTE).max(FEW_LINKS) {
            return Err(BvGraphError::TooDense {
                file: graph.display().to_string(),
                bytes,
                links,
                per_byte: MAX_LINKS_PER_BYTE,
            });
        }
        Ok(Self {
            nodes,
            links,
            flags,
            little_endian,
        })
    }
}

pub(super) fn length(path: &Path) -> Result<u64, BvGraphError> {
    let metadata = fs::metadata(path).map_err(|source| cannot_open(path, source))?;
    if !metadata.is_file() {
        return Err(BvGraphError::NoFile {
            file: path.display().to_string(),
        });
    }
    Ok(metadata.len())
}

pub(super) fn cannot_open(path: &Path, source: std::io::Error) -> BvGraphError {
    BvGraphError::Open {
        file: path.display().to_string(),
        source,
    }
}

/// Returns why a file does not have the properties of a graph in the BV format; `None` if it may
/// have them.
fn mismatch(path: &Path) -> Result<Option<String>, BvGraphError> {
    length(path)?;
    let failed = |source| cannot_open(path, source);
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_PROPERTIES + 1).read_to_end(&mut bytes))
        .map_err(failed)?;
    if bytes.len() as u64 > MAX_PROPERTIES {
        return Ok(Some("it is too long".to_owned()));
    }
    let text = String::from_utf8_lossy(&bytes);
    let class = text
        .lines()
        .filter_map(|line| line.split_once('='))
        .find(|(key, _)| key.trim() == "graphclass")
        .map(|(_, class)| class.trim());
    Ok(class
        .filter(|class| !class.ends_with("BVGraph"))
        .map(|class| format!("its graphclass is {class}; only BVGraph can be read")))
}
