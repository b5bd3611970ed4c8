//! The tables of a generated web: a few numbers per site, none per page.

use rand::RngExt;
use rand_distr::{Distribution, Pareto};

use super::draw::{Draw, Purpose};
use super::options::{SynthError, SynthOptions};
use super::page_schedule::PageSchedule;
use super::site::Site;

/// A topic: a run of sites in the order of sites. Runs overlap.
#[derive(Clone, Copy, Debug)]
pub(super) struct Topic {
    pub(super) start: u32,
    pub(super) len: u32,
    /// The probability that a blogroll contains a target of the topic.
    pub(super) density: f64,
}

/// A generated crawl; stores a few numbers per site.
#[derive(Debug)]
pub struct Web {
    pub(super) options: SynthOptions,
    pub(super) key: Draw,
    pub(super) life: PageSchedule,
    /// The number of pages of each site on day 0; sites are numbered by size.
    pub(super) sizes: Vec<u32>,
    /// Site numbers in the order in which topics are cut, and the position of each site in this order.
    pub(super) order: Vec<u32>,
    pub(super) place: Vec<u32>,
    pub(super) topics: Vec<Topic>,
    /// The share of sections with a blogroll.
    pub(super) roll_share: f64,
    /// The factor applied to the drawn degree of a page.
    pub(super) degree_scale: f64,
}

/// Every 24th site, from the fifth, is a spam site; six consecutive ones are a farm.
const SPAM_FIRST: u32 = 4;
const SPAM_STEP: u32 = 24;
pub(super) const FARM: u32 = 6;

impl Web {
    /// Draws the sites and topics of a web.
    ///
    /// Cost: O(sites) time and memory, whatever the number of pages.
    pub fn new(options: &SynthOptions) -> Result<Self, SynthError> {
        options.check()?;
        let key = Draw::new(options.rng_seed);
        let sites = options.site_count();
        let mut order: Vec<u32> = (0..sites).collect();
        let mut rng = key.child(Purpose::Order).stream();
        for last in (1..order.len()).rev() {
            let other = rng.random_range(0..=last);
            order.swap(last, other);
        }
        let mut place = vec![0; order.len()];
        for (position, &site) in (0..).zip(&order) {
            if let Some(slot) = place.get_mut(site as usize) {
                *slot = position;
            }
        }
        let mut web = Self {
            key,
            life: PageSchedule::new(options),
            sizes: site_sizes(options.pages, sites),
            topics: cut_topics(key, sites),
            order,
            place,
            roll_share: 0.5,
            degree_scale: 1.0,
            options: options.clone(),
        };
        web.calibrate();
        Ok(web)
    }

    /// Returns the options of the web.
    #[must_use]
    pub const fn options(&self) -> &SynthOptions {
        &self.options
    }

    pub(super) fn site_count(&self) -> u32 {
        self.options.site_count()
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the square root of a 32-bit number"
    )]
    pub(super) fn site(&self, number: u32) -> Site {
        let key = self.key.child(Purpose::Site).at(u64::from(number));
        let size = self.sizes.get(number as usize).copied().unwrap_or(1);
        let wanted = 1.0 + 0.6 * f64::from(size).sqrt();
        Site {
            number,
            key,
            size,
            sections: (wanted as u32).min(size.saturating_sub(1)),
            spam: Self::spam(number),
        }
    }

    fn spam(number: u32) -> bool {
        number % SPAM_STEP == SPAM_FIRST
    }

    /// Returns the number of spam sites.
    pub(super) fn spam_sites(&self) -> u32 {
        (self.site_count() + SPAM_STEP - 1 - SPAM_FIRST) / SPAM_STEP
    }

    /// Returns the number of the spam site with this index.
    pub(super) const fn spam_site(index: u32) -> u32 {
        SPAM_FIRST + SPAM_STEP * index
    }

    pub(super) const fn spam_index(number: u32) -> u32 {
        number / SPAM_STEP
    }

    /// Returns the topics of a site: those whose runs contain it.
    pub(super) fn topics_of(&self, site: u32) -> impl Iterator<Item = (usize, Topic)> {
        let place = self.place.get(site as usize).copied().unwrap_or(0);
        let after = self.topics.partition_point(|topic| topic.start <= place);
        (after.saturating_sub(4)..after)
            .filter_map(move |index| Some((index, *self.topics.get(index)?)))
            .filter(move |(_, topic)| place < topic.start + topic.len)
    }

    /// Returns the site at a position of the order, which wraps around.
    pub(super) fn at_place(&self, place: u32) -> u32 {
        let place = place as usize % self.order.len().max(1);
        self.order.get(place).copied().unwrap_or(0)
    }
}

