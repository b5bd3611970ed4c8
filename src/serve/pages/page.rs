//! Pages of the web: what is known about one, its links, its history as a seed, why it is one, and searches.

use askama::Template;
use serde::Deserialize;

use super::layout::{Layout, Pager, pager, params};
use crate::answers::{
    Cell, Facts, Line, Table, cause_text, page_attributes, page_evidence, page_reason,
    page_sentence, proof, state_name,
};
use crate::engine::query::{
    Appearance, Explanation, LinkDirection, LinkedPages, LinkedRequest, LinksBySite, PageFacts,
    PageHistory, PageInPlan, PageLimits, PolicyVerdict, SearchResult, SiteLinks, Why,
};
use crate::html::bars::truncate;
use crate::html::text::{Count, escape, put};
use crate::serve::address::{self, Address, line_html};
use crate::serve::answer::{Answer, MediaType, RequestError};
use crate::serve::api::{Query as _, SearchQuery, StateFilter};
use crate::serve::executor::Context;
use crate::serve::params::{integer, optional_integer, which};
use crate::serve::table::{Files as _, csv_answer};
use seedbank_formats::display::readable;

/// Maximum number of linked pages in a CSV file.
const FILE_ROWS: usize = 10_000;

/// Maximum number of sites, and of pages, that a search shows; JSON has 20 by default.
const FOUND: u32 = 50;

params! {
    PageQuery {
        url: String,
    }
}

params! {
    HistoryQuery {
        url: String,
        plan: Option<String>,
    }
}

params! {
    LinksQuery {
        url: String,
        of: LinkDirection,
        site: Option<String>,
        #[serde(default, deserialize_with = "integer")]
        from: u64,
    }
}

params! {
    Search {
        #[serde(default)]
        q: String,
        /// Shows only pages in this state.
        #[serde(default)]
        state: StateFilter,
    }
}

/// The parameters of an explanation, which has no table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExplainQuery {
    url: String,
    plan: Option<String>,
    #[serde(default, deserialize_with = "optional_integer")]
    refresh: Option<u32>,
    #[serde(rename = "format")]
    _format: Option<MediaType>,
}

/// A crawled or known page: facts, its role in every plan, and its history as a seed.
#[derive(Template)]
#[template(path = "page.html", config = "src/serve/askama.toml")]
struct PagePage<'a> {
    layout: Layout<'a>,
    facts: PageFacts,
    history: PageHistory,
    /// The linked sites as a picture; `None` if there are none.
    net: Option<String>,
    changes: Table,
    /// The addresses of the tables.
    address: Address,
}

/// When a page was a seed, and why it became or stopped being one.
#[derive(Template)]
#[template(path = "history.html", config = "src/serve/askama.toml")]
struct HistoryPage<'a> {
    layout: Layout<'a>,
    history: PageHistory,
    changes: Table,
}

/// The pages that link to a page or that it links to, a hundred at a time.
#[derive(Template)]
#[template(path = "links.html", config = "src/serve/askama.toml")]
struct LinksPage<'a> {
    layout: Layout<'a>,
    linked: LinkedPages,
    pages: Table,
    /// Maximum number of rows on the page.
    rows: u64,
}

/// Why a page is a seed of a refresh, or why not, with the evidence.
#[derive(Template)]
#[template(path = "explain.html", config = "src/serve/askama.toml")]
struct ExplainPage<'a> {
    layout: Layout<'a>,
    answer: Explanation,
    evidence: Facts,
}

/// Pages and sites that a search finds.
#[derive(Template)]
#[template(path = "search.html", config = "src/serve/askama.toml")]
struct SearchPage<'a> {
    layout: Layout<'a>,
    state: StateFilter,
    /// The result; `None` if there was no text to search for.
    found: Option<SearchResult>,
    pages: Table,
    sites: Table,
}

