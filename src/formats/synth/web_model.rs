//! The tables of a generated web: a few numbers per site, none per page.

use super::options::{SynthError, SynthOptions};
use rand::RngExt;
use rand_distr::{Distribution, LogNormal, Pareto};
use rand_pcg::Pcg64Mcg;

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

// URLs of pages, in the normal form of the `url` crate.
//
// Hosts are in the reserved domains `.example`, `.test` and `.invalid` (RFC 2606); every sixth
// site shares its registrable domain with its neighbour.

/// The target of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Target {
    /// A crawled page: site, page.
    Page(u32, u32),
    /// A page never crawled, linked by one page of a site: site, page, slot.
    Attachment(u32, u32, u32),
    /// A page never crawled, linked by many pages of a site: site, number.
    Listing(u32, u32),
    /// A page of a site never crawled: site, page.
    Outside(u32, u32),
}

impl Target {
    /// Returns the crawled site of the target; `None` for a site never crawled.
    pub(super) const fn site(self) -> Option<u32> {
        match self {
            Self::Page(site, _) | Self::Attachment(site, ..) | Self::Listing(site, _) => Some(site),
            Self::Outside(..) => None,
        }
    }
}

const WORDS: [&str; 64] = [
    "harbour", "garden", "library", "river", "music", "science", "travel", "kitchen", "market",
    "museum", "school", "forest", "bridge", "letters", "history", "weather", "cinema", "sports",
    "village", "energy", "health", "radio", "theatre", "island", "mountain", "poetry", "software",
    "railway", "gallery", "ocean", "council", "campus", "physics", "biology", "economy", "design",
    "fashion", "animals", "camera", "studio", "castle", "desert", "planet", "coffee", "bicycle",
    "robots", "chess", "maps", "flowers", "birds", "tennis", "sailing", "archive", "language",
    "culture", "climate", "justice", "finance", "housing", "culinary", "comics", "drama", "games",
    "puzzles",
];

fn word(draw: Draw) -> &'static str {
    WORDS[(draw.bits() >> 58) as usize]
}

