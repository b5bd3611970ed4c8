//! Yields: what fetches of pages brought, and the new links that the next fetch of a page is expected to
//! bring.
//!
//! A fetch brings the links that the bank sees for the first time in it. A page that was fetched
//! twice or more has two sums over its fetches after the first: the days between each fetch and the
//! one before, and the new links. Both decay with a half-life of [`HALF_LIFE_DAYS`], so that the
//! rate of a page soon follows a change of its behaviour.
//!
//! [`Rates`] estimates from these sums how many new links a page brings per day. A page with few
//! observations is shrunk towards the rate of pages with a similar number of links (empirical Bayes
//! with a gamma prior):
//!
//! ```text
//! mu_0 = (sum of y + 0.05) / (sum of n + 1)                 over all pages
//! mu_b = (Y_b + 10 mu_0 w_b) / (N_b + 10)                   over the pages of bin b
//! r_i  = (y_i + 4 mu_b) / (n_i + 4)                         b is the bin of page i
//! ```
//!
//! Here y are new links and n are observed days. The bin of a page with d links is floor(log2(1 + d)), and w_b
//! is the mean number of links of the crawled pages of the bin, divided by that of all crawled pages.

use serde::{Deserialize, Serialize};

use crate::communicator::Communicator;
use crate::watch::Interrupted;

/// The days after which an observation counts half.
pub const HALF_LIFE_DAYS: u64 = 64;

/// The seconds of a day.
const DAY: u64 = 86_400;

const HALF_LIFE: u64 = HALF_LIFE_DAYS * DAY;

/// The fixed-point unit of both sums.
pub const YIELD_UNIT: u64 = 10_000;

/// The observed days that the rate of a bin counts for in the rate of a page.
const PAGE_PRIOR_DAYS: f64 = 4.0;

/// The observed days that the rate of the bank counts for in the rate of a bin.
const BIN_PRIOR_DAYS: f64 = 10.0;

/// The rate of the bank before any observation, in new links per day, counted as one day.
const PRIOR_RATE: f64 = 0.05;

/// The bits of an exponent of a half below 1.
const EXPONENT_BITS: usize = 24;

/// The powers 2^-(1/2), 2^-(1/4), ... as multiples of 2^-63. Each is the square root of the one before.
const POWERS: [u64; EXPONENT_BITS] = powers();

#[expect(
    clippy::cast_possible_truncation,
    reason = "square roots of numbers below 2^126"
)]
const fn powers() -> [u64; EXPONENT_BITS] {
    let mut powers = [0; EXPONENT_BITS];
    let mut power = 1_u64 << 62;
    let mut at = 0;
    while at < EXPONENT_BITS {
        power = ((power as u128) << 63).isqrt() as u64;
        powers[at] = power;
        at += 1;
    }
    powers
}

/// Sums over the fetches of a page after the first, decayed to the time of the last one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Yield {
    /// The days between fetches, in ten-thousandths.
    pub days: u64,
    /// The new links, in ten-thousandths.
    pub new: u64,
}

impl Yield {
    /// Returns the sums this many seconds later. Integers alone, so that equal sums stay equal on every machine.
    #[must_use]
    pub fn decayed(self, seconds: u64) -> Self {
        let halvings = seconds / HALF_LIFE;
        if halvings >= u64::from(u64::BITS) {
            return Self::default();
        }
        // The rest of the exponent in binary: each bit that is set is a factor.
        let rest = ((seconds % HALF_LIFE) << EXPONENT_BITS) / HALF_LIFE;
        let mut factor = u128::from(1_u64 << 63);
        for (at, power) in POWERS.iter().enumerate() {
            if rest >> (EXPONENT_BITS - 1 - at) & 1 == 1 {
                factor = (factor * u128::from(*power)) >> 63;
            }
        }
        let half = 1_u128 << 62;
        let scaled = |sum: u64| {
            let scaled = (u128::from(sum >> halvings) * factor + half) >> 63;
            u64::try_from(scaled).unwrap_or(u64::MAX)
        };
        Self {
            days: scaled(self.days),
            new: scaled(self.new),
        }
    }

    /// Returns the sums after another fetch, this many seconds after the previous one, that brought `new` links.
    #[must_use]
    pub fn after_fetch(self, seconds: u64, new: u64) -> Self {
        let decayed = self.decayed(seconds);
        let days = u128::from(seconds) * u128::from(YIELD_UNIT) / u128::from(DAY);
        let days = u64::try_from(days).unwrap_or(u64::MAX);
        Self {
            days: decayed.days.saturating_add(days),
            new: decayed.new.saturating_add(new.saturating_mul(YIELD_UNIT)),
        }
    }
}