pub(super) fn page(
    context: &Context<'_>,
    params: PageQuery,
    media_type: MediaType,
) -> Result<Answer, RequestError> {
    let url = params.url;
    if media_type == MediaType::Csv {
        let facts = context.bank.page(&url, PageLimits::AS_JSON)?;
        let tables = [
            links_by_site(&facts.url, LinkDirection::Out, &facts.outlinks),
            links_by_site(&facts.url, LinkDirection::In, &facts.inlinks),
        ];
        return csv_answer(&tables, params.table.as_ref(), "page");
    }
    let facts = context.bank.page(&url, PageLimits::default())?;
    let history = context.bank.page_history(&url, None)?;
    let (address, of_history) = (address::page(&facts.url), address::history(&facts.url));
    Answer::page(&PagePage {
        layout: Layout::with_json(
            context,
            [
                ("The facts as JSON", address.in_api()),
                ("the history", of_history.in_api()),
            ],
        ),
        changes: history_table(&history).with_files(&of_history, &of_history.in_api()),
        address,
        net: draw(&facts, facts.plans.iter().any(is_seed)),
        facts,
        history,
    })
}

/// Returns the sites that are linked with a page, with examples of their pages.
fn links_by_site(url: &str, direction: LinkDirection, links: &LinksBySite) -> Table {
    let name = direction.name();
    let caption = match direction {
        LinkDirection::Out => "Sites that the page links to",
        LinkDirection::In => "Sites that link to the page",
    };
    Table::of(name, caption, &links.by_site)
        .text("site", "Site", |site| Cell::site(&site.site))
        .number("pages", "Pages", |site| {
            let all = address::links(url, name, Some(&site.site), 0);
            Cell::Count(site.pages).linked(&all)
        })
        .text("examples", "Examples", |site| {
            Cell::Pages(site.examples.clone())
        })
        .done()
}

impl PagePage<'_> {
    /// Explains why the page is a seed of a plan, or why not.
    fn why(&self, plan: &PageInPlan) -> String {
        let (site, alias) = (&self.facts.site, self.facts.alias.as_ref());
        let policy = plan.policy.as_ref();
        line_html(&page_reason(&plan.run, policy, &plan.why, site, alias))
    }

    /// Returns title, direction, links and table of the links in both directions.
    fn links(&self) -> [(&'static str, &'static str, &LinksBySite, Table); 2] {
        let facts = &self.facts;
        [
            ("Links to", LinkDirection::Out, &facts.outlinks),
            ("Linked from", LinkDirection::In, &facts.inlinks),
        ]
        .map(|(title, direction, links)| {
            let table = links_by_site(&facts.url, direction, links);
            let table = table.with_files(&self.address, &self.address.in_api());
            (title, direction.name(), links, table)
        })
    }
}

fn is_seed(plan: &PageInPlan) -> bool {
    match plan.policy {
        Some(PolicyVerdict::Pinned { .. } | PolicyVerdict::Retained { .. }) => true,
        Some(_) => false,
        None => matches!(
            plan.why,
            Why::CoreSeed(_) | Why::CoverSeed(_) | Why::WebSeed(_)
        ),
    }
}

pub(super) fn history(
    context: &Context<'_>,
    params: HistoryQuery,
    media_type: MediaType,
) -> Result<Answer, RequestError> {
    let plan = params.plan.as_deref();
    let history = context.bank.page_history(&params.url, plan)?;
    let address = address::history(&history.url).with_some("plan", plan);
    let changes = history_table(&history).with_files(&address, &address.in_api());
    if media_type == MediaType::Csv {
        return csv_answer(&[changes], params.table.as_ref(), "");
    }
    Answer::page(&HistoryPage {
        layout: Layout::new(context, &address.in_api()),
        history,
        changes,
    })
}

