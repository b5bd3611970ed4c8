//! Draws the neighbourhood of a page as SVG: above it the pages that link to it, below it those that it links
//! to, by site.

use crate::engine::query::{LinkDirection, LinksBySite, PageFacts, SiteLinks};
use crate::html::bars::truncate;
use crate::html::text::{Count, escape, put};
use crate::serve::address::{self, Address};
use seedbank_formats::display::readable;

/// Maximum number of sites in each direction.
const SITES: usize = 8;
/// Number of rows in each direction that pages may fill after the sites.
const ROWS: usize = 14;

const WIDTH: f64 = 380.0;
const LINE: f64 = 20.0;
/// Horizontal places of the page itself, of sites, and of linked pages.
const PLACES: [f64; 3] = [12.0, 34.0, 58.0];
/// Distance of a label from its circle.
const GAP: f64 = 12.0;
/// Width of a letter, roughly.
const LETTER: f64 = 6.2;

/// Draws the pages that are linked with a page; `None` if there are none.
pub(super) fn draw(facts: &PageFacts, is_seed: bool) -> Option<String> {
    let (inlinks, outlinks) = (&facts.inlinks, &facts.outlinks);
    if inlinks.by_site.is_empty() && outlinks.by_site.is_empty() {
        return None;
    }
    let mut picture = Picture {
        facts,
        body: String::new(),
        y: LINE * 0.7,
    };
    // The lines end at the page, whose place is known once the rows above it are drawn.
    let above = picture.direction(LinkDirection::In, inlinks);
    let centre = picture.y;
    let class = if is_seed { "page seed" } else { "page" };
    let title = below_site(&facts.url, &facts.site);
    picture.circle(class, 0, 7.0);
    picture.label(0, "this", &title, None);
    picture.y += LINE;
    let below = picture.direction(LinkDirection::Out, outlinks);
    let mut out = String::new();
    put(
        &mut out,
        format_args!(
            "<svg class=\"net\" viewBox=\"0 0 {WIDTH} {:.0}\" role=\"group\" aria-labelledby=\"n-t\">\
             <title id=\"n-t\">Linked pages: {} on {} that link to the page, {} on {} that it links to</title>",
            picture.y,
            inlinks.pages.counted("page", "pages"),
            inlinks.sites.counted("site", "sites"),
            outlinks.pages.counted("page", "pages"),
            outlinks.sites.counted("site", "sites"),
        ),
    );
    for y in above.into_iter().chain(below) {
        let [from, to, _] = PLACES;
        put(
            &mut out,
            format_args!("<path class=\"edge\" d=\"M{from} {centre:.1}V{y:.1}H{to}\"/>"),
        );
    }
    out.push_str(&picture.body);
    out.push_str("</svg>");
    Some(out)
}

/// Returns what follows the name of the site in a URL, or all of it but its scheme.
fn below_site(url: &str, site: &str) -> String {
    let shown = readable(url);
    let rest = shown.split_once("://").map_or(&*shown, |(_, rest)| rest);
    match rest.strip_prefix(site) {
        Some(path) if path.starts_with('/') => path.to_owned(),
        _ => rest.to_owned(),
    }
}

struct Picture<'a> {
    facts: &'a PageFacts,
    body: String,
    /// The middle of the next row.
    y: f64,
}