/// Appends a decimal number. Several times faster than `fmt`, which would dominate the cost of a URL.
pub(super) fn push_number(number: u64, out: &mut Vec<u8>) {
    let mut digits = [0_u8; 20];
    let mut at = digits.len();
    let mut rest = number;
    loop {
        at -= 1;
        digits[at] = b"0123456789"[(rest % 10) as usize];
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

fn push(parts: &[&str], out: &mut Vec<u8>) {
    for part in parts {
        out.extend_from_slice(part.as_bytes());
    }
}

impl Web {
    fn push_host(&self, number: u32, out: &mut Vec<u8>) {
        let own = self.key.child(Purpose::Word).at(u64::from(number));
        let shared = number % 6 == 5;
        let domain = if shared { number - 1 } else { number };
        let draw = self.key.child(Purpose::Word).at(u64::from(domain));
        let sub = match (shared, own.at(1).below(4)) {
            (true, 0) => "blog.",
            (true, 1) => "news.",
            (true, _) => "shop.",
            (false, 0) => "",
            (false, _) => "www.",
        };
        push(&[sub, word(draw)], out);
        push_number(u64::from(domain), out);
        push(
            &[if draw.at(2).chance(0.7) {
                ".example"
            } else {
                ".test"
            }],
            out,
        );
    }

    fn push_origin(&self, number: u32, out: &mut Vec<u8>) {
        let https = self
            .key
            .child(Purpose::Style)
            .at(u64::from(number))
            .at(9)
            .chance(0.6);
        push(&[if https { "https://" } else { "http://" }], out);
        self.push_host(number, out);
    }

    /// Appends the URL of a target.
    pub(super) fn push_url(&self, target: Target, out: &mut Vec<u8>) {
        match target {
            Target::Page(number, page) => {
                self.push_origin(number, out);
                push_path(&self.site(number), page, out);
            }
            Target::Attachment(number, page, slot) => {
                let site = self.site(number);
                self.push_origin(number, out);
                push(&["/files/"], out);
                push_number(u64::from(page), out);
                let kind = site
                    .key
                    .at(u64::from(page))
                    .child(Purpose::Outside)
                    .at(u64::from(slot));
                push(&["/", word(kind), "-"], out);
                push_number(u64::from(slot), out);
                push(
                    &[[".pdf", ".html", "?view=print", ".html"][kind.at(0).below32(4) as usize]],
                    out,
                );
            }
            Target::Listing(number, listing) => {
                let site = self.site(number);
                self.push_origin(number, out);
                let kind = site.key.child(Purpose::Outside).at(u64::from(listing));
                push(&["/tag/", word(kind), "?page="], out);
                push_number(u64::from(listing), out);
            }
            Target::Outside(number, page) => {
                let draw = self.key.child(Purpose::Outside).at(u64::from(number));
                push(&["http://www.", word(draw), "-"], out);
                push_number(u64::from(number), out);
                push(&[".invalid/"], out);
                if page > 0 {
                    push(&[word(draw.at(u64::from(page))), "/"], out);
                    push_number(u64::from(page), out);
                }
            }
        }
    }
}

/// Appends the path of a crawled page, in one of four styles per site.
fn push_path(site: &Site, page: u32, out: &mut Vec<u8>) {
    if page == 0 {
        out.push(b'/');
        return;
    }
    let section = site.section(page);
    let topic = word(site.key.child(Purpose::Section).at(u64::from(section)));
    let style = site.key.child(Purpose::Style).below32(4);
    if site.stays(page) {
        push(&["/", topic, "-"], out);
        push_number(u64::from(section), out);
        push(&[["/", "/index.html", "/", "/"][style as usize]], out);
        return;
    }
    let key = site.key.at(u64::from(page));
    let title = word(key.child(Purpose::Word));
    match style {
        0 => {
            push(&["/", topic, "/"], out);
            push_number(2010 + key.child(Purpose::Style).below(16), out);
            push(&["/", title, "-"], out);
            push_number(u64::from(page), out);
            push(&[".html"], out);
        }
        1 => {
            push(&["/", topic, "/", title, "/"], out);
            push_number(u64::from(page), out);
        }
        2 => {
            push(&["/index.php?id="], out);
            push_number(u64::from(page), out);
            push(&["&cat=", topic], out);
        }
        _ => {
            push(&["/", title, "-", topic, "-"], out);
            push_number(u64::from(page), out);
            push(&[".html"], out);
        }
    }
}

// Blogrolls: the inter-site links that all pages of a section share, so that they have one row.

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

// Counter-based random numbers: every number is a function of the place where it is used.
//
// A [`Draw`] is a 64-bit key. Its child for a purpose or a number is one round of the SplitMix64
// finaliser (Steele, Lea, Flood, OOPSLA 2014) over key + number * golden ratio. The draws of page
// 7,000,000 of a site cost no more than those of page 0, and no state is kept. Only integer arithmetic,
// exact IEEE float operations and the pure-Rust `libm` of `rand_distr` are used, so the numbers are the
// same on every machine.

/// The purpose of a draw. Different purposes have independent numbers.
#[derive(Clone, Copy, Debug)]
#[repr(u64)]
pub(super) enum Purpose {
    Order = 1,
    Topic,
    Site,
    Birth,
    Death,
    Return,
    Pace,
    Change,
    Click,
    Clicks,
    Style,
    Word,
    Degree,
    Slot,
    Roll,
    Section,
    Extra,
    List,
    Popular,
    Outside,
    Spam,
    Digest,
    Fetched,
    Given,
    Epoch,
    Target,
}

/// A random number, and the key of its children.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draw(u64);

impl Draw {
    pub(super) const fn new(rng_seed: u64) -> Self {
        Self(finalise(rng_seed ^ 0x5EED_BA2C_0000_0001))
    }

    /// Returns the child for a purpose.
    pub(super) const fn child(self, purpose: Purpose) -> Self {
        self.at(!(purpose as u64))
    }

    /// Returns the child for a number: a site, page, slot or day.
    pub(super) const fn at(self, number: u64) -> Self {
        Self(finalise(self.0.wrapping_add(
            number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15),
        )))
    }

    pub(super) const fn bits(self) -> u64 {
        self.0
    }

    /// Returns a uniform number in [0, 1), with 53 bits.
    pub(super) fn unit(self) -> f64 {
        (self.0 >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }

    pub(super) fn chance(self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// Returns a uniform number in 0..n; 0 for n = 0.
    pub(super) const fn below(self, n: u64) -> u64 {
        ((self.0 as u128 * n as u128) >> 64) as u64
    }

    /// Like [`Draw::below`], for 32-bit numbers.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the result is below a 32-bit number"
    )]
    pub(super) const fn below32(self, n: u32) -> u32 {
        self.below(n as u64) as u32
    }

    /// Returns a number in 0..n with density proportional to x^(-2/3): small numbers are popular.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the float is in 0..n"
    )]
    pub(super) fn popular(self, n: u32) -> u32 {
        let unit = self.unit();
        ((unit * unit * unit * f64::from(n)) as u32).min(n.saturating_sub(1))
    }

    /// Returns a generator for a sequence of unknown length.
    pub(super) fn stream(self) -> Pcg64Mcg {
        Pcg64Mcg::new((u128::from(self.0) << 64) | u128::from(finalise(!self.0)))
    }
}

