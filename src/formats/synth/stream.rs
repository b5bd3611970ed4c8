//! The records of a day as a stream of text, in bounded memory and the same for any number of threads.
//!
//! A day is cut into units, runs of pages that depend only on the options and the day. A fixed number of
//! units is generated in parallel and then emitted in order.

use std::fs::{self, File};
use std::io::{self, BufRead, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use super::options::{SynthError, SynthOptions};
use super::web_model::{Event, LinkDraws, Purpose, Site, Target, Web, push_number};
use crate::clock;
use rand_distr::{Distribution, Pareto};
use rayon::prelude::*;
use seedbank_algorithms::watch::Watch;

/// The number of units that are generated together.
const GROUP: usize = 24;

/// The approximate number of records of a unit.
const UNIT_RECORDS: f64 = 2048.0;

/// Pages `from..to` of a site.
struct Span {
    site: u32,
    from: u32,
    to: u32,
}

/// Cuts the pages of a web on a day into units.
struct Units<'w> {
    web: &'w Web,
    day: u32,
    pages: u32,
    site: u32,
    from: u32,
}

impl<'w> Units<'w> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at most 32 times a unit's records"
    )]
    fn new(web: &'w Web, day: u32) -> Self {
        let options = web.options();
        let share = if day == 0 {
            1.0
        } else {
            options.born_per_day
                + options.changed_per_day
                + options.gone_per_day
                + options.clicked_per_day
        };
        Self {
            web,
            day,
            pages: (UNIT_RECORDS / share.clamp(1.0 / 32.0, 1.0)) as u32,
            site: 0,
            from: 0,
        }
    }
}

impl Iterator for Units<'_> {
    type Item = Vec<Span>;

    fn next(&mut self) -> Option<Vec<Span>> {
        let mut unit = Vec::new();
        let mut room = self.pages;
        while room > 0 && self.site < self.web.site_count() {
            let site = self.web.site(self.site);
            let all = self.web.life.pages_by(&site, self.day);
            let to = all.min(self.from + room);
            unit.push(Span {
                site: self.site,
                from: self.from,
                to,
            });
            room -= to - self.from;
            self.from = to;
            if to == all {
                self.site += 1;
                self.from = 0;
            }
        }
        (!unit.is_empty()).then_some(unit)
    }
}

/// The text of a unit, possibly compressed, and its counts.
pub(super) type Block = (Vec<u8>, DayCounts);

/// Groups of blocks of a day, in order; `finish` is applied to the text of each block.
pub(super) struct Groups<'w, F> {
    units: Units<'w>,
    finish: F,
}

impl<'w, F, E> Groups<'w, F>
where
    F: Fn(Vec<u8>) -> Result<Vec<u8>, E> + Sync,
    E: Send,
{
    pub(super) fn new(web: &'w Web, day: u32, finish: F) -> Self {
        Self {
            units: Units::new(web, day),
            finish,
        }
    }
}

impl<F, E> Iterator for Groups<'_, F>
where
    F: Fn(Vec<u8>) -> Result<Vec<u8>, E> + Sync,
    E: Send,
{
    type Item = Result<Vec<Block>, E>;

    fn next(&mut self) -> Option<Self::Item> {
        let group: Vec<Vec<Span>> = self.units.by_ref().take(GROUP).collect();
        if group.is_empty() {
            return None;
        }
        let (web, day, finish) = (self.units.web, self.units.day, &self.finish);
        let blocks = group.into_par_iter().map(|spans| {
            let mut writer = RecordWriter::new(web, day);
            for Span { site, from, to } in spans {
                writer.pages(site, from, to);
            }
            Ok((finish(writer.text)?, writer.counts))
        });
        Some(blocks.collect())
    }
}

type Plain = fn(Vec<u8>) -> Result<Vec<u8>, std::convert::Infallible>;

