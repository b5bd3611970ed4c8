//! Draws the neighbourhood of a page as SVG: the sites that link to it on the left, those that it links to on
//! the right.

use crate::engine::query::{LinkDirection, LinksBySite, PageFacts};
use crate::html::bars::truncate;
use crate::html::text::{Count, escape, put};
use crate::serve::address;

/// Maximum number of sites on each side.
const SITES: usize = 8;

const WIDTH: f64 = 380.0;
const LINE: f64 = 22.0;
const TOP: f64 = 34.0;
/// Distance of the sites from the middle.
const REACH: f64 = 46.0;
/// Number of letters that fit beside a site.
const LETTERS: usize = 17;

/// Draws the sites that are linked with a page; `None` if there are none.
pub(super) fn draw(facts: &PageFacts, is_seed: bool) -> Option<String> {
    let sides = [
        (LinkDirection::In, &facts.inlinks),
        (LinkDirection::Out, &facts.outlinks),
    ];
    let rows = |links: &LinksBySite| {
        let shown = links.by_site.len().min(SITES);
        shown + usize::from(links.sites > shown as u64)
    };
    let most = sides
        .iter()
        .map(|(_, links)| rows(links))
        .max()
        .unwrap_or(0);
    if most == 0 {
        return None;
    }
    let height = TOP + LINE * most as f64 + 6.0;
    let (middle, centre) = (WIDTH / 2.0, TOP + LINE * most as f64 / 2.0);
    let mut out = String::new();
    put(
        &mut out,
        format_args!(
            "<svg class=\"net\" viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"group\" aria-labelledby=\"n-t\">\
             <title id=\"n-t\">Linked sites: {} with {} that link to the page, {} with {} that it links to</title>\
             <text x=\"{:.0}\" y=\"14\" class=\"end\">linked from</text>\
             <text x=\"{:.0}\" y=\"14\">links to</text>",
            facts.inlinks.sites.counted("site", "sites"),
            facts.inlinks.pages.counted("page", "pages"),
            facts.outlinks.sites.counted("site", "sites"),
            facts.outlinks.pages.counted("page", "pages"),
            middle - REACH + 6.0,
            middle + REACH - 6.0,
        ),
    );
    for (direction, links) in sides {
        // Each side is centred.
        let top = centre - LINE * rows(links) as f64 / 2.0 + LINE / 2.0;
        side(&mut out, facts, (direction, links), (centre, top));
    }
    let class = if is_seed { "page seed" } else { "page" };
    put(
        &mut out,
        format_args!(
            "<circle class=\"{class}\" cx=\"{middle}\" cy=\"{centre:.1}\" r=\"8\"/></svg>"
        ),
    );
    Some(out)
}

/// Draws the sites of one direction, each with a line to the page.
fn side(
    out: &mut String,
    facts: &PageFacts,
    (direction, links): (LinkDirection, &LinksBySite),
    (centre, top): (f64, f64),
) {
    let is_left = direction == LinkDirection::In;
    let sign = if is_left { -1.0 } else { 1.0 };
    let (x, label) = (
        WIDTH / 2.0 + sign * REACH,
        WIDTH / 2.0 + sign * (REACH + 12.0),
    );
    let class = if is_left { "end" } else { "" };
    let shown = &links.by_site[..links.by_site.len().min(SITES)];
    let most = shown
        .iter()
        .map(|site| site.pages)
        .max()
        .unwrap_or(1)
        .max(1);
    let mut y = top;
    for site in shown {
        let count = format!(" ({})", site.pages.whole());
        let letters = LETTERS.saturating_sub(count.len());
        let name = truncate(&site.site, letters as f64);
        let radius = 3.0 + 5.0 * (site.pages as f64 / most as f64).sqrt();
        let own = if site.site == facts.site { " own" } else { "" };
        put(
            out,
            format_args!(
                "<line class=\"edge\" x1=\"{x:.1}\" y1=\"{y:.1}\" x2=\"{}\" y2=\"{centre:.1}\"/>\
                 <circle class=\"site{own}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\"/>",
                WIDTH / 2.0
            ),
        );
        let text = format!(
            "<text class=\"{class}\" x=\"{label:.1}\" y=\"{:.1}\">{}{count}</text>",
            y + 4.0,
            escape(&name)
        );
        let to = address::links(&facts.url, direction.name(), Some(&site.site), 0);
        if to.fits() {
            let to = escape(&to.to_string());
            put(out, format_args!("<a href=\"{to}\">{text}</a>"));
        } else {
            out.push_str(&text);
        }
        y += LINE;
    }
    let more = links.sites.saturating_sub(shown.len() as u64);
    if more > 0 {
        let more = more.counted("more site", "more sites");
        put(
            out,
            format_args!(
                "<text class=\"{class}\" x=\"{label:.1}\" y=\"{:.1}\">{more}</text>",
                y + 4.0
            ),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(inlinks: usize, outlinks: usize) -> PageFacts {
        let links = |sites: usize| {
            let by_site = (0..sites).map(|site| {
                serde_json::json!({"site": format!("<s{site}>.example"), "pages": site + 1, "examples": []})
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
}