const fn finalise(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

// The links of a page on the day of its fetch.
//
// Every link slot changes its target after its own period (20 to 319 days); the links of a fetch are a
// function of page and day. Pages that are not fetched again keep their old links, so the rows of a
// section diverge and converge as in a real crawl.

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

// Birth, changes, disappearance and return of pages, as pure functions of site, page and day.
//
// - Births: `floor(size * rate * day + phase)` pages of a site are born by a day, in 32-bit fixed point,
//   so the day of a page's birth takes one division.
// - Deaths: a page's random number is compared with the share of pages that survive its age (geometric
//   lifetimes: the same fraction of live pages disappears every day).
// - One gone page in 25 returns after 3 to 32 days and then stays.
// - Changes: 30 % of the pages change 7 times as often as the others, since studies find that the past
//   change rate of a page predicts its future one. The mean is the configured rate.

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

// A site of a generated web.

/// The common properties of a site's pages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site {
    pub(super) number: u32,
    pub(super) key: Draw,
    /// The number of pages on day 0.
    pub(super) size: u32,
    /// Pages 1 to `sections` are the section pages; page 0 is the home page.
    pub(super) sections: u32,
    pub(super) spam: bool,
}

impl Site {
    /// Returns whether a page never disappears: the home page and section pages.
    pub(super) const fn stays(&self, page: u32) -> bool {
        page <= self.sections
    }

    /// Returns the section of a page; the home page belongs to the first one.
    pub(super) fn section(&self, page: u32) -> u32 {
        page.saturating_sub(1) % self.sections.max(1)
    }
}

// Fits the two free parameters of the link model to the requested mean link counts.
//
// The number of links of a page depends on sizes, sections and topics: duplicates merge, and a small
// site has few targets. Both means are therefore measured on an evenly spread sample of the pages of
// day 0, and corrected in a few rounds. Inter-site links outside blogrolls are a fixed share; for exact
// means they are measured as well, on a larger sample, since the lengths of link lists vary widely.

const SAMPLE: u64 = 2000;
const EXACT_SAMPLE: u64 = 200_000;
const ROUNDS: usize = 5;

impl Web {
    /// Sets the share of sections with a blogroll, and the scale of degrees.
    pub(super) fn calibrate(&mut self) {
        let sample = self.sample();
        let count = sample.len().max(1) as f64;
        let inter = self.options.inter_site_links;
        let intra = (self.options.links - inter).max(0.0);
        let mut links = Vec::new();
        for _ in 0..ROUNDS {
            let draws = LinkDraws::new(self);
            let (mut carried, mut own) = (0, 0);
            for (site, page) in &sample {
                let roll = self.roll(site, site.section(*page), 0);
                carried += roll.len();
                if self.options.exact_means {
                    self.own_links(site, *page, 0, &draws, &roll, &mut links);
                    own += links.len();
                }
            }
            let by_rolls = if self.options.exact_means {
                (inter - own as f64 / count).max(0.0)
            } else {
                inter * (1.0 - OWN_SHARE)
            };
            self.roll_share = corrected(self.roll_share, by_rolls, carried as f64 / count).min(1.0);
            let mut found = 0;
            for (site, page) in &sample {
                self.intra_links(site, *page, 0, &draws, &mut links);
                found += links.len();
            }
            self.degree_scale = corrected(self.degree_scale, intra, found as f64 / count);
        }
    }