/// A reader of a day's records as plain JSON Lines.
///
/// Memory: 24 units of about 2,048 records.
pub struct DayReader<'w> {
    groups: Groups<'w, Plain>,
    ready: std::vec::IntoIter<Block>,
    block: Vec<u8>,
    at: usize,
    counts: DayCounts,
}

impl DayReader<'_> {
    /// Returns the counts of the records generated so far.
    #[must_use]
    pub const fn counts(&self) -> &DayCounts {
        &self.counts
    }
}

impl Web {
    /// Returns a reader of a day's records; day 0 is the snapshot.
    ///
    /// The text of a day depends neither on [`SynthOptions::days`] nor on reading other days.
    pub fn day(&self, day: u32) -> Result<DayReader<'_>, SynthError> {
        let days = self.options().days;
        if day > days {
            return Err(SynthError::Day { day, days });
        }
        Ok(DayReader {
            groups: Groups::new(self, day, Ok),
            ready: Vec::new().into_iter(),
            block: Vec::new(),
            at: 0,
            counts: DayCounts::default(),
        })
    }
}

/// Returns all records of a day as text; for days that fit into memory.
pub fn day_text(options: &SynthOptions, day: u32) -> Result<String, SynthError> {
    let web = Web::new(options)?;
    let mut text = String::new();
    web.day(day)?
        .read_to_string(&mut text)
        .map_err(|source| SynthError::Write {
            path: "memory".into(),
            source,
        })?;
    Ok(text)
}

impl BufRead for DayReader<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.at == self.block.len() {
            if let Some((block, counts)) = self.ready.next() {
                self.counts.add(&counts);
                self.block = block;
                self.at = 0;
            } else if let Some(group) = self.groups.next() {
                self.ready = group.map_err(io::Error::other)?.into_iter();
            } else {
                break;
            }
        }
        Ok(self.block.get(self.at..).unwrap_or_default())
    }

    fn consume(&mut self, amount: usize) {
        self.at = (self.at + amount).min(self.block.len());
    }
}

impl Read for DayReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut ready = self.fill_buf()?;
        let count = ready.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

// Writes the records of pages as lines of JSON.

/// Counts of the records of a day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DayCounts {
    /// Records: all pages on day 0, later the sum of the following counts.
    pub records: u64,
    /// New pages; on day 0 all pages.
    pub born: u64,
    /// Gone pages that returned.
    pub returned: u64,
    /// Pages whose content changed.
    pub changed: u64,
    /// Pages that disappeared.
    pub gone: u64,
    /// Records with clicks only.
    pub clicked: u64,
    /// Links in the records.
    pub links: u64,
    /// Inter-site links among them.
    pub inter_site_links: u64,
    /// Size of the JSON Lines in bytes before compression.
    pub bytes: u64,
}

impl DayCounts {
    pub(super) fn add(&mut self, other: &Self) {
        self.records += other.records;
        self.born += other.born;
        self.returned += other.returned;
        self.changed += other.changed;
        self.gone += other.gone;
        self.clicked += other.clicked;
        self.links += other.links;
        self.inter_site_links += other.inter_site_links;
        self.bytes += other.bytes;
    }
}

/// A blogroll and its text, cached while the pages of a site are written.
type Roll = (Vec<Target>, Vec<u8>);

/// Writes the records of one site after another; caches only the blogrolls of the current site.
pub(super) struct RecordWriter<'w> {
    web: &'w Web,
    day: u32,
    draws: LinkDraws,
    clicks: Option<Pareto<f64>>,
    rolls: Vec<Option<Roll>>,
    links: Vec<Target>,
    pub(super) text: Vec<u8>,
    pub(super) counts: DayCounts,
}

impl<'w> RecordWriter<'w> {
    pub(super) fn new(web: &'w Web, day: u32) -> Self {
        Self {
            web,
            day,
            draws: LinkDraws::new(web),
            clicks: Pareto::new(1.0, 0.9).ok(),
            rolls: Vec::new(),
            links: Vec::new(),
            text: Vec::new(),
            counts: DayCounts::default(),
        }
    }