/// Returns the sizes of sites, proportional to (rank + q)^(-1.3125), a power that requires only square
/// roots and is thus the same on every machine. q grows with the number of sites, so that no site has a
/// tenth of all pages of a large web. Every site has at least one page; pages lost by rounding are added
/// to the largest sites.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "shares of at most a billion pages"
)]
fn site_sizes(pages: u64, count: u32) -> Vec<u32> {
    let shift = 1.6 + f64::from(count) / 2000.0;
    let weight = |rank: u32| {
        let x = f64::from(rank) + shift;
        let quarter = x.sqrt().sqrt();
        1.0 / (x * quarter * quarter.sqrt().sqrt())
    };
    let total: f64 = (0..count).map(weight).sum();
    let spare = (pages - u64::from(count).min(pages)) as f64;
    let mut sizes: Vec<u32> = (0..count)
        .map(|rank| 1 + (spare * weight(rank) / total) as u32)
        .collect();
    let mut missing = pages
        - sizes
            .iter()
            .map(|&size| u64::from(size))
            .sum::<u64>()
            .min(pages);
    while missing > 0 {
        for size in &mut sizes {
            if missing == 0 {
                break;
            }
            *size += 1;
            missing -= 1;
        }
    }
    sizes
}

/// Cuts the order of sites into overlapping runs with Pareto-distributed lengths of 4 to 60 sites.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "lengths of 4 to 60"
)]
fn cut_topics(key: Draw, sites: u32) -> Vec<Topic> {
    let lengths = Pareto::new(4.0, 1.1).ok();
    let mut topics = Vec::new();
    let mut start = 0;
    while start < sites {
        let draw = key.child(Purpose::Topic).at(u64::from(start));
        let drawn = lengths.as_ref().map_or(4.0, |lengths: &Pareto<f64>| {
            lengths.sample(&mut draw.stream())
        });
        let len = drawn.min(60.0) as u32;
        topics.push(Topic {
            start,
            len,
            density: 0.35 + 0.6 * draw.at(1).unit(),
        });
        start += (len * 2 / 3).max(2);
    }
    topics
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_add_up_and_fall() {
        for (pages, sites) in [(1, 1), (10, 10), (1000, 27), (100_000, 2777)] {
            let sizes = site_sizes(pages, sites);
            assert_eq!(sizes.len(), sites as usize);
            assert_eq!(sizes.iter().map(|&s| u64::from(s)).sum::<u64>(), pages);
            assert!(sizes.is_sorted_by(|a, b| a >= b) && sizes.iter().all(|&s| s > 0));
        }
    }

    #[test]
    fn every_site_has_a_topic_and_some_have_two() {
        let web = Web::new(&SynthOptions::new(20_000)).unwrap();
        let counts: Vec<usize> = (0..web.site_count())
            .map(|site| web.topics_of(site).count())
            .collect();
        assert!(counts.iter().all(|&n| n >= 1));
        assert!(counts.iter().filter(|&&n| n > 1).count() > counts.len() / 5);
    }

    #[test]
    fn spam_sites_are_counted() {
        for pages in [36, 36 * 4, 36 * 5, 36 * 29, 36 * 100] {
            let web = Web::new(&SynthOptions::new(pages)).unwrap();
            let spam: Vec<u32> = (0..web.site_count())
                .filter(|&site| web.site(site).spam)
                .collect();
            let listed: Vec<u32> = (0..web.spam_sites()).map(Web::spam_site).collect();
            assert_eq!(spam, listed);
        }
    }
}