    fn sample(&self) -> Vec<(Site, u32)> {
        let pages = self.options.pages;
        let count = pages.min(if self.options.exact_means {
            EXACT_SAMPLE
        } else {
            SAMPLE
        });
        let mut wanted = (0..count).map(|i| i * pages / count).peekable();
        let mut sample = Vec::new();
        let mut first = 0;
        for (number, &size) in (0..).zip(&self.sizes) {
            while let Some(at) = wanted.next_if(|&at| at < first + u64::from(size)) {
                if let Ok(page) = u32::try_from(at - first) {
                    sample.push((self.site(number), page));
                }
            }
            first += u64::from(size);
        }
        sample
    }
}

/// Scales a parameter that gave `found` instead of `wanted`; doubles it if nothing was found.
fn corrected(number: f64, wanted: f64, found: f64) -> f64 {
    let factor = if wanted <= 0.0 {
        0.0
    } else if found > 0.0 {
        (wanted / found).clamp(0.1, 10.0)
    } else {
        2.0
    };
    (number * factor).min(1e4)
}

#[cfg(test)]
mod tests {
    use super::super::options::SynthOptions;
    use super::*;
    use std::collections::HashSet;

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

    #[test]
    fn urls_differ_and_are_normalised_already() {
        let web = super::Web::new(&SynthOptions::new(5_000)).unwrap();
        let mut seen = HashSet::new();
        let sites = (0..web.site_count()).flat_map(|number| {
            let size = web.site(number).size;
            (0..size)
                .map(move |page| Target::Page(number, page))
                .chain((0..9).map(move |n| Target::Attachment(number, n % 3, n / 3)))
                .chain((0..9).map(move |n| Target::Listing(number, n)))
                .chain((0..2).map(move |n| Target::Outside(number, n)))
        });
        for target in sites {
            let mut url = Vec::new();
            web.push_url(target, &mut url);
            let url = String::from_utf8(url).unwrap();
            assert_eq!(url::Url::parse(&url).unwrap().as_str(), url);
            assert!(seen.insert(url), "{target:?}");
        }
    }

    #[test]
    fn some_sites_share_a_registrable_domain() {
        let web = super::Web::new(&SynthOptions::new(5_000)).unwrap();
        let domains: HashSet<String> = (0..web.site_count())
            .map(|number| {
                let mut host = Vec::new();
                web.push_host(number, &mut host);
                let host = String::from_utf8(host).unwrap();
                let labels: Vec<&str> = host.rsplit('.').take(2).collect();
                labels.join(".")
            })
            .collect();
        assert!(domains.len() < web.site_count() as usize);
    }

    #[test]
    fn numbers_are_decimal() {
        for number in [0, 7, 10, 1_234_567_890, u64::MAX] {
            let mut out = Vec::new();
            push_number(number, &mut out);
            assert_eq!(out, number.to_string().as_bytes());
        }
    }

    #[test]
    fn draws_are_uniform_and_stay_below() {
        let key = Draw::new(1).child(Purpose::Slot);
        let mut counts = [0_u32; 10];
        for number in 0..100_000 {
            let draw = key.at(number).below(10);
            counts[usize::try_from(draw).unwrap()] += 1;
        }
        for count in counts {
            assert!(count.abs_diff(10_000) < 500, "{counts:?}");
        }
        assert_eq!(key.below(0), 0);
        assert_eq!(key.popular(0), 0);
        assert!((0..1000).all(|n| key.at(n).popular(7) < 7));
    }

    #[test]
    fn purposes_and_seeds_do_not_share_a_stream() {
        let key = Draw::new(1);
        assert_ne!(
            key.child(Purpose::Slot).bits(),
            key.child(Purpose::Site).bits()
        );
        assert_ne!(
            key.child(Purpose::Slot).bits(),
            Draw::new(2).child(Purpose::Slot).bits()
        );
    }
}

#[cfg(test)]
#[path = "page_schedule_tests.rs"]
mod page_schedule_tests;