    /// Writes the day's records of pages `from..to` of a site.
    pub(super) fn pages(&mut self, number: u32, from: u32, to: u32) {
        let site = self.web.site(number);
        self.rolls.clear();
        self.rolls.resize(site.sections.max(1) as usize, None);
        let start = self.text.len();
        for page in from..to {
            let event = if self.day == 0 {
                Some(Event::Born)
            } else {
                self.web.life.event(&site, page, self.day)
            };
            let Some(event) = event else { continue };
            self.counts.records += 1;
            self.text.extend_from_slice(b"{\"url\":\"");
            self.web
                .push_url(Target::Page(number, page), &mut self.text);
            self.text.push(b'"');
            match event {
                Event::Gone => {
                    self.counts.gone += 1;
                    self.text.extend_from_slice(b",\"gone\":true");
                    self.fetched(&site, page);
                }
                Event::Clicked => {
                    self.counts.clicked += 1;
                    let clicks = self.clicks(&site, page, self.day);
                    self.field(b",\"clicks\":", clicks);
                }
                Event::Born => {
                    self.counts.born += 1;
                    self.content(&site, page);
                }
                Event::Returned => {
                    self.counts.returned += 1;
                    self.content(&site, page);
                }
                Event::Changed => {
                    self.counts.changed += 1;
                    self.content(&site, page);
                }
            }
            self.text.extend_from_slice(b"}\n");
        }
        self.counts.bytes += (self.text.len() - start) as u64;
    }

    fn field(&mut self, name: &[u8], number: u64) {
        self.text.extend_from_slice(name);
        push_number(number, &mut self.text);
    }

    /// Returns the clicks of a page, Pareto-distributed with tail 0.9: mostly one or two, rarely thousands.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "limited to a million"
    )]
    fn clicks(&self, site: &Site, page: u32, day: u32) -> u64 {
        let draw = site
            .key
            .at(u64::from(page))
            .child(Purpose::Clicks)
            .at(u64::from(day));
        self.clicks
            .map_or(1.0, |clicks| clicks.sample(&mut draw.stream()).min(1e6)) as u64
    }

    /// Writes outlinks, attributes, digest and fetch time of a page.
    fn content(&mut self, site: &Site, page: u32) {
        let web = self.web;
        let day = self.day;
        let key = site.key.at(u64::from(page));
        let section = site.section(page);
        let mut links = std::mem::take(&mut self.links);
        self.text.extend_from_slice(b",\"outlinks\":[");
        let mut first = true;
        web.intra_links(site, page, day, &self.draws, &mut links);
        self.counts.links += links.len() as u64;
        push_links(web, &links, &mut first, &mut self.text);
        if let Some(slot) = self.rolls.get_mut(section as usize) {
            let (roll, text) = slot.get_or_insert_with(|| {
                let roll = web.roll(site, section, day);
                let mut text = Vec::new();
                push_links(web, &roll, &mut true, &mut text);
                (roll, text)
            });
            if !roll.is_empty() {
                if !first {
                    self.text.push(b',');
                }
                first = false;
                self.text.extend_from_slice(text);
            }
            web.own_links(site, page, day, &self.draws, roll, &mut links);
            let inter = (roll.len() + links.len()) as u64;
            self.counts.links += inter;
            self.counts.inter_site_links += inter;
            push_links(web, &links, &mut first, &mut self.text);
        }
        self.links = links;
        self.text.push(b']');
        // The simulated spam classifier misses a sixth of the spam.
        if site.spam && key.child(Purpose::Spam).chance(0.84) {
            self.text.extend_from_slice(b",\"spam\":true");
        }
        if key
            .child(Purpose::Clicks)
            .chance(if page == 0 { 0.6 } else { 0.12 })
        {
            let clicks = self.clicks(site, page, day);
            self.field(b",\"clicks\":", clicks);
        }
        let given = key.child(Purpose::Given);
        if given.chance(0.02) {
            self.field(b",\"uncrawled_outlinks\":", given.at(0).popular(60).into());
        }
        // Some pages of a site have equal content.
        let digest = key.child(Purpose::Digest);
        let digest = if digest.chance(0.03) && !site.stays(page) {
            site.key
                .child(Purpose::Digest)
                .at(digest.at(0).popular(8).into())
        } else {
            digest.at(1 + u64::from(day))
        };
        self.text.extend_from_slice(b",\"digest\":\"");
        push_hex(digest.bits(), &mut self.text);
        self.text.push(b'"');
        self.fetched(site, page);
    }

    /// Writes the time at which a page is fetched on the day.
    fn fetched(&mut self, site: &Site, page: u32) {
        let key = site.key.at(u64::from(page)).child(Purpose::Fetched);
        let second = key.at(u64::from(self.day)).below32(86_400);
        self.text.extend_from_slice(b",\"fetched\":\"");
        push_time(self.day, second, &mut self.text);
        self.text.push(b'"');
    }
}

