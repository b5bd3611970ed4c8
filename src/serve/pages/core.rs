//! Cores: those of a refresh, fifty at a time, and one with its hubs, its authorities and the links between them.

use std::collections::BTreeMap;

use askama::Template;

use super::layout::{Layout, Pager, pager, params};
use super::refresh::seed_reasons;
use crate::answers::{Cell, Table};
use crate::engine::query::views::Views;
use crate::engine::query::{CoreLinks, CoreView};
use crate::engine::refresh::RefreshView;
use crate::html::bars::truncate;
use crate::html::text::{Count, Measure, escape, put};
use crate::serve::address::{self, Address};
use crate::serve::answer::{Answer, MediaType, RequestError};
use crate::serve::api::cores_of;
use crate::serve::executor::Context;
use crate::serve::params::{integer, optional_integer, which};
use crate::serve::table::{Files as _, csv_answer};
use seedbank_formats::ingest::parse;

/// Maximum number of cores on a page of the list. All pages of each are read.
const CORES: u32 = 50;

/// Maximum number of hubs, and of authorities, on the page of a core.
const ROWS: usize = 100;

params! {
    CoresQuery {
        plan: Option<String>,
        #[serde(default, deserialize_with = "optional_integer")]
        refresh: Option<u32>,
        /// Number of cores to skip.
        #[serde(default, deserialize_with = "integer")]
        from: u32,
    }
}

params! {
    CoreQuery {
        plan: Option<String>,
        #[serde(default, deserialize_with = "optional_integer")]
        refresh: Option<u32>,
        #[serde(deserialize_with = "integer")]
        core: u32,
    }
}

/// The cores of a refresh.
#[derive(Template)]
#[template(path = "cores.html", config = "src/serve/askama.toml")]
struct CoresPage<'a> {
    layout: Layout<'a>,
    refresh: RefreshView,
    cores: Table,
    from: u32,
}

/// A core: hubs and authorities with their scores, and the links between them.
#[derive(Template)]
#[template(path = "core.html", config = "src/serve/askama.toml")]
struct CorePage<'a> {
    layout: Layout<'a>,
    refresh: RefreshView,
    core: CoreView,
    links: CoreLinks,
    picture: Picture,
    /// The addresses of all pages of the core.
    csv: Address,
    json: Address,
}

/// The hubs or the authorities of a core.
struct Side {
    title: &'static str,
    /// The first [`ROWS`] pages with their scores.
    pages: Table,
    /// Number of pages that are not shown.
    more: usize,
}

pub(super) fn cores(
    context: &Context<'_>,
    params: CoresQuery,
    media_type: MediaType,
) -> Result<Answer, RequestError> {
    let which = which(params.plan, params.refresh);
    let refresh = context.bank.refresh_view(&which)?;
    let number = refresh.refresh;
    // A file has all cores.
    let (from, rows) = match media_type {
        MediaType::Csv => (0, refresh.cores),
        _ => (params.from, CORES),
    };
    let cores = cores_of(context, &refresh, from, rows)?;
    let rows = (0..).zip(&cores);
    let table = Table::of("cores", "Cores, the densest first", rows)
        .number("core", "Core", |(_, core): (usize, &CoreView)| {
            Cell::from(core.rank).linked(&address::core(core.refresh, core.rank))
        })
        .page("seed", "Seed, or best hub", |(_, core)| &core.seed)
        .number("sigma", "Sigma", |(_, core)| core.sigma)
        .optional("residual", "Residual", |(_, core)| core.residual)
        .optional("sigma_change", "Sigma added last, share", |(_, core)| {
            core.sigma_change
        })
        .number("hubs", "Hubs", |(_, core)| core.hubs.len())
        .number("hub_sites", "Sites of hubs", |(_, core)| core.hub_sites)
        .number("authorities", "Authorities", |(_, core)| {
            core.authorities.len()
        })
        .number("links", "Links", |(_, core)| core.edges)
        .number("density", "Of all possible links, %", |(_, core)| {
            core.density
        });
    let is_classic = cores.iter().any(|core| core.residual.is_some());
    let absent: &[&str] = if is_classic {
        &[]
    } else {
        &["residual", "sigma_change"]
    };
    if media_type == MediaType::Csv {
        let file = format!("refresh-{number}");
        return csv_answer(
            &[table.done().without(absent)],
            params.table.as_ref(),
            &file,
        );
    }
    let reasons = seed_reasons(context, number, cores.iter().map(|core| core.seed.as_str()))?;
    let table = table.text("why", "Why", |(at, core)| {
        if core.gives_seed {
            Cell::or_none(reasons.get(at).and_then(Option::as_ref))
        } else {
            "It gives no seed; this is its best hub.".into()
        }
    });
    let address = address::cores(number);
    Answer::page(&CoresPage {
        layout: Layout::with_json(context, [("The first cores as JSON", address.in_api())]),
        refresh,
        cores: table
            .done()
            .without(absent)
            .with_files(&address, &address.in_api()),
        from: params.from,
    })
}

