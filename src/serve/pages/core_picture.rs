//! Draws the links of a core as SVG: a matrix with a row for each hub and a column for each authority, both
//! grouped by site.

use std::collections::BTreeMap;

use crate::engine::query::{CoreLinks, CoreView};
use crate::html::bars::truncate;
use crate::html::text::{escape, put};

/// Maximum number of rows and of columns.
const MAX_ROWS: usize = 150;

/// Numbers of rows or columns up to which squares are large, and of medium size.
const FEW: [usize; 2] = [24, 80];

/// Number of sites up to which every site has room for its name.
const MAX_NAMED: usize = 60;

/// Least size of a group with a name.
const NAME_SIZE: usize = 13;

/// Distance between groups.
const GAP: usize = 3;

/// Room for the names of sites.
const NAMES: usize = 168;

/// Maximum number of letters of a name.
const LETTERS: f64 = 18.0;

/// A drawing of the links of a core.
pub(super) struct Picture {
    pub(super) svg: String,
    /// Which pages are shown; empty if all are.
    pub(super) note: String,
}

/// The hubs or the authorities, grouped by site.
struct Side {
    groups: Vec<Group>,
    /// Where the square of each page begins, by the index of the page.
    places: Vec<usize>,
    /// Size of a square with the distance to the next one.
    size: usize,
    /// Where the last group ends.
    end: usize,
}

/// The pages of a site.
struct Group {
    site: String,
    pages: usize,
    start: usize,
    length: usize,
}

impl Side {
    /// Places the pages: sites in the order of their first pages, and the pages of a site in the order of the
    /// core.
    fn new(urls: &[String], site_of: &dyn Fn(&str) -> String) -> Self {
        let mut sites: Vec<(String, Vec<usize>)> = Vec::new();
        let mut positions: BTreeMap<String, usize> = BTreeMap::new();
        for (at, url) in urls.iter().enumerate() {
            let site = site_of(url);
            let position = *positions.entry(site.clone()).or_insert_with(|| {
                sites.push((site, Vec::new()));
                sites.len() - 1
            });
            sites[position].1.push(at);
        }
        let square = match urls.len() {
            few if few <= FEW[0] => 12,
            some if some <= FEW[1] => 6,
            _ => 4,
        };
        let least = if sites.len() <= MAX_NAMED {
            NAME_SIZE
        } else {
            0
        };
        let mut side = Self {
            groups: Vec::with_capacity(sites.len()),
            places: vec![0; urls.len()],
            size: square,
            end: NAMES,
        };
        for (site, pages) in sites {
            let length = (square * pages.len()).max(least);
            for (nth, page) in pages.iter().enumerate() {
                side.places[*page] = side.end + square * nth;
            }
            side.groups.push(Group {
                site,
                pages: pages.len(),
                start: side.end,
                length,
            });
            side.end += length + GAP;
        }
        side
    }
}

/// Draws the current links of a core. `site_of` returns the site of a URL.
pub(super) fn draw(
    core: &CoreView,
    links: &CoreLinks,
    site_of: &dyn Fn(&str) -> String,
) -> Picture {
    let (hubs, authorities) = (core.hubs.len(), core.authorities.len());
    let rows = Side::new(&core.hubs[..hubs.min(MAX_ROWS)], site_of);
    let columns = Side::new(&core.authorities[..authorities.min(MAX_ROWS)], site_of);
    let (shown_hubs, shown_authorities) = (rows.places.len(), columns.places.len());
    let note = if (shown_hubs, shown_authorities) == (hubs, authorities) {
        String::new()
    } else {
        format!(
            "The first {shown_hubs} of {hubs} hubs and {shown_authorities} of {authorities} authorities."
        )
    };
    Picture {
        svg: matrix(links, &rows, &columns),
        note,
    }
}

