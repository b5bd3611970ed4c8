//! Blogrolls: the inter-site links that all pages of a section share, so that they have one row.

use super::address::Target;
use super::draw::{Draw, Purpose};
use super::site::Site;
use super::web_model::{FARM, Topic, Web};

/// Returns the number of the period of a day for a slot. Each slot keeps its target for a period of
/// `shortest` to `shortest + spread - 1` days, drawn once.
pub(super) fn epoch(slot: Draw, shortest: u64, spread: u64, day: u32) -> u64 {
    let draw = slot.child(Purpose::Epoch);
    let period = shortest + draw.below(spread);
    (u64::from(day) + draw.at(0).below(period)) / period
}

impl Web {
    /// Returns the j-th target of a topic: first the home pages of its sites, then section pages of those
    /// sites and pages of sites never crawled.
    fn topic_target(&self, index: usize, topic: Topic, j: u32) -> Target {
        let site = self.site(self.at_place(topic.start + j % topic.len));
        if j < topic.len {
            return Target::Page(site.number, 0);
        }
        let draw = self
            .key
            .child(Purpose::Topic)
            .at(index as u64)
            .at(u64::from(j));
        if self.options.frontier_links > 0.0 && draw.chance(0.4) {
            self.outside(draw)
        } else {
            Target::Page(site.number, draw.at(0).below32(1 + site.sections))
        }
    }

    /// Returns a target that any site may link to, popular ones more often.
    pub(super) fn popular_target(&self, draw: Draw) -> Target {
        let rank = draw.popular(12 + self.site_count() / 20);
        if rank % 2 == 1 && self.options.frontier_links > 0.0 {
            Target::Outside(rank, 0)
        } else {
            Target::Page(rank / 2 % self.site_count(), 0)
        }
    }

    /// Returns a page of a site never crawled; without a frontier, a crawled home page.
    pub(super) fn outside(&self, draw: Draw) -> Target {
        let number = draw.at(1).below32(self.site_count().saturating_mul(7));
        if self.options.frontier_links > 0.0 {
            let page = if draw.at(2).chance(0.35) {
                0
            } else {
                1 + draw.at(3).below32(200)
            };
            Target::Outside(number + 1000, page)
        } else {
            Target::Page(number % self.site_count(), 0)
        }
    }

    /// Appends the links that a site selects itself, on a day.
    fn own_roll(&self, site: &Site, day: u32, roll: &mut Vec<Target>) {
        let key = site.key.child(Purpose::Roll);
        for (index, topic) in self.topics_of(site.number) {
            let topic_key = key.at(index as u64);
            for j in 0..(2 * topic.len).min(24) {
                let slot = topic_key.at(u64::from(j));
                let draw = slot.at(epoch(slot, 200, 800, day));
                // The first targets of a topic are linked most often.
                let fading = 1.0 - 0.02 * f64::from(j);
                if draw.chance(topic.density * fading) {
                    roll.push(self.topic_target(index, topic, j));
                }
            }
        }
        for j in 0..=key.child(Purpose::Popular).below(4) {
            let slot = key.child(Purpose::Popular).at(j);
            roll.push(self.popular_target(slot.at(epoch(slot, 200, 800, day))));
        }
    }

    /// Returns the blogroll of a site: its own links, in 3 of 10 sites mixed with those of a neighbour in the
    /// order of sites (copying model of Kleinberg, Kumar and others, 1999).
    fn site_roll(&self, site: &Site, day: u32) -> Vec<Target> {
        let key = site.key.child(Purpose::Roll).child(Purpose::Target);
        let mut roll = Vec::new();
        self.own_roll(site, day, &mut roll);
        if key.chance(0.3) {
            let place = self.place.get(site.number as usize).copied().unwrap_or(0);
            let other = self.site(self.at_place(place + 1 + key.at(0).below32(4)));
            let own = roll.len();
            self.own_roll(&other, day, &mut roll);
            let mut at = 0;
            roll.retain(|_| {
                at += 1;
                let keep = if at <= own as u64 { 0.6 } else { 0.7 };
                key.at(at).chance(keep)
            });
        }
        roll
    }

    /// Returns the links of a spam site's pages: the home pages of its farm and boosted targets.
    fn farm_roll(&self, site: &Site, section: u32, day: u32) -> Vec<Target> {
        let farm = Self::spam_index(site.number) / FARM;
        let members = (farm * FARM..(farm + 1) * FARM).filter(|&i| i < self.spam_sites());
        let mut roll: Vec<Target> = members
            .clone()
            .map(|index| Target::Page(Self::spam_site(index), 0))
            .collect();
        let known = members.count() as u64;
        let key = self.key.child(Purpose::Spam).at(u64::from(farm));
        for j in 0..12 {
            let target = key.at(j);
            let slot = site.key.child(Purpose::Spam).at(u64::from(section)).at(j);
            if slot.at(epoch(slot, 60, 300, day)).chance(0.85) {
                let index = farm * FARM + target.below32(u32::try_from(known).unwrap_or(1));
                let number = Self::spam_site(index);
                let pages = self.sizes.get(number as usize).copied().unwrap_or(1);
                roll.push(Target::Page(number, target.at(0).popular(pages)));
            }
        }
        roll.push(self.popular_target(site.key.child(Purpose::Spam)));
        roll
    }

    /// Returns the inter-site links on every page of a section that is fetched on a day.
    pub(super) fn roll(&self, site: &Site, section: u32, day: u32) -> Vec<Target> {
        // Multiples of the golden ratio are evenly spread, so the share also holds within each site.
        let spread =
            site.key.child(Purpose::Section).unit() + f64::from(section) * 0.618_033_988_749_895;
        if spread.fract() >= self.roll_share {
            return Vec::new();
        }
        self.section_roll(site, section, day)
    }

    fn section_roll(&self, site: &Site, section: u32, day: u32) -> Vec<Target> {
        let mut roll = if site.spam {
            self.farm_roll(site, section, day)
        } else {
            let mut roll = self.site_roll(site, day);
            let key = site.key.child(Purpose::Section).at(u64::from(section));
            if key.chance(0.65) {
                let mut at = 0;
                roll.retain(|_| {
                    at += 1;
                    key.at(at).chance(0.85)
                });
                for j in 0..key.child(Purpose::Extra).below(6) {
                    let slot = key.child(Purpose::Extra).at(j);
                    let draw = slot.at(epoch(slot, 60, 300, day));
                    roll.push(if draw.chance(0.4) {
                        self.popular_target(draw.at(0))
                    } else {
                        self.outside(draw)
                    });
                }
            }
            roll
        };
        roll.retain(|target| target.site() != Some(site.number));
        roll.sort_unstable();
        roll.dedup();
        roll
    }
}