impl Picture<'_> {
    /// Draws the sites of one direction with some of their pages. Returns the heights of the sites.
    fn direction(&mut self, direction: LinkDirection, links: &LinksBySite) -> Vec<f64> {
        let sites = &links.by_site[..links.by_site.len().min(SITES)];
        if sites.is_empty() {
            return Vec::new();
        }
        let (text, [_, place, _]) = (
            match direction {
                LinkDirection::In => "linked from",
                LinkDirection::Out => "links to",
            },
            PLACES,
        );
        put(
            &mut self.body,
            format_args!(
                "<text x=\"{place}\" y=\"{:.1}\">{text}</text>",
                self.y + 4.0
            ),
        );
        self.y += LINE;
        let mut rows = ROWS.saturating_sub(sites.len());
        let mut heights = Vec::with_capacity(sites.len());
        for site in sites {
            heights.push(self.y);
            let pages = &site.examples[..site.examples.len().min(rows)];
            rows -= pages.len();
            self.site(direction, site, pages);
        }
        let more = links.sites.saturating_sub(sites.len() as u64);
        if more > 0 {
            let more = more.counted("more site", "more sites");
            self.label(1, "", &more, None);
            self.y += LINE;
        }
        heights
    }

    fn site(&mut self, direction: LinkDirection, site: &SiteLinks, pages: &[String]) {
        let top = self.y;
        let [_, from, to] = PLACES;
        for row in 1..=pages.len() {
            let y = top + LINE * row as f64;
            put(
                &mut self.body,
                format_args!("<path class=\"edge\" d=\"M{from} {top:.1}V{y:.1}H{to}\"/>"),
            );
        }
        let is_own = site.site == self.facts.site;
        self.circle(if is_own { "site own" } else { "site" }, 1, 5.0);
        let count = format!(" ({})", site.pages.whole());
        let to = address::links(&self.facts.url, direction.name(), Some(&site.site), 0);
        self.label(1, "", &site.site, Some((to, &count)));
        self.y += LINE;
        for page in pages {
            self.circle("site", 2, 3.0);
            let text = below_site(page, &site.site);
            self.label(2, "", &text, Some((address::page(page), "")));
            self.y += LINE;
        }
    }

    fn circle(&mut self, class: &str, place: usize, radius: f64) {
        let (x, y) = (PLACES[place], self.y);
        put(
            &mut self.body,
            format_args!("<circle class=\"{class}\" cx=\"{x}\" cy=\"{y:.1}\" r=\"{radius}\"/>"),
        );
    }

    /// Writes a text, truncated to the width of the picture; with an address, it is a link and has an ending.
    fn label(&mut self, place: usize, class: &str, text: &str, link: Option<(Address, &str)>) {
        let x = PLACES[place] + GAP;
        let ending = link.as_ref().map_or("", |(_, ending)| *ending);
        let letters = ((WIDTH - x) / LETTER - ending.len() as f64).max(4.0);
        let text = format!(
            "<text class=\"{class}\" x=\"{x}\" y=\"{:.1}\">{}{ending}</text>",
            self.y + 4.0,
            escape(&truncate(text, letters))
        );
        match link {
            Some((to, _)) if to.fits() => {
                let to = escape(&to.to_string());
                put(&mut self.body, format_args!("<a href=\"{to}\">{text}</a>"));
            }
            _ => self.body.push_str(&text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(inlinks: usize, outlinks: usize) -> PageFacts {
        let links = |sites: usize| {
            let by_site = (0..sites).map(|site| {
                let name = format!("<s{site}>.example");
                let examples = [
                    format!("http://{name}/<page{site}>"),
                    format!("http://{name}/1"),
                    format!("https://www.{name}/2"),
                ];
                serde_json::json!({"site": name, "pages": site + 1, "examples": examples})
            });
            let by_site: Vec<_> = by_site.collect();
            serde_json::json!({"pages": 1000, "sites": sites, "by_site": by_site})
        };
        serde_json::from_value(serde_json::json!({
            "url": "http://a.example/", "site": "<s0>.example", "state": "crawled", "spam": false,
            "spam_source": null, "quality": null, "quality_source": null, "clicks": 0,
            "uncrawled_outlinks": 0, "uncrawled_given": false, "digest": false,
            "first_seen": {"batch": 1, "at": 1}, "outlinks": links(outlinks), "inlinks": links(inlinks),
            "aliases": {"pages": 0, "examples": []}, "links_to_alias": 0, "plans": [],
        }))
        .unwrap()
    }

    #[test]
    fn each_linked_site_is_a_link() {
        assert!(draw(&facts(0, 0), false).is_none());
        let drawn = draw(&facts(2, 10), true).unwrap();
        assert_eq!(drawn.matches("<a href=\"/links?").count(), 2 + SITES);
        assert_eq!(drawn.matches("of=in").count(), 2);
        assert_eq!(drawn.matches(">2 more sites<").count(), 1);
        assert_eq!(drawn.matches("class=\"page seed\"").count(), 1);
        assert_eq!(drawn.matches("site own").count(), 2);
        assert!(drawn.contains(">&lt;s1&gt;.example (2)<"), "{drawn}");
        assert!(!drawn.contains("<s1>"));
    }

    #[test]
    fn pages_fill_the_rows_that_sites_leave() {
        let drawn = draw(&facts(1, 10), false).unwrap();
        // All three examples of the only site, and as many of the first sites as fit.
        assert_eq!(drawn.matches("<a href=\"/page?").count(), 3 + ROWS - SITES);
        assert!(drawn.contains(">/&lt;page0&gt;<"), "{drawn}");
        // A page whose host is not the name of its site has its host.
        assert!(drawn.contains(">www.&lt;s0&gt;.example/2<"), "{drawn}");
        // The page itself is between the pages in both directions, on the root of its site.
        let places = [
            ">linked from<",
            "class=\"page\"",
            ">a.example/<",
            ">links to<",
        ];
        let places = places.map(|text| drawn.find(text).unwrap());
        assert!(places.is_sorted(), "{drawn}");
    }
}