fn push_links(web: &Web, links: &[Target], first: &mut bool, out: &mut Vec<u8>) {
    for &link in links {
        if !std::mem::take(first) {
            out.push(b',');
        }
        out.push(b'"');
        web.push_url(link, out);
        out.push(b'"');
    }
}

fn push_hex(number: u64, out: &mut Vec<u8>) {
    for shift in (0..16).rev() {
        let digit = (number >> (4 * shift)).to_le_bytes()[0] & 15;
        out.push(b"0123456789abcdef"[usize::from(digit)]);
    }
}

/// Appends a time on a day counted from 2026-01-01, as RFC 3339 in UTC.
fn push_time(day: u32, second: u32, out: &mut Vec<u8>) {
    /// 2026-01-01, in seconds since 1970.
    const BEGIN: u64 = 1_767_225_600;
    let at = BEGIN + u64::from(day) * 86_400 + u64::from(second);
    out.extend_from_slice(clock::time(at).as_bytes());
}

// Writes a crawl to a directory: a snapshot and daily deltas, one compressed file each.

/// The zstd level: generating must not be slower than reading.
const LEVEL: i32 = 1;

/// A written file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DayFile {
    /// The path; `day-000.jsonl.zst` is the snapshot.
    pub path: PathBuf,
    /// The day, from 0.
    pub day: u32,
    /// The size of the file in bytes, compressed.
    pub file_bytes: u64,
    /// Counts of the file's records.
    pub counts: DayCounts,
}

/// The result of [`generate`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SynthSummary {
    /// The number of crawled sites.
    pub sites: u32,
    /// The files in the order of days.
    pub files: Vec<DayFile>,
}

/// Removes the files written so far when dropped, unless [`finish`](Self::finish) was called.
pub(super) struct OutputFiles {
    dir: PathBuf,
    created_dir: bool,
    paths: Vec<PathBuf>,
    done: bool,
}

impl OutputFiles {
    /// Starts with no files. `created_dir` tells whether the directory was created for them.
    pub(super) fn new(dir: &Path, created_dir: bool) -> Self {
        Self {
            dir: dir.to_path_buf(),
            created_dir,
            paths: Vec::new(),
            done: false,
        }
    }

    /// Adds a file; returns its path, and its temporary path until it is complete.
    pub(super) fn add(&mut self, name: &str) -> (PathBuf, PathBuf) {
        let path = self.dir.join(name);
        let temporary = self.dir.join(format!(".{name}.part"));
        self.paths.extend([temporary.clone(), path.clone()]);
        (path, temporary)
    }

    /// Syncs the directory and keeps the files.
    pub(super) fn finish(mut self) -> Result<(), SynthError> {
        File::open(&self.dir)
            .and_then(|dir| dir.sync_all())
            .map_err(|e| write_error(&self.dir, e))?;
        self.done = true;
        Ok(())
    }
}