/// Returns the refreshes in which a page is a seed, and those that lost it, by plan and number.
fn history_table(history: &PageHistory) -> Table {
    let rows = history.plans.iter().flat_map(|plan| {
        let appearances = plan.appearances.iter();
        appearances.map(move |appearance| (&plan.plan, appearance))
    });
    Table::of("history", "Refreshes with the page as a seed", rows)
        .word("plan", "Plan", |(plan, _)| Cell::plan(plan))
        .number("refresh", "Refresh", |(_, at)| Cell::Refresh(at.refresh))
        .number("after_batch", "After batch", |(_, at)| at.state_batch)
        .optional("rank", "Rank", |(_, at)| at.rank)
        .text("change", "Change", |(_, at)| describe(at))
        .done()
}

/// Describes what changed for a page at a refresh.
fn describe(appearance: &Appearance) -> Line {
    let what = match (appearance.rank, appearance.cause) {
        (Some(_), Some(_)) => "became a seed",
        (Some(_), None) => "a seed",
        (None, _) => "stopped being a seed",
    };
    let mut line = Line::from(what);
    if let Some(cause) = appearance.cause {
        line = line.and(": ").and(cause_text(cause));
    }
    if let Some(by) = &appearance.by {
        line = line.and(", ").and_page(by);
    }
    if let Some(batch) = appearance.batch {
        line = line.and(format_args!(" (batch {batch})"));
    }
    line
}

pub(super) fn links(
    context: &Context<'_>,
    params: LinksQuery,
    media_type: MediaType,
) -> Result<Answer, RequestError> {
    let mut request = LinkedRequest {
        direction: params.of,
        site: params.site,
        offset: params.from,
        ..LinkedRequest::default()
    };
    let rows = request.limit as u64;
    if media_type == MediaType::Csv {
        request.limit = FILE_ROWS;
    }
    let linked = context.bank.linked(&params.url, &request)?;
    let direction = linked.direction.name();
    let pages = linked_table(&linked);
    if media_type == MediaType::Csv {
        let file = format!("links-{direction}");
        return csv_answer(&[pages], params.table.as_ref(), &file);
    }
    let site = linked.site.as_deref();
    let json = address::links_in_api(&linked.url, direction, site, linked.offset);
    let csv = address::links(&linked.url, direction, site, 0);
    Answer::page(&LinksPage {
        layout: Layout::new(context, &json),
        pages: pages.with_files(&csv, &json),
        linked,
        rows,
    })
}

fn linked_table(linked: &LinkedPages) -> Table {
    Table::of("pages", "Linked pages", &linked.linked)
        .page("page", "Page", |page| &page.url)
        .text("site", "Site", |page| Cell::site(&page.site))
        .text("state", "State", |page| {
            let spam = page.spam.then_some("spam");
            Cell::from(state_name(page.state)).tagged("lost", spam)
        })
        .text("seed_of", "Seed of plan", |page| {
            Cell::Plans(page.seed_of.clone())
        })
        .done()
}

impl LinksPage<'_> {
    fn title(&self) -> &'static str {
        match self.linked.direction {
            LinkDirection::In => "Links to",
            LinkDirection::Out => "Links from",
        }
    }

    /// Returns the first and the last shown number; `None` if all pages are shown.
    fn range(&self) -> Option<String> {
        let linked = &self.linked;
        let shown = linked.linked.len() as u64;
        let first = linked.offset.saturating_add(1).whole();
        let last = linked.offset.saturating_add(shown).whole();
        (shown > 0 && shown < linked.pages).then(|| format!("{first} to {last}"))
    }

    /// Returns the address of the list without the first `from` pages.
    fn address(&self, from: u64) -> Address {
        let linked = &self.linked;
        let site = linked.site.as_deref();
        address::links(&linked.url, linked.direction.name(), site, from)
    }

    fn pager(&self) -> Pager {
        let linked = &self.linked;
        pager(linked.offset, self.rows, linked.pages, |from| {
            self.address(from)
        })
    }
}

