//! The records of a day as a stream of text, in bounded memory and the same for any number of threads.
//!
//! A day is cut into units, runs of pages that depend only on the options and the day. A fixed number of
//! units is generated in parallel and then emitted in order.

use std::io::{self, BufRead, Read};

use rayon::prelude::*;

use super::options::{SynthError, SynthOptions};
use super::record_writer::{DayCounts, RecordWriter};
use super::web_model::Web;

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