impl Drop for OutputFiles {
    fn drop(&mut self) {
        if self.done {
            return;
        }
        // Errors are ignored: the original error is reported.
        for path in &self.paths {
            let _ = fs::remove_file(path);
        }
        if self.created_dir {
            let _ = fs::remove_dir(&self.dir);
        }
    }
}

/// Writes a crawl to a new or empty directory: `day-000.jsonl.zst`, a snapshot, and
/// [`SynthOptions::days`] daily deltas.
///
/// Files appear only when complete (temporary name, sync, rename); after an error or interrupt none are
/// left. The bytes depend only on the options, and those of a day not on the number of days. The watch
/// gets one stage per day and advances by pages.
pub fn generate(
    dir: &Path,
    options: &SynthOptions,
    watch: &dyn Watch,
) -> Result<SynthSummary, SynthError> {
    let web = Web::new(options)?;
    let mut written = OutputFiles::new(dir, create_empty_directory(dir)?);
    let mut files = Vec::new();
    for day in 0..=options.days {
        let (path, temporary) = written.add(&format!("day-{day:03}.jsonl.zst"));
        let (counts, file_bytes) = write_day(&web, day, &temporary, watch)?;
        fs::rename(&temporary, &path).map_err(|e| write_error(&path, e))?;
        files.push(DayFile {
            path,
            day,
            file_bytes,
            counts,
        });
    }
    written.finish()?;
    Ok(SynthSummary {
        sites: web.site_count(),
        files,
    })
}

pub(super) fn write_error(path: &Path, source: io::Error) -> SynthError {
    SynthError::Write {
        path: path.to_path_buf(),
        source,
    }
}

/// Creates a directory, or checks that an existing one is empty. Returns whether it was created.
pub(super) fn create_empty_directory(dir: &Path) -> Result<bool, SynthError> {
    match fs::read_dir(dir) {
        Ok(mut entries) => match entries.next() {
            None => Ok(false),
            Some(_) => Err(SynthError::NotEmpty(dir.to_path_buf())),
        },
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            fs::create_dir_all(dir).map_err(|e| write_error(dir, e))?;
            Ok(true)
        }
        Err(e) if e.kind() == io::ErrorKind::NotADirectory => {
            Err(SynthError::NotADirectory(dir.to_path_buf()))
        }
        Err(e) => Err(write_error(dir, e)),
    }
}

/// Writes a day. Each unit is compressed in parallel as a separate zstd frame.
fn write_day(
    web: &Web,
    day: u32,
    path: &Path,
    watch: &dyn Watch,
) -> Result<(DayCounts, u64), SynthError> {
    watch.stage(
        &format!("day {day}"),
        (day == 0).then_some(web.options().pages),
    );
    let failed = |e| write_error(path, e);
    let mut out = BufWriter::new(File::create_new(path).map_err(failed)?);
    let mut counts = DayCounts::default();
    let mut bytes = 0;
    let compress = |text: Vec<u8>| zstd::bulk::compress(&text, LEVEL);
    for group in Groups::new(web, day, compress) {
        watch.proceed()?;
        for (block, block_counts) in group.map_err(failed)? {
            out.write_all(&block).map_err(failed)?;
            bytes += block.len() as u64;
            watch.advance(block_counts.records);
            counts.add(&block_counts);
        }
    }
    let file = out.into_inner().map_err(|e| failed(e.into_error()))?;
    file.sync_all().map_err(failed)?;
    Ok((counts, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_dates() {
        let date = |day, second| {
            let mut out = Vec::new();
            push_time(day, second, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(date(0, 0), "2026-01-01T00:00:00Z");
        assert_eq!(date(58, 86_399), "2026-02-28T23:59:59Z");
        assert_eq!(date(365, 3_661), "2027-01-01T01:01:01Z");
        // 2028 is a leap year.
        assert_eq!(date(365 * 2 + 59, 0), "2028-02-29T00:00:00Z");
        assert_eq!(date(365 * 3, 0), "2028-12-31T00:00:00Z");
    }
}
