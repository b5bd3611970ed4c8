//! Writes a host graph to a directory: vertices and edges in parts, and ranks, as gzip.
//!
//! A part is a sequence of gzip members that are generated and compressed independently.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use rayon::prelude::*;

use super::super::crawl_files::{OutputFiles, create_empty_directory, write_error};
use super::super::options::SynthError;
use super::HostsOptions;
use super::host_links::Targets;
use super::host_names::Names;
use seedbank_algorithms::watch::Watch;

/// The number of hosts of a gzip member.
const UNIT: u64 = 1 << 12;

/// The number of units that are generated together.
const GROUP: usize = 24;

/// The maximum number of hosts of a part, and the minimum number of parts of a large graph.
const MAX_PART: u64 = 1 << 20;
const MIN_PARTS: u64 = 4;

/// The content of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostsList {
    /// Hosts.
    Vertices,
    /// Links between them.
    Edges,
    /// Positions by centrality.
    Ranks,
}

/// A written file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostsFile {
    /// The path.
    pub path: PathBuf,
    /// The content.
    pub list: HostsList,
    /// The number of lines, including the header.
    pub lines: u64,
    /// The size of the file in bytes, compressed.
    pub file_bytes: u64,
    /// The size in bytes before compression.
    pub text_bytes: u64,
}

/// The result of [`generate`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostsSummary {
    /// The number of hosts.
    pub hosts: u64,
    /// The number of hosts without links.
    pub dangling: u64,
    /// The number of links.
    pub links: u64,
    /// The files: parts of vertices, parts of edges, ranks.
    pub files: Vec<HostsFile>,
}

/// The text and counts of a unit.
#[derive(Default)]
struct Unit {
    text: Vec<u8>,
    lines: u64,
    dangling: u64,
}

/// Writes a graph of hosts to a new or empty directory.
///
/// Files appear only when complete (temporary name, sync, rename); after an error or interrupt none are
/// left. The bytes depend only on the options. The watch gets one stage per list and advances by hosts.
pub fn generate(
    dir: &Path,
    options: &HostsOptions,
    watch: &dyn Watch,
) -> Result<HostsSummary, SynthError> {
    options.check()?;
    let hosts = options.hosts;
    let names = Names::new(hosts, options.rng_seed);
    let targets = Targets::new(options);
    let mut written = OutputFiles::new(dir, create_empty_directory(dir)?);
    let mut summary = HostsSummary {
        hosts,
        dangling: 0,
        links: 0,
        files: Vec::new(),
    };
    let of_part = hosts
        .div_ceil(MIN_PARTS)
        .div_ceil(UNIT)
        .saturating_mul(UNIT);
    let of_part = of_part.min(MAX_PART);
    for (list, name) in [
        (HostsList::Vertices, "vertices"),
        (HostsList::Edges, "edges"),
    ] {
        watch.stage(name, Some(hosts));
        for part in 0..hosts.div_ceil(of_part) {
            let first = part * of_part;
            let file = format!("{name}-{part:05}.txt.gz");
            let span = first..hosts.min(first + of_part);
            let file = write(&mut written, &file, list, span, watch, |span| match list {
                HostsList::Vertices => vertices(&names, span),
                _ => edges(&targets, span),
            })?;
            if list == HostsList::Edges {
                summary.links += file.0.lines;
                summary.dangling += file.1;
            }
            summary.files.push(file.0);
        }
    }
    watch.stage("ranks", Some(hosts));
    let list = HostsList::Ranks;
    let rows = |span| ranks(&names, &targets, hosts, span);
    let (file, _) = write(&mut written, "ranks.txt.gz", list, 0..hosts, watch, rows)?;
    summary.files.push(file);
    written.finish()?;
    Ok(summary)
}

