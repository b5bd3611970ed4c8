//! A generator of host graphs in the layout of Common Crawl.
//!
//! ```text
//! vertices-00000.txt.gz ...   id<TAB>reversed.host, sorted by host, ids from 0
//! edges-00000.txt.gz ...      from<TAB>to, ascending by both
//! ranks.txt.gz                a header, then a row for each host, by harmonic centrality
//! ```
//!
//! Name, links and rank of a host are functions of (rng seed, hosts, id), computed by counter-based random
//! numbers. A graph of any size is written as a stream, in parallel, with the same bytes for any number
//! of threads. Memory is 24 units of a few MB.
//!
//! # Shape
//!
//! The proportions are those published for March to May 2026: 262.4 million hosts of 118.8 million
//! domains with 8.1 billion edges, 30.9 per host; 75.56 % of the hosts have none ("Host- and Domain-Level
//! Web Graphs March, April, and May 2026", Common Crawl). Outdegrees of the others have the tail
//! k^(-7/3); indegrees result in about k^(-5/2). 25 % of the edges lead to hosts with nearby ids, such as
//! those of the same domain, 30 % to the most popular hosts, and the others to all hosts by popularity.
//! Popularity and names are independent. Most domains have one host; every fiftieth run of 65,536 hosts
//! is a single domain; the others have up to 1,024 hosts, with the tail of outdegrees.
//!
//! Positions by harmonic centrality are the ranks by popularity; the values decrease with the position
//! but are not the centralities of the graph. Hosts are in reserved domains.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::options::{SynthError, check_range};
use super::stream::{OutputFiles, create_empty_directory, write_error};
use super::web_model::{Draw, Purpose};
use flate2::Compression;
use flate2::write::GzEncoder;
use rayon::prelude::*;
use seedbank_algorithms::watch::Watch;

/// The maximum number of links of a host; bounds the memory.
const MAX_LINKS: u64 = 1 << 18;

/// The size and shape of a generated graph of hosts.
#[derive(Clone, Debug, PartialEq)]
pub struct HostsOptions {
    /// The number of hosts, 1 to 1,000,000,000.
    pub hosts: u64,
    /// Mean links of a host, including hosts without links; 0 to 200. Limited by the number of hosts in small
    /// graphs.
    pub links: f64,
    /// Share of hosts without links; 0 to 1.
    pub dangling: f64,
    /// The seed of all random numbers.
    pub rng_seed: u64,
}

impl HostsOptions {
    /// Creates options with the published proportions.
    #[must_use]
    pub fn new(hosts: u64) -> Self {
        Self {
            hosts,
            links: 8_100.0 / 262.4,
            dangling: 0.7556,
            rng_seed: 0,
        }
    }

    fn check(&self) -> Result<(), SynthError> {
        check_range("hosts", self.hosts as f64, 1.0, 1e9)?;
        check_range("links", self.links, 0.0, 200.0)?;
        check_range("dangling", self.dangling, 0.0, 1.0)
    }
}

// Writes a host graph to a directory: vertices and edges in parts, and ranks, as gzip.
//
// A part is a sequence of gzip members that are generated and compressed independently.

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

// Links and popularity of hosts.

/// Cumulative shares of links: to hosts near by, and to these or popular hosts.
const NEAR: f64 = 0.25;
const NEAR_OR_HEAD: f64 = 0.55;

/// The popular hosts are this fraction (1 / 64) of all hosts.
const HEAD: u64 = 64;

/// Sample size and number of rounds of the calibration.
const SAMPLE: u64 = 100;
const ROUNDS: usize = 3;

/// The links of all hosts of a graph.
#[derive(Clone, Debug)]
struct Targets {
    hosts: u64,
    dangling: f64,
    /// The minimum outdegree before rounding, of hosts with links.
    min: f64,
    /// The maximum outdegree.
    max: u64,
    /// Host id = popularity * `factor` + `offset`, modulo the number of hosts.
    factor: u64,
    offset: u64,
    /// The start of the sequence of degrees.
    start: u64,
    draw: Draw,
}

impl Targets {
    fn new(options: &HostsOptions) -> Self {
        let hosts = options.hosts;
        let draw = Draw::new(options.rng_seed).child(Purpose::Target);
        let mut targets = Self {
            hosts,
            dangling: options.dangling,
            min: 0.0,
            max: MAX_LINKS.min(hosts - 1),
            factor: factor(hosts),
            offset: draw.child(Purpose::Order).below(hosts),
            start: draw.child(Purpose::Degree).bits(),
            draw,
        };
        targets.calibrate(options.links);
        targets
    }

