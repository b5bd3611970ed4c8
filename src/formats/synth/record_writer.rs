//! Writes the records of pages as lines of JSON.

use rand_distr::{Distribution, Pareto};

use crate::clock;

use super::address::{Target, push_number};
use super::draw::Purpose;
use super::links::LinkDraws;
use super::page_schedule::Event;
use super::site::Site;
use super::web_model::Web;

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