/// What is observed of a crawled page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Observation {
    /// The sums of the page, decayed to the present.
    pub sums: Yield,
    /// The number of links of the page.
    pub links: u64,
}

/// First fetches of pages that the bank knew before.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FirstFetches {
    /// The pages that were tried.
    pub tried: u64,
    /// The pages whose fetch did not fail.
    pub answered: u64,
    /// The links that the bank saw for the first time in these fetches.
    pub new: u64,
}

/// Number of bins of pages by their links.
const BINS: usize = u64::BITS as usize + 1;

/// Expected numbers of new links.
#[derive(Clone, PartialEq, Debug)]
pub struct Rates {
    /// The rate of the pages of a bin, in new links per day.
    bins: [f64; BINS],
    first_fetch: f64,
}

/// Returns the bin of a page with this number of links.
const fn bin(links: u64) -> usize {
    match links.checked_add(1) {
        Some(links) => links.ilog2() as usize,
        None => BINS - 1,
    }
}

/// Sums over the pages of a bin.
#[derive(Clone, Copy, Default)]
struct Bin {
    days: u128,
    new: u128,
    links: u128,
    pages: u128,
}

/// What rates are estimated from: sums over crawled pages, by bin.
struct RateSums([Bin; BINS]);

impl Default for RateSums {
    fn default() -> Self {
        Self([Bin::default(); BINS])
    }
}

impl RateSums {
    fn add(&mut self, pages: impl IntoIterator<Item = Observation>) {
        for page in pages {
            let sum = &mut self.0[bin(page.links)];
            sum.days += u128::from(page.sums.days);
            sum.new += u128::from(page.sums.new);
            sum.links += u128::from(page.links);
            sum.pages += 1;
        }
    }

    /// Returns the sums of all processes.
    fn of_all(&self, communicator: &dyn Communicator) -> Result<Self, Interrupted> {
        let bins = self.0.iter();
        let numbers = bins.flat_map(|bin| [bin.days, bin.new, bin.links, bin.pages]);
        let message: Vec<u8> = numbers.flat_map(u128::to_le_bytes).collect();
        let mut all = Self::default();
        for message in communicator.all_to_all(vec![message; communicator.processes()])? {
            let (numbers, rest) = message.as_chunks::<16>();
            if numbers.len() != 4 * BINS || !rest.is_empty() {
                return Err(communicator.fail("the sums of a process cannot be decoded"));
            }
            let number = |bytes: &[u8; 16]| u128::from_le_bytes(*bytes);
            for (sum, bin) in all.0.iter_mut().zip(numbers.chunks_exact(4)) {
                sum.days = sum.days.saturating_add(number(&bin[0]));
                sum.new = sum.new.saturating_add(number(&bin[1]));
                sum.links = sum.links.saturating_add(number(&bin[2]));
                sum.pages = sum.pages.saturating_add(number(&bin[3]));
            }
        }
        Ok(all)
    }
}

impl Rates {
    /// Estimates rates from all crawled pages and the first fetches of known ones. Cost: one pass.
    #[must_use]
    pub fn new(pages: impl IntoIterator<Item = Observation>, first: FirstFetches) -> Self {
        let mut sums = RateSums::default();
        sums.add(pages);
        Self::from_sums(&sums, first)
    }

    /// Estimates rates from the sums of all crawled pages.
    fn from_sums(sums: &RateSums, first: FirstFetches) -> Self {
        let sums = sums.0;
        let unit = YIELD_UNIT as f64;
        let total = |of: fn(&Bin) -> u128| sums.iter().map(of).sum::<u128>() as f64;
        let days = total(|bin| bin.days) / unit;
        let new = total(|bin| bin.new) / unit;
        let links = total(|bin| bin.links);
        let pages = total(|bin| bin.pages);
        let rate = (new + PRIOR_RATE) / (days + 1.0);
        let bins = sums.map(|bin| {
            // A bin without pages, and a web without links, have no mean to compare.
            let weight = if bin.pages > 0 && links > 0.0 {
                (bin.links as f64 / bin.pages as f64) / (links / pages)
            } else {
                1.0
            };
            (bin.new as f64 / unit + BIN_PRIOR_DAYS * rate * weight)
                / (bin.days as f64 / unit + BIN_PRIOR_DAYS)
        });
        let per_fetch = (first.new as f64 + PRIOR_RATE) / (first.answered as f64 + 1.0);
        let answering =
            (first.answered as f64 + 1.0) / (first.tried.max(first.answered) as f64 + 1.0);
        Self {
            bins,
            first_fetch: per_fetch * answering,
        }
    }