    /// Sets the scale of degrees so that the mean number of distinct links per host is `links`.
    ///
    /// The mean is measured on a sample in which every host represents the same number of links, so that it
    /// includes the few hosts with the highest degrees.
    fn calibrate(&mut self, links: f64) {
        let linking = 1.0 - self.dangling;
        if self.max == 0 || linking <= 0.0 || links <= 0.0 {
            self.dangling = 1.0;
            return;
        }
        let mut wanted = links / linking;
        let mut out = Vec::new();
        for _ in 0..ROUNDS {
            self.min = min_degree(wanted, self.max as f64);
            let mut found = 0.0;
            for place in 0..SAMPLE {
                let root = (place as f64 + 0.5) / SAMPLE as f64;
                let weight = 4.0 * root * root * root / SAMPLE as f64;
                let host = self.draw.child(Purpose::Order).at(place).below(self.hosts);
                self.links(host, self.degree_at(root), &mut out);
                found += weight * out.len() as f64;
            }
            if found > 0.0 {
                wanted *= (links / linking / found).clamp(0.1, 10.0);
            }
        }
        self.min = min_degree(wanted, self.max as f64);
    }

    /// Returns the degree for a uniform number in (0, 1), given as its fourth root.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the float is positive and at most the maximum degree"
    )]
    fn degree_at(&self, root: f64) -> u64 {
        let degree = self.min / (root * root * root);
        ((degree + 0.5).min(self.max as f64) as u64).max(1)
    }

    /// Returns the number of links of a host, including duplicates.
    ///
    /// Hosts use a low-discrepancy sequence in [0, 1), so that the share of hosts without links and the sum
    /// of degrees are as requested in graphs of any size.
    fn degree(&self, host: u64) -> u64 {
        let turn = host.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let unit = (self.start.wrapping_add(turn) >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0);
        if unit < self.dangling {
            return 0;
        }
        let unit = (unit - self.dangling) / (1.0 - self.dangling);
        self.degree_at(unit.max(1e-12).sqrt().sqrt())
    }

    /// Writes the links of a host in ascending order.
    fn links_of(&self, host: u64, out: &mut Vec<u64>) {
        self.links(host, self.degree(host), out);
    }

    /// Writes the distinct ones among `degree` links of a host.
    fn links(&self, host: u64, degree: u64, out: &mut Vec<u64>) {
        out.clear();
        let draw = self.draw.at(host);
        let window = (degree * 4).max(64).min(self.hosts);
        for slot in 0..degree {
            let draw = draw.at(slot);
            let kind = draw.unit();
            let number = draw.child(Purpose::Popular);
            let to = if kind < NEAR {
                let ahead = (host + 1 + popular(number, window)) % self.hosts;
                let behind = (host + self.hosts - ahead % self.hosts + host) % self.hosts;
                if draw.bits() & 1 == 0 { ahead } else { behind }
            } else if kind < NEAR_OR_HEAD {
                self.at(popular(number, (self.hosts / HEAD).max(1)))
            } else {
                self.at(popular(number, self.hosts))
            };
            if to != host {
                out.push(to);
            }
        }
        out.sort_unstable();
        out.dedup();
    }

    /// Returns the host with a popularity rank, from 0.
    const fn at(&self, popularity: u64) -> u64 {
        (popularity * self.factor + self.offset) % self.hosts
    }
}

/// Returns a number in 0..n with density proportional to x^(-2/3).
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the float is in 0..n"
)]
fn popular(draw: Draw, n: u64) -> u64 {
    let unit = draw.unit();
    ((unit * unit * unit * n as f64) as u64).min(n.saturating_sub(1))
}

/// Returns a number coprime to the number of hosts, near its golden section.
fn factor(hosts: u64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "less than the number of hosts"
    )]
    let start = (hosts as f64 * 0.618_033_988_749_894_9) as u64;
    let is_coprime = |factor: &u64| {
        let (mut a, mut b) = (hosts, *factor);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a == 1
    };
    (start.max(1)..=hosts).find(is_coprime).unwrap_or(1)
}

/// Returns the minimum of a truncated distribution with tail x^(-4/3), maximum `max` and this mean.
///
/// With t the cubic root of min / max, the mean is max * t^3 * (4 - 3t), which increases with t.
fn min_degree(mean: f64, max: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let t = f64::midpoint(low, high);
        if max * t * t * t * (4.0 - 3.0 * t) < mean {
            low = t;
        } else {
            high = t;
        }
    }
    max * low * low * low
}

