//! The links of a page on the day of its fetch.
//!
//! Every link slot changes its target after its own period (20 to 319 days); the links of a fetch are a
//! function of page and day. Pages that are not fetched again keep their old links, so the rows of a
//! section diverge and converge as in a real crawl.

use rand_distr::{Distribution, LogNormal, Pareto};

use super::address::Target;
use super::blogrolls::epoch;
use super::draw::Purpose;
use super::site::Site;
use super::web_model::Web;

/// The share of inter-site links outside blogrolls.
pub(super) const OWN_SHARE: f64 = 0.22;

/// The probability that a page has a list of inter-site links, per mean inter-site link. Lengths are
/// Pareto-distributed, so a few lists have hundreds of links.
const LISTS: f64 = 0.0042;

/// Distributions shared by all pages of a run.
#[derive(Debug)]
pub(super) struct LinkDraws {
    degree: Option<LogNormal<f64>>,
    list: Option<Pareto<f64>>,
    degree_scale: f64,
}

impl LinkDraws {
    pub(super) fn new(web: &Web) -> Self {
        Self {
            degree: LogNormal::new(0.0, 1.9).ok(),
            list: Pareto::new(18.0, 1.3).ok(),
            degree_scale: web.degree_scale,
        }
    }
}

impl Web {
    /// Writes the distinct intra-site links of a page, without the page itself.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at most a few thousand links"
    )]
    pub(super) fn intra_links(
        &self,
        site: &Site,
        page: u32,
        day: u32,
        draws: &LinkDraws,
        links: &mut Vec<Target>,
    ) {
        links.clear();
        let key = site.key.at(u64::from(page)).child(Purpose::Degree);
        let degree = draws
            .degree
            .map_or(1.0, |degrees| degrees.sample(&mut key.stream()));
        let wanted = (degree * draws.degree_scale).min(draws.degree_scale * 40.0) + key.unit();
        let mut wanted = wanted as u32;
        let now = self.life.pages_by(site, day);
        let mut push = |to: u32| {
            if to != page && to < now && self.life.alive(site, to, day) {
                links.push(Target::Page(site.number, to));
            }
        };
        if wanted > 0 {
            push(0);
        }
        if wanted > 1 && site.sections > 0 {
            push(1 + site.section(page));
            push(page + site.sections);
            push(page.saturating_sub(site.sections));
        }
        // A section page links to its newest pages, at most 30.
        if page > 0 && site.stays(page) {
            let last = now - 1;
            let newest = last - (last - page) % site.sections;
            for back in 0..30 {
                push(newest.saturating_sub(back * site.sections));
            }
        }
        wanted = wanted.saturating_sub(4);
        let frontier = self.options.frontier_links;
        for slot in 0..wanted {
            let slot_key = key.child(Purpose::Slot).at(u64::from(slot));
            let kind = slot_key.unit();
            if kind < frontier * 0.32 {
                links.push(Target::Attachment(site.number, page, slot));
                continue;
            }
            let draw = slot_key.at(epoch(slot_key, 20, 300, day));
            if kind < frontier {
                let listings = site.size.saturating_mul(2).saturating_add(4);
                links.push(Target::Listing(site.number, draw.popular(listings)));
            } else {
                let to = if draw.at(0).chance(0.5) {
                    draw.popular(1 + site.sections)
                } else {
                    draw.below32(now)
                };
                if to != page && self.life.alive(site, to, day) {
                    links.push(Target::Page(site.number, to));
                }
            }
        }
        links.sort_unstable();
        links.dedup();
    }

    /// Writes the inter-site links of a page that are not in its section's blogroll.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "lists have at most 600 links"
    )]
    pub(super) fn own_links(
        &self,
        site: &Site,
        page: u32,
        day: u32,
        draws: &LinkDraws,
        roll: &[Target],
        links: &mut Vec<Target>,
    ) {
        links.clear();
        let key = site.key.at(u64::from(page)).child(Purpose::Extra);
        let scale = self.options.inter_site_links;
        let list = key.child(Purpose::List);
        let count = if list.chance(scale * LISTS) {
            let length = draws
                .list
                .map_or(18.0, |lengths| lengths.sample(&mut list.at(0).stream()));
            length.min(600.0) as u64
        } else if key.chance(scale * 0.025) {
            1 + key.at(0).below(3)
        } else {
            0
        };
        for slot in 0..count {
            let slot_key = key.child(Purpose::Slot).at(slot);
            let draw = slot_key.at(epoch(slot_key, 20, 300, day));
            let target = if draw.chance(0.75) {
                self.outside(draw.at(0))
            } else if draw.at(1).chance(0.5) {
                self.popular_target(draw.at(2))
            } else {
                let other = self.site(draw.at(3).below32(self.site_count()));
                Target::Page(other.number, draw.at(4).below32(1 + other.sections))
            };
            if target.site() != Some(site.number) && roll.binary_search(&target).is_err() {
                links.push(target);
            }
        }
        links.sort_unstable();
        links.dedup();
    }
}