    /// Returns the expected number of new links per day of a page.
    #[must_use]
    pub fn per_day(&self, page: Observation) -> f64 {
        let unit = YIELD_UNIT as f64;
        let (days, new) = (page.sums.days as f64 / unit, page.sums.new as f64 / unit);
        (new + PAGE_PRIOR_DAYS * self.bins[bin(page.links)]) / (days + PAGE_PRIOR_DAYS)
    }

    /// Returns the expected number of new links of a fetch of a crawled page, this many seconds after its last
    /// fetch, in millionths.
    #[must_use]
    pub fn of_crawled(&self, page: Observation, seconds: u64) -> i64 {
        millionths(self.per_day(page) * (seconds as f64 / DAY as f64))
    }

    /// Returns the expected number of new links of the first fetch of a page, in millionths: the mean of those
    /// that did not fail, times the share of pages whose fetch did not fail.
    #[must_use]
    pub fn of_known(&self) -> i64 {
        millionths(self.first_fetch)
    }
}

/// Returns the expected number of new links of the next fetch of each page, in millionths. A crawled page has its
/// observation, decayed to the present, and the seconds since its last fetch; a known page has none.
#[must_use]
pub fn expected_links<P>(pages: P, first: FirstFetches) -> Vec<i64>
where
    P: Iterator<Item = Option<(Observation, u64)>> + Clone,
{
    let observed = pages.clone().flatten().map(|(observation, _)| observation);
    let rates = Rates::new(observed, first);
    expected_by(&rates, pages)
}

/// Returns what [`expected_links`] returns, for the pages of one of several processes, which all call this at the same
/// time with the same `first`.
///
/// # Errors
///
/// If another process fails.
pub fn expected_links_of_share<P>(
    pages: P,
    first: FirstFetches,
    communicator: &dyn Communicator,
) -> Result<Vec<i64>, Interrupted>
where
    P: Iterator<Item = Option<(Observation, u64)>> + Clone,
{
    let mut sums = RateSums::default();
    sums.add(pages.clone().flatten().map(|(observation, _)| observation));
    let rates = Rates::from_sums(&sums.of_all(communicator)?, first);
    Ok(expected_by(&rates, pages))
}

/// Returns the expected number of new links of the next fetch of each page, by rates.
fn expected_by(rates: &Rates, pages: impl Iterator<Item = Option<(Observation, u64)>>) -> Vec<i64> {
    let of_known = rates.of_known();
    let value = |page: Option<(Observation, u64)>| match page {
        Some((observation, seconds)) => rates.of_crawled(observation, seconds),
        None => of_known,
    };
    pages.map(value).collect()
}

/// The largest expected number of new links. Sums over all pages stay far below 2^63 millionths.
const MOST: f64 = 1e6;