/// Writes a file; also returns the number of its hosts without links.
fn write(
    written: &mut OutputFiles,
    name: &str,
    list: HostsList,
    span: Range<u64>,
    watch: &dyn Watch,
    unit: impl Fn(Range<u64>) -> Unit + Sync,
) -> Result<(HostsFile, u64), SynthError> {
    let (path, temporary) = written.add(name);
    let failed = |e| write_error(&path, e);
    let mut out = BufWriter::new(File::create_new(&temporary).map_err(failed)?);
    let mut file = HostsFile {
        path: path.clone(),
        list,
        lines: 0,
        file_bytes: 0,
        text_bytes: 0,
    };
    let mut dangling = 0;
    let units = (span.end - span.start).div_ceil(UNIT);
    let starts: Vec<u64> = (0..units).map(|unit| span.start + unit * UNIT).collect();
    for group in starts.chunks(GROUP) {
        watch.proceed()?;
        let members = group.par_iter().map(|first| {
            let span = *first..span.end.min(first + UNIT);
            let hosts = span.end - span.start;
            let unit = unit(span);
            Ok((compress(&unit.text)?, unit, hosts))
        });
        let members: io::Result<Vec<_>> = members.collect();
        for (member, unit, hosts) in members.map_err(failed)? {
            out.write_all(&member).map_err(failed)?;
            file.lines += unit.lines;
            file.text_bytes += unit.text.len() as u64;
            file.file_bytes += member.len() as u64;
            dangling += unit.dangling;
            watch.advance(hosts);
        }
    }
    let out = out.into_inner().map_err(|e| failed(e.into_error()))?;
    out.sync_all().map_err(failed)?;
    fs::rename(&temporary, &path).map_err(failed)?;
    Ok((file, dangling))
}

fn compress(text: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text)?;
    encoder.finish()
}

/// Appends a decimal number.
fn put(number: u64, out: &mut Vec<u8>) {
    // Writing to a vector cannot fail.
    let _ = write!(out, "{number}");
}

fn vertices(names: &Names, span: Range<u64>) -> Unit {
    let mut unit = Unit {
        lines: span.end - span.start,
        ..Unit::default()
    };
    let mut domain = names.domain_of(span.start);
    for host in span {
        if host == domain.first + domain.hosts {
            domain = names.domain_from(host);
        }
        put(host, &mut unit.text);
        unit.text.push(b'\t');
        names.push_in(domain, host, &mut unit.text);
        unit.text.push(b'\n');
    }
    unit
}

fn edges(targets: &Targets, span: Range<u64>) -> Unit {
    let mut unit = Unit::default();
    let (mut links, mut from) = (Vec::new(), Vec::new());
    for host in span {
        targets.links_of(host, &mut links);
        unit.dangling += u64::from(links.is_empty());
        unit.lines += links.len() as u64;
        from.clear();
        put(host, &mut from);
        from.push(b'\t');
        for to in &links {
            unit.text.extend_from_slice(&from);
            put(*to, &mut unit.text);
            unit.text.push(b'\n');
        }
    }
    unit
}

/// Writes the rows of a span of positions; the first unit begins with the header.
fn ranks(names: &Names, targets: &Targets, hosts: u64, span: Range<u64>) -> Unit {
    const HEADER: &str = "#harmonicc_pos\t#harmonicc_val\t#pr_pos\t#pr_val\t#host_rev\n";
    let mut unit = Unit {
        lines: span.end - span.start,
        ..Unit::default()
    };
    if span.start == 0 {
        unit.text.extend_from_slice(HEADER.as_bytes());
        unit.lines += 1;
    }
    for place in span {
        // Adjacent hosts swap positions, so that the two orders differ.
        let other = if place ^ 1 < hosts { place ^ 1 } else { place };
        let harmonic = hosts as f64 * (0.05 + 4.0 / (place as f64 + 32.0));
        let pagerank = 0.1 / (other as f64 + 32.0);
        // Writing to a vector cannot fail.
        let _ = write!(
            unit.text,
            "{}\t{harmonic:.0}\t{}\t{pagerank:.15}\t",
            place + 1,
            other + 1
        );
        names.push(targets.at(place), &mut unit.text);
        unit.text.push(b'\n');
    }
    unit
}
