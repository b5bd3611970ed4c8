//! Birth, changes, disappearance and return of pages, as pure functions of site, page and day.
//!
//! - Births: `floor(size * rate * day + phase)` pages of a site are born by a day, in 32-bit fixed point,
//!   so the day of a page's birth takes one division.
//! - Deaths: a page's random number is compared with the share of pages that survive its age (geometric
//!   lifetimes: the same fraction of live pages disappears every day).
//! - One gone page in 25 returns after 3 to 32 days and then stays.
//! - Changes: 30 % of the pages change 7 times as often as the others, since studies find that the past
//!   change rate of a page predicts its future one. The mean is the configured rate.

use super::draw::Purpose;
use super::options::SynthOptions;
use super::site::Site;

/// An event of a page on a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Born,
    Returned,
    Changed,
    Gone,
    Clicked,
}

/// The schedule of every page.
#[derive(Debug)]
pub(super) struct PageSchedule {
    born_per_day: u64,
    /// `survivors[age]`: a page is gone at this age if its death number is not below it.
    survivors: Vec<u64>,
    /// Daily change rate of the 30 % fast-changing pages, and of the others.
    fast_rate: f64,
    slow_rate: f64,
    click_rate: f64,
}

const ONE: u64 = 1 << 32;

impl PageSchedule {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "fractions in 0..=1 scaled to 32 and 64 bits"
    )]
    pub(super) fn new(options: &SynthOptions) -> Self {
        let mut share = 1.0_f64;
        let mut survivors = vec![u64::MAX];
        for _ in 0..options.days {
            share *= 1.0 - options.gone_per_day;
            survivors.push((share * 18_446_744_073_709_551_615.0) as u64);
        }
        let rate = options.changed_per_day;
        // 0.3 * 2.5 + 0.7 * 0.25 / 0.7 = 1; above 0.4 the faster class would need more than 1.
        let (fast_rate, slow_rate) = if rate <= 0.4 {
            (rate * 2.5, rate * (0.25 / 0.7))
        } else {
            (rate, rate)
        };
        Self {
            born_per_day: (options.born_per_day * ONE as f64) as u64,
            survivors,
            fast_rate,
            slow_rate,
            click_rate: options.clicked_per_day,
        }
    }

    /// Returns the number of pages born on a site by a day, including those of day 0.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "SynthOptions::check bounds the pages after the last day"
    )]
    pub(super) fn pages_by(&self, site: &Site, day: u32) -> u32 {
        let born = u128::from(self.born_per_day) * u128::from(site.size) * u128::from(day)
            + u128::from(Self::phase(site));
        site.size + (born >> 32) as u32
    }

    fn phase(site: &Site) -> u64 {
        site.key.child(Purpose::Birth).bits() >> 32
    }

    /// Returns the day of a page's birth; `u32::MAX` if it is never born.
    pub(super) fn birth(&self, site: &Site, page: u32) -> u32 {
        if page < site.size {
            return 0;
        }
        let daily = self.born_per_day * u64::from(site.size);
        if daily == 0 {
            return u32::MAX;
        }
        let needed = (u64::from(page - site.size) + 1) * ONE - Self::phase(site);
        u32::try_from(needed.div_ceil(daily)).unwrap_or(u32::MAX)
    }

    /// Returns the first day on which a page is gone by `day`, and the day of its return (`u32::MAX` for
    /// never); `None` if it is not gone by then.
    fn absence(&self, site: &Site, page: u32, day: u32) -> Option<(u32, u32)> {
        let birth = self.birth(site, page);
        let age = usize::try_from(day.saturating_sub(birth)).unwrap_or(usize::MAX);
        let key = site.key.at(u64::from(page));
        let death = key.child(Purpose::Death).bits().min(u64::MAX - 1);
        let known = self.survivors.get(..=age)?;
        if *known.last()? > death {
            return None;
        }
        let died = known.partition_point(|&share| share > death);
        let gone = birth.saturating_add(u32::try_from(died).unwrap_or(u32::MAX));
        let back = key.child(Purpose::Return);
        let returned = if back.chance(0.04) {
            gone.saturating_add(3 + back.at(0).below32(30))
        } else {
            u32::MAX
        };
        Some((gone, returned))
    }

    /// Returns whether a page exists on a day. Home and section pages never disappear.
    pub(super) fn alive(&self, site: &Site, page: u32, day: u32) -> bool {
        page < self.pages_by(site, day)
            && (site.stays(page)
                || self
                    .absence(site, page, day)
                    .is_none_or(|(_, returned)| returned <= day))
    }

    /// Returns the event of a page on a day after day 0.
    pub(super) fn event(&self, site: &Site, page: u32, day: u32) -> Option<Event> {
        let birth = self.birth(site, page);
        if birth >= day {
            return (birth == day).then_some(Event::Born);
        }
        if !site.stays(page)
            && let Some((gone, returned)) = self.absence(site, page, day)
        {
            if gone == day {
                return Some(Event::Gone);
            }
            if returned == day {
                return Some(Event::Returned);
            }
            if returned > day {
                return None;
            }
        }
        let key = site.key.at(u64::from(page));
        let rate = if key.child(Purpose::Pace).chance(0.3) {
            self.fast_rate
        } else {
            self.slow_rate
        };
        if key.child(Purpose::Change).at(u64::from(day)).chance(rate) {
            return Some(Event::Changed);
        }
        key.child(Purpose::Click)
            .at(u64::from(day))
            .chance(self.click_rate)
            .then_some(Event::Clicked)
    }
}

#[cfg(test)]
#[path = "page_schedule_tests.rs"]
mod tests;