#[expect(
    clippy::cast_possible_truncation,
    reason = "at most 10^12, and never NaN"
)]
fn millionths(value: f64) -> i64 {
    (value.min(MOST) * 1e6).round() as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::communicator::of_threads;
    use proptest::prelude::*;

    fn page(days: u64, new: u64, links: u64) -> Observation {
        Observation {
            sums: Yield {
                days: days * YIELD_UNIT,
                new: new * YIELD_UNIT,
            },
            links,
        }
    }

    #[test]
    fn a_half_life_halves() {
        let sums = Yield {
            days: 30 * YIELD_UNIT,
            new: 8 * YIELD_UNIT,
        };
        assert_eq!(sums.decayed(0), sums);
        let half = Yield {
            days: 15 * YIELD_UNIT,
            new: 4 * YIELD_UNIT,
        };
        assert_eq!(sums.decayed(HALF_LIFE), half);
        // 2^-(1/2) of 300,000 and 80,000.
        let root = Yield {
            days: 212_132,
            new: 56_569,
        };
        assert_eq!(sums.decayed(HALF_LIFE / 2), root);
        assert_eq!(sums.decayed(u64::MAX), Yield::default());
    }

    #[test]
    fn a_fetch_adds_its_days_and_links() {
        let once = Yield::default().after_fetch(2 * DAY, 3);
        assert_eq!(
            once,
            Yield {
                days: 20_000,
                new: 30_000
            }
        );
        let twice = once.after_fetch(HALF_LIFE, 0);
        assert_eq!(
            twice,
            Yield {
                days: 10_000 + 640_000,
                new: 15_000
            }
        );
    }

    #[test]
    fn before_any_observation_rates_are_the_prior() {
        let pages = [page(0, 0, 1), page(0, 0, 1), page(0, 0, 4)];
        let rates = Rates::new(pages, FirstFetches::default());
        // mean of all: 2; mean of the bins: 1 and 4
        assert!((rates.per_day(pages[0]) - 0.025).abs() < 1e-12);
        assert!((rates.per_day(pages[2]) - 0.1).abs() < 1e-12);
        assert_eq!(rates.of_crawled(pages[0], 2 * DAY), 50_000);
        assert_eq!(rates.of_known(), 50_000);
        // A web without links, and one without pages.
        let rates = Rates::new([page(0, 0, 0)], FirstFetches::default());
        assert!((rates.per_day(page(0, 0, 0)) - 0.05).abs() < 1e-12);
        let rates = Rates::new([], FirstFetches::default());
        assert!((rates.per_day(page(0, 0, 9)) - 0.05).abs() < 1e-12);
    }

    /// Computed by hand from the formulas above.
    #[test]
    fn observed_rates_are_shrunk() {
        let pages = [page(6, 12, 1), page(3, 0, 1), page(10, 5, 6)];
        let first = FirstFetches {
            tried: 9,
            answered: 4,
            new: 20,
        };
        let rates = Rates::new(pages, first);
        let mu_0 = (17.0 + 0.05) / (19.0 + 1.0);
        let mean = 8.0 / 3.0;
        let mu_1 = (12.0 + 10.0 * mu_0 * (1.0 / mean)) / (9.0 + 10.0);
        let mu_2 = (5.0 + 10.0 * mu_0 * (6.0 / mean)) / (10.0 + 10.0);
        let expected = [
            (12.0 + 4.0 * mu_1) / 10.0,
            4.0 * mu_1 / 7.0,
            (5.0 + 4.0 * mu_2) / 14.0,
        ];
        for (page, expected) in pages.into_iter().zip(expected) {
            assert!((rates.per_day(page) - expected).abs() < 1e-12);
        }
        // (20.05 / 5) * (5 / 10)
        assert_eq!(rates.of_known(), 2_005_000);
    }

    proptest! {
        #[test]
        fn several_processes_expect_the_same(
            pages in proptest::collection::vec(
                proptest::option::of((0_u64..400, 0_u64..90, 0_u64..3000, 0_u64..1_000_000)),
                0..60,
            ),
            processes in 1_usize..5,
            tried in 0_u64..50,
        ) {
            let first = FirstFetches { tried, answered: tried / 2, new: tried * 3 };
            let pages: Vec<Option<(Observation, u64)>> = pages
                .into_iter()
                .map(|of| of.map(|(days, new, links, seconds)| (page(days, new, links), seconds)))
                .collect();
            let all = expected_links(pages.iter().copied(), first);
            let communicators = of_threads(processes);
            let shares: Vec<Vec<i64>> = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..processes)
                    .map(|process| {
                        let communicator = &*communicators[process];
                        let own = pages.iter().copied().skip(process).step_by(processes);
                        scope.spawn(move || expected_links_of_share(own, first, communicator).unwrap())
                    })
                    .collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            for (at, expected) in all.into_iter().enumerate() {
                prop_assert_eq!(shares[at % processes][at / processes], expected);
            }
        }

        #[test]
        fn decay_is_that_of_floating_point(
            days in 0_u64..1 << 40,
            new in 0_u64..1 << 40,
            seconds in 0_u64..20 * HALF_LIFE,
        ) {
            let decayed = Yield { days, new }.decayed(seconds);
            let factor = (-(seconds as f64) / HALF_LIFE as f64).exp2();
            for (sum, decayed) in [(days, decayed.days), (new, decayed.new)] {
                let expected = sum as f64 * factor;
                prop_assert!((decayed as f64 - expected).abs() <= 1.5 + 1e-7 * expected);
            }
        }

        /// Sums never grow by waiting, and values are finite whatever the input.
        #[test]
        fn any_input_is_valid(
            pages in prop::collection::vec((any::<u64>(), any::<u64>(), any::<u64>()), 0..8),
            seconds in any::<u64>(),
            of_first in any::<[u64; 3]>(),
        ) {
            let pages = pages.into_iter().map(|(days, new, links)| Observation {
                sums: Yield { days, new },
                links,
            });
            let pages: Vec<Observation> = pages.collect();
            let [tried, answered, new] = of_first;
            let rates = Rates::new(pages.iter().copied(), FirstFetches { tried, answered, new });
            for page in &pages {
                let decayed = page.sums.decayed(seconds);
                prop_assert!(decayed.days <= page.sums.days && decayed.new <= page.sums.new);
                let fetched = page.sums.after_fetch(seconds, seconds);
                prop_assert!(fetched.days >= decayed.days && fetched.new >= decayed.new);
                prop_assert!((0..=1_000_000_000_000).contains(&rates.of_crawled(*page, seconds)));
            }
        }
    }
}