fn matrix(links: &CoreLinks, rows: &Side, columns: &Side) -> String {
    // Leave room for the heading of the columns.
    let (width, height) = (columns.end.max(NAMES + 110), rows.end);
    let mut out = String::new();
    put(
        &mut out,
        format_args!(
            "<svg class=\"matrix\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-labelledby=\"m-t m-d\">\
             <title id=\"m-t\">Current links from hubs to authorities</title>\
             <desc id=\"m-d\">{} hubs on {} sites, {} authorities on {} sites, {} links. A row for each hub, a column for each authority, grouped by site.</desc>\
             <text x=\"{NAMES}\" y=\"12\">authorities, by site</text>\
             <text x=\"{}\" y=\"{}\" class=\"end\">hubs, by site</text>",
            links.hubs,
            rows.groups.len(),
            links.authorities,
            columns.groups.len(),
            links.current_edges,
            NAMES - 6,
            NAMES - 6,
        ),
    );
    for group in &rows.groups {
        if group.length >= NAME_SIZE - 1 {
            let y = group.start + group.length / 2 + 4;
            name(
                &mut out,
                group,
                format_args!("x=\"{}\" y=\"{y}\" class=\"end\"", NAMES - 6),
            );
        }
    }
    for group in &columns.groups {
        if group.length >= NAME_SIZE - 1 {
            // Turned by 90 degrees, so that it ends above its columns.
            let (x, y) = (group.start + group.length / 2 + 4, NAMES - 6);
            name(
                &mut out,
                group,
                format_args!("x=\"{x}\" y=\"{y}\" transform=\"rotate(-90 {x} {y})\""),
            );
        }
    }
    // Draw all squares as two paths, since a page with thousands of elements is slow.
    out.push_str("<path class=\"off\" d=\"");
    for row in &rows.groups {
        for column in &columns.groups {
            let (x, y) = (column.start, row.start);
            let (wide, high) = (columns.size * column.pages, rows.size * row.pages);
            put(&mut out, format_args!("M{x} {y}h{wide}v{high}h-{wide}z"));
        }
    }
    out.push_str("\"/><path class=\"on\" d=\"");
    let (wide, high) = (columns.size - 1, rows.size - 1);
    for (y, to) in rows.places.iter().zip(&links.links) {
        for x in to.iter().filter_map(|at| columns.places.get(*at as usize)) {
            put(&mut out, format_args!("M{x} {y}h{wide}v{high}h-{wide}z"));
        }
    }
    out.push_str("\"/></svg>");
    out
}

fn name(out: &mut String, group: &Group, attributes: std::fmt::Arguments<'_>) {
    let site = truncate(&group.site, LETTERS);
    let count = match group.pages {
        1 => String::new(),
        pages => format!(" ({pages})"),
    };
    put(
        out,
        format_args!("<text {attributes}>{}{count}</text>", escape(&site)),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(hubs: &[&str], authorities: usize) -> Picture {
        let all: Vec<usize> = (0..authorities).collect();
        let to: Vec<String> = all.iter().map(|at| format!("a{at} /")).collect();
        let links = serde_json::from_value(serde_json::json!({
            "refresh": 1, "rank": 1, "hubs": hubs.len(), "authorities": authorities,
            "edges": 1, "current_edges": 1, "lost_edges": 0, "links": vec![&all; hubs.len()],
            "neighbours": [],
        }))
        .unwrap();
        let core = serde_json::from_value(serde_json::json!({
            "rank": 1, "refresh": 1, "sigma": 1.0, "density": 100.0, "edges": 1, "seed": "s",
            "hub_sites": 1, "hubs": hubs, "authorities": to, "hub_scores": [],
            "authority_scores": [], "sides": "ah",
        }))
        .unwrap();
        let site_of = |url: &str| url.split(' ').next().unwrap_or_default().to_owned();
        draw(&core, &links, &site_of)
    }

    #[test]
    fn pages_are_grouped_by_site() {
        let picture = drawn(&["<x> 1", "y 1", "<x> 2"], 2);
        // A block for each pair of sites, a square for each link.
        assert_eq!(picture.svg.matches("h12v24h-12z").count(), 2);
        assert_eq!(picture.svg.matches("h12v12h-12z").count(), 2);
        assert_eq!(picture.svg.matches("h11v11h-11z").count(), 6);
        for name in [
            ">&lt;x&gt; (2)</text>",
            ">y</text>",
            ">a0</text>",
            ">a1</text>",
        ] {
            assert_eq!(picture.svg.matches(name).count(), 1, "{name}");
        }
        // The second page of the first site is next to the first, before the other site.
        let rows: Vec<usize> = [168, 180, 195]
            .iter()
            .map(|y| picture.svg.matches(&format!("M168 {y}h11")).count())
            .collect();
        assert_eq!(rows, [1, 1, 1]);
        assert_eq!(picture.note, "");
    }

    #[test]
    fn a_large_core_is_truncated() {
        let hubs: Vec<String> = (0..=MAX_ROWS).map(|hub| format!("h{hub} /")).collect();
        let hubs: Vec<&str> = hubs.iter().map(String::as_str).collect();
        let picture = drawn(&hubs, 31);
        assert_eq!(picture.svg.matches("h5v3h-5z").count(), MAX_ROWS * 31);
        // Names of more sites than there is room for are left out.
        assert_eq!(picture.svg.matches(">h1</text>").count(), 0);
        assert_eq!(picture.svg.matches(">a1</text>").count(), 1);
        assert_eq!(
            picture.note,
            "The first 150 of 151 hubs and 31 of 31 authorities."
        );
    }
}
