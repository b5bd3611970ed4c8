//! A crawled or known page: facts, its role in every plan, and its history as a seed.

use askama::Template;
use serde::Deserialize;

use super::history::table_of;
use super::layout::Layout;
use super::neighbourhood::draw;
use crate::engine::query::{
    AliasBy, AttributeSource, LinkDirection, LinksBySite, PageFacts, PageHistory, PageInPlan,
    PageLimits, PolicyVerdict, SeenInBatch, Why,
};
use crate::html::text::Count;
use crate::render::{failed_fetches, fetch_origin, page_reason, page_yield, proof, state_name};
use crate::serve::address::{self, Address, line_html};
use crate::serve::answer::{Answer, RequestError};
use crate::serve::executor::Context;
use crate::serve::media_type::MediaType;
use crate::serve::query_params::TableName;
use crate::serve::table::{Cell, Column, Table, csv_answer};
use seedbank_formats::clock::time;
use seedbank_formats::display::readable;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Params {
    url: String,
    table: Option<TableName>,
    #[serde(rename = "format")]
    _format: Option<MediaType>,
}

#[derive(Template)]
#[template(path = "page.html", config = "src/serve/askama.toml")]
struct Page<'a> {
    layout: Layout<'a>,
    facts: PageFacts,
    history: PageHistory,
    /// The linked sites as a picture; `None` if there are none.
    net: Option<String>,
    changes: Table,
    /// The addresses of the tables.
    address: Address,
}

pub(super) fn render(
    context: &Context<'_>,
    params: Params,
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
    Answer::page(&Page {
        layout: Layout::with_json(
            context,
            [
                ("The facts as JSON", address::page(&facts.url).in_api()),
                ("the history", address::history(&facts.url).in_api()),
            ],
        ),
        changes: {
            let address = address::history(&facts.url);
            table_of(&history).with_files(&address, &address.in_api())
        },
        address: address::page(&facts.url),
        net: draw(&facts, facts.plans.iter().any(is_seed)),
        facts,
        history,
    })
}

/// Returns the sites that are linked with a page, with examples of their pages.
fn links_by_site(url: &str, direction: LinkDirection, links: &LinksBySite) -> Table {
    let name = direction.name();
    let rows = links.by_site.iter().map(|site| {
        let all = address::links(url, name, Some(&site.site), 0);
        vec![
            Cell::Site(site.site.clone()),
            Cell::Count(site.pages).linked(all),
            Cell::Pages(site.examples.clone()),
        ]
    });
    let columns = vec![
        Column::text("site", "Site"),
        Column::number("pages", "Pages"),
        Column::text("examples", "Examples"),
    ];
    let caption = match direction {
        LinkDirection::Out => "Sites that the page links to",
        LinkDirection::In => "Sites that link to the page",
    };
    Table::new(name, caption, columns, rows.collect())
}

impl Page<'_> {
    /// Explains why the page is a seed of a plan, or why not.
    fn why(&self, plan: &PageInPlan) -> String {
        let facts = &self.facts;
        line_html(&page_reason(
            &plan.run,
            plan.policy.as_ref(),
            &plan.why,
            &facts.site,
            facts.alias.as_ref(),
        ))
    }

    /// Says how a crawler came to the last fetch that it attributed to a seed.
    fn origin(&self) -> String {
        let origin = self.facts.origin.as_ref();
        origin.map_or_else(String::new, |origin| line_html(&fetch_origin(origin)))
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

    fn spam(&self) -> &'static str {
        match (self.facts.spam, self.facts.spam_source) {
            (true, Some(AttributeSource::Site)) => "spam because its site is",
            (true, _) => "spam",
            (false, None) => "not given",
            (false, Some(_)) => "not spam",
        }
    }

    fn quality(&self) -> String {
        let of_site = self.facts.quality_source == Some(AttributeSource::Site);
        match self.facts.quality {
            None => "not given".to_owned(),
            Some(quality) if of_site => format!("{quality}, that of its site"),
            Some(quality) => quality.to_string(),
        }
    }
}

fn seen(seen: &SeenInBatch) -> String {
    format!("batch {}, {}", seen.batch, time(seen.at))
}

/// Returns why the page is an alias.
const fn by(by: AliasBy) -> &'static str {
    match by {
        AliasBy::Redirect => "a redirect",
        AliasBy::Canonical => "a canonical link",
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
