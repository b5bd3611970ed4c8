//! URLs of pages, in the normal form of the `url` crate.
//!
//! Hosts are in the reserved domains `.example`, `.test` and `.invalid` (RFC 2606); every sixth
//! site shares its registrable domain with its neighbour.

use super::draw::{Draw, Purpose};
use super::site::Site;
use super::web_model::Web;

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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::super::options::SynthOptions;
    use super::*;

    #[test]
    fn urls_differ_and_are_normalised_already() {
        let web = Web::new(&SynthOptions::new(5_000)).unwrap();
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
        let web = Web::new(&SynthOptions::new(5_000)).unwrap();
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
}