pub(super) fn explain(
    context: &Context<'_>,
    params: ExplainQuery,
    _: MediaType,
) -> Result<Answer, RequestError> {
    let which = which(params.plan, params.refresh);
    let answer = context.bank.explain(&params.url, &which)?;
    let address = Address::new("/explain")
        .with("url", &params.url)
        .with_some("plan", which.plan)
        .with_some("refresh", which.refresh);
    Answer::page(&ExplainPage {
        layout: Layout::new(context, &address.in_api()),
        evidence: page_evidence(&answer),
        answer,
    })
}

impl ExplainPage<'_> {
    fn sentence(&self) -> String {
        line_html(&page_sentence(&self.answer))
    }
}

pub(super) fn search(
    context: &Context<'_>,
    params: Search,
    media_type: MediaType,
) -> Result<Answer, RequestError> {
    let (text, state) = (params.q, params.state);
    let found = if text.trim().is_empty() {
        None
    } else {
        let query = SearchQuery {
            q: text.clone(),
            state,
            limit: FOUND,
        };
        Some(query.answer(context)?)
    };
    let address = searched(&text, state);
    let pages = found_pages(found.as_ref()).with_files(&address, &address.in_api());
    let sites = found_sites(found.as_ref()).with_files(&address, &address.in_api());
    if media_type == MediaType::Csv {
        return csv_answer(&[pages, sites], params.table.as_ref(), "search");
    }
    let json = found.as_ref();
    let json = json.map(|_| ("The first results as JSON", address.in_api()));
    let mut layout = Layout::with_json(context, json);
    layout.query = text;
    Answer::page(&SearchPage {
        layout,
        state,
        found,
        pages,
        sites,
    })
}

/// Returns the address of a search for pages in a state.
fn searched(text: &str, state: StateFilter) -> Address {
    let only = Some(state.name()).filter(|_| state != StateFilter::Any);
    Address::new("/search")
        .with("q", text)
        .with_some("state", only)
}

impl SearchPage<'_> {
    /// Returns the address of the same search for pages in a state.
    fn in_state(&self, state: StateFilter) -> Address {
        searched(&self.layout.query, state)
    }
}

fn found_pages(found: Option<&SearchResult>) -> Table {
    let pages = found.into_iter().flat_map(|found| &found.pages);
    Table::of("pages", "Pages", pages)
        .page("page", "Page", |page| &page.url)
        .text("state", "State", |page| {
            let spam = page.spam.then_some("spam");
            Cell::from(state_name(page.state)).tagged("lost", spam)
        })
        .done()
}

fn found_sites(found: Option<&SearchResult>) -> Table {
    let sites = found.into_iter().flat_map(|found| &found.sites);
    Table::of("sites", "Sites", sites)
        .text("site", "Site", |site| Cell::site(&site.site))
        .number("crawled", "Crawled pages", |site| site.crawled)
        .number("known", "Known pages", |site| site.known)
        .done()
}

// The neighbourhood of a page as SVG: above it the pages that link to it, below it those that it links to, by site.

/// Maximum number of sites in each direction.
const SITES: usize = 8;
/// Number of rows in each direction that pages may fill after the sites.
const PICTURE_ROWS: usize = 14;

const WIDTH: f64 = 380.0;
const LINE: f64 = 20.0;
/// Horizontal places of the page itself, of sites, and of linked pages.
const PLACES: [f64; 3] = [12.0, 34.0, 58.0];
/// Distance of a label from its circle.
const GAP: f64 = 12.0;
/// Width of a letter, roughly.
const LETTER: f64 = 6.2;

/// Draws the pages that are linked with a page; `None` if there are none.
fn draw(facts: &PageFacts, is_seed: bool) -> Option<String> {
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
        let mut rows = PICTURE_ROWS.saturating_sub(sites.len());
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
            "url": "http://a.example/", "site": "<s0>.example", "state": "crawled", "kind": "page",
            "spam": false, "spam_source": null, "quality": null, "quality_source": null, "clicks": 0,
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
        assert_eq!(
            drawn.matches("<a href=\"/page?").count(),
            3 + PICTURE_ROWS - SITES
        );
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