impl CoresPage<'_> {
    fn pager(&self) -> Pager {
        let address = |from| {
            address::cores(self.refresh.refresh).with_some("from", Some(from).filter(|n| *n > 0))
        };
        let total = self.refresh.cores.into();
        pager(self.from.into(), CORES.into(), total, address)
    }
}

pub(super) fn core(
    context: &Context<'_>,
    params: CoreQuery,
    media_type: MediaType,
) -> Result<Answer, RequestError> {
    let refresh = context
        .bank
        .refresh_view(&which(params.plan, params.refresh))?;
    let number = refresh.refresh;
    let of_refresh = which(None, Some(number));
    let core = context.bank.core(&of_refresh, params.core)?;
    if media_type == MediaType::Csv {
        let file = format!("core-{number}-{}", core.rank);
        return csv_answer(&[all_pages(&core)], params.table.as_ref(), &file);
    }
    let links = context.bank.core_links(&of_refresh, core.rank)?;
    let naming = Views::open(context.bank)?.naming;
    let site_of = |url: &str| match parse(url, naming) {
        Ok(location) => location.site,
        Err(_) => url.to_owned(),
    };
    let address = address::core(number, core.rank);
    let of_links = address::core_links(number, core.rank);
    Answer::page(&CorePage {
        layout: Layout::with_json(
            context,
            [
                ("This core as JSON", address.in_api()),
                ("its links and neighbours", of_links.in_api()),
            ],
        ),
        json: address.in_api(),
        csv: address.with("format", "csv"),
        refresh,
        picture: draw(&core, &links, &site_of),
        core,
        links,
    })
}

impl CorePage<'_> {
    /// Returns the addresses of the previous and the next core.
    fn pager(&self) -> Pager {
        let (refresh, rank) = (self.refresh.refresh, self.core.rank);
        let previous = (rank > 1).then(|| address::core(refresh, rank - 1));
        let has_next = rank < self.refresh.cores;
        (previous, has_next.then(|| address::core(refresh, rank + 1)))
    }

    fn sides(&self) -> [Side; 2] {
        let core = &self.core;
        let sides = [
            ("Hubs", "Hub score", &core.hubs, &core.hub_scores),
            (
                "Authorities",
                "Authority score",
                &core.authorities,
                &core.authority_scores,
            ),
        ];
        sides.map(|(title, score, pages, scores)| {
            let caption = format!("{title} in the order of selection");
            let rows = (1_u64..).zip(pages.iter().zip(scores)).take(ROWS);
            let table = Table::of("pages", caption, rows)
                .number("place", "Added as", |(place, _)| place)
                .page("page", "Page", |(_, (url, _))| url)
                .number("score", score, |(_, (_, score))| *score);
            Side {
                title,
                pages: table.done(),
                more: pages.len().saturating_sub(ROWS),
            }
        })
    }

    fn neighbours(&self) -> Table {
        let neighbours = &self.links.neighbours;
        Table::of("neighbours", "Cores that its hubs link to", neighbours)
            .number("core", "Core", |other| {
                Cell::from(other.rank).linked(&address::core(self.core.refresh, other.rank))
            })
            .number("links", "Links", |other| other.links)
            .page("seed", "Its seed", |other| &other.seed)
            .done()
    }
}

/// Returns all hubs and authorities of a core.
fn all_pages(core: &CoreView) -> Table {
    let sides = [
        ("hub", &core.hubs, &core.hub_scores),
        ("authority", &core.authorities, &core.authority_scores),
    ];
    let rows = sides.into_iter().flat_map(|(side, pages, scores)| {
        let pages = (1_u64..).zip(pages.iter().zip(scores));
        pages.map(move |(place, (url, score))| (side, place, url, *score))
    });
    Table::of("pages", "", rows)
        .word("side", "Side", |(side, ..)| side)
        .number("place", "Added as", |(_, place, ..)| place)
        .page("page", "Page", |(_, _, url, _)| url)
        .number("score", "Score", |(.., score)| score)
        .done()
}

// The links of a core as SVG: a matrix with a row for each hub and a column for each authority, both grouped by site.

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
struct Picture {
    svg: String,
    /// Which pages are shown; empty if all are.
    note: String,
}

/// The hubs or the authorities, grouped by site.
struct Axis {
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

impl Axis {
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
fn draw(core: &CoreView, links: &CoreLinks, site_of: &dyn Fn(&str) -> String) -> Picture {
    let (hubs, authorities) = (core.hubs.len(), core.authorities.len());
    let rows = Axis::new(&core.hubs[..hubs.min(MAX_ROWS)], site_of);
    let columns = Axis::new(&core.authorities[..authorities.min(MAX_ROWS)], site_of);
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

fn matrix(links: &CoreLinks, rows: &Axis, columns: &Axis) -> String {
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