// Names of hosts, which ascend with the ids and are computed independently of each other.
//
// A domain's label begins with the id of its first host in letters of fixed length, so that labels
// ascend and are distinct, followed by syllables. The domains of a block of 1,024 hosts are drawn in
// sequence, so finding the domain of a host costs up to a block.

/// The number of hosts of a block. Domains do not cross blocks, except those that fill a run.
const BLOCK: u64 = 1 << 10;

/// The number of hosts of a run, which may be a single domain.
const RUN: u64 = 1 << 16;

/// The share of runs that are a single domain.
const WHOLE_RUNS: f64 = 0.02;

/// The reserved top-level domains in order, with the cumulative share of hosts.
const ENDINGS: [(&str, f64); 3] = [("example", 0.6), ("invalid", 0.7), ("test", 1.0)];

/// The labels of additional hosts of small domains in order; the last ones are used first.
const COMMON_LABELS: [&str; 4] = ["blog", "m", "shop", "www"];

const SYLLABLES: [&str; 16] = [
    "ba", "co", "da", "el", "fi", "go", "in", "ka", "lo", "mar", "net", "or", "pu", "ra", "sta",
    "vi",
];

/// A range of host ids with the same domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Domain {
    first: u64,
    hosts: u64,
}

/// The names of all hosts of a graph.
#[derive(Clone, Copy, Debug)]
struct Names {
    hosts: u64,
    /// The number of letters of an id.
    letters: u32,
    draw: Draw,
}

impl Names {
    fn new(hosts: u64, rng_seed: u64) -> Self {
        Self {
            hosts,
            letters: letters(hosts),
            draw: Draw::new(rng_seed).child(Purpose::Site),
        }
    }

    /// Returns whether the run that begins with this host is a single domain.
    fn is_single_domain(&self, run: u64) -> bool {
        self.draw.child(Purpose::Section).at(run).chance(WHOLE_RUNS)
    }

    /// Returns the domain that begins with this host.
    fn domain_from(&self, first: u64) -> Domain {
        let run = first - first % RUN;
        let end = if first == run && self.is_single_domain(run) {
            run + RUN
        } else {
            let unit = self.draw.child(Purpose::Degree).at(first).unit();
            let block = first - first % BLOCK + BLOCK;
            (first + size(unit)).min(block)
        };
        Domain {
            first,
            hosts: end.min(self.hosts) - first,
        }
    }

    /// Returns the domain of a host.
    fn domain_of(&self, host: u64) -> Domain {
        let run = host - host % RUN;
        let mut first = if self.is_single_domain(run) {
            run
        } else {
            host - host % BLOCK
        };
        loop {
            let domain = self.domain_from(first);
            first += domain.hosts;
            if first > host {
                return domain;
            }
        }
    }

    /// Appends the name of a host with its labels reversed.
    fn push(&self, host: u64, out: &mut Vec<u8>) {
        self.push_in(self.domain_of(host), host, out);
    }

    /// Like [`Names::push`], for a known domain.
    fn push_in(&self, domain: Domain, host: u64, out: &mut Vec<u8>) {
        let place = domain.first as f64 / self.hosts as f64;
        let ending = ENDINGS.iter().find(|(_, end)| place < *end);
        out.extend_from_slice(ending.map_or("test", |(ending, _)| ending).as_bytes());
        out.push(b'.');
        put_letters(domain.first, self.letters, out);
        put_syllables(self.draw.child(Purpose::Word).at(domain.first), out);
        let Some(further) = (host - domain.first).checked_sub(1) else {
            return;
        };
        out.push(b'.');
        let usual = COMMON_LABELS.len() as u64;
        if domain.hosts - 1 <= usual {
            let after = usize::try_from(domain.hosts - 2 - further).ok();
            let label = after.and_then(|after| COMMON_LABELS.iter().rev().nth(after));
            out.extend_from_slice(label.copied().unwrap_or_default().as_bytes());
        } else {
            put_letters(further, letters(domain.hosts), out);
            put_syllables(self.draw.child(Purpose::Extra).at(host), out);
        }
    }
}

/// Converts a uniform number in [0, 1) to the number of hosts of a domain: at least k hosts with
/// probability min(1, (0.6 / k)^(4/3)).
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the float is small and positive"
)]
fn size(unit: f64) -> u64 {
    let root = unit.max(1e-12).sqrt().sqrt();
    ((0.6 / (root * root * root)).min(1e6) as u64).max(1)
}

/// Returns the number of letters that numbers below `below` require.
fn letters(below: u64) -> u32 {
    let mut letters = 1;
    let mut room = 26_u64;
    while room < below {
        room *= 26;
        letters += 1;
    }
    letters
}

/// Appends a number in base 26 with a fixed number of letters, so that texts sort like numbers.
fn put_letters(number: u64, letters: u32, out: &mut Vec<u8>) {
    for place in (0..letters).rev() {
        out.push(b'a' + (number / 26_u64.pow(place) % 26) as u8);
    }
}

/// Appends one to four syllables.
fn put_syllables(draw: Draw, out: &mut Vec<u8>) {
    for count in 0..=draw.below(4) {
        let syllable = SYLLABLES.get(((draw.bits() >> (8 + 4 * count)) % 16) as usize);
        out.extend_from_slice(syllable.copied().unwrap_or_default().as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_host_has_a_popularity() {
        for hosts in [1, 2, 3, 64, 97, 1000, 65_536] {
            let targets = Targets::new(&super::HostsOptions::new(hosts));
            let mut all: Vec<u64> = (0..hosts).map(|place| targets.at(place)).collect();
            all.sort_unstable();
            assert_eq!(all, (0..hosts).collect::<Vec<u64>>());
        }
    }

    #[test]
    fn degrees_have_the_mean_and_the_tail_asked_for() {
        for hosts in [20_000, 200_000] {
            let targets = Targets::new(&super::HostsOptions::new(hosts));
            let mut links = Vec::new();
            let mut indegrees = vec![0_u32; usize::try_from(hosts).unwrap()];
            let (mut edges, mut dangling, mut largest) = (0, 0_u32, 0);
            for host in 0..hosts {
                targets.links_of(host, &mut links);
                assert!(links.is_sorted_by(|a, b| a < b));
                assert!(links.iter().all(|to| *to < hosts && *to != host));
                edges += links.len();
                dangling += u32::from(links.is_empty());
                largest = largest.max(links.len());
                for to in &links {
                    indegrees[usize::try_from(*to).unwrap()] += 1;
                }
            }
            indegrees.sort_unstable_by(|a, b| b.cmp(a));
            let (mean, share) = (
                edges as f64 / hosts as f64,
                f64::from(dangling) / hosts as f64,
            );
            println!("{mean} {share} {largest} {:?}", &indegrees[..5]);
            assert!((mean / 30.87 - 1.0).abs() < 0.05, "{mean} links a host");
            assert!((share - 0.7556).abs() < 0.01, "{share} without links");
            // Heavy tails both ways: a hundred times the mean and more.
            assert!(largest > 3_000, "{largest}");
            assert!(indegrees[0] > 1_000, "{}", indegrees[0]);
        }
    }

    #[test]
    fn small_graphs_have_as_many_links_as_they_have_room_for() {
        for hosts in 1..20 {
            let targets = Targets::new(&HostsOptions {
                dangling: 0.0,
                ..super::HostsOptions::new(hosts)
            });
            let mut links = Vec::new();
            for host in 0..hosts {
                targets.links_of(host, &mut links);
                assert!(links.iter().all(|to| *to < hosts && *to != host));
            }
        }
    }

    #[test]
    fn names_ascend_and_are_found_alone() {
        for (hosts, rng_seed) in [(1, 0), (2, 1), (1023, 2), (30_000, 3), (200_000, 60)] {
            let names = Names::new(hosts, rng_seed);
            let mut previous = Vec::new();
            let (mut first, mut domains, mut largest) = (0, 0, 0);
            while first < hosts {
                let domain = names.domain_from(first);
                assert!(domain.hosts > 0);
                domains += 1;
                largest = largest.max(domain.hosts);
                for host in first..first + domain.hosts {
                    let mut name = Vec::new();
                    names.push_in(domain, host, &mut name);
                    assert!(previous < name, "{host} of {hosts}");
                    let mut alone = Vec::new();
                    names.push(host, &mut alone);
                    assert_eq!(name, alone);
                    previous = name;
                }
                first += domain.hosts;
            }
            assert_eq!(first, hosts);
            println!("{hosts} hosts of {domains} domains, at most {largest} of one");
            if hosts == 30_000 {
                let mean = 30_000.0 / f64::from(domains);
                assert!((1.8..2.6).contains(&mean), "{mean} hosts a domain");
            }
        }
    }

    #[test]
    fn a_run_may_be_one_domain() {
        let names = Names::new(1 << 30, 7);
        let whole = (0..1000).filter(|run| names.is_single_domain(run * RUN));
        let whole: Vec<u64> = whole.collect();
        assert!((5..50).contains(&whole.len()), "{}", whole.len());
        let first = whole[0] * RUN;
        let expected = Domain { first, hosts: RUN };
        assert_eq!(names.domain_of(first + 40_000), expected);
    }
}
