//! A site: its pages by state, its role in every plan, and its links with other sites.

use askama::Template;
use serde::Deserialize;

use super::layout::Layout;
use super::site_plans::{PlanOfSite, plan_of_site};
use crate::engine::query::{SiteFacts, SiteLimits, SiteLinkCounts};
use crate::html::text::Count;
use crate::render::failing_pages;
use crate::serve::address::{self, Address};
use crate::serve::answer::{Answer, RequestError};
use crate::serve::api::MAX_SITE_PAGES;
use crate::serve::executor::Context;
use crate::serve::media_type::MediaType;
use crate::serve::query_params::TableName;
use crate::serve::table::{Cell, Column, Table, csv_answer};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Params {
    name: String,
    table: Option<TableName>,
    #[serde(rename = "format")]
    _format: Option<MediaType>,
}

#[derive(Template)]
#[template(path = "site.html", config = "src/serve/askama.toml")]
struct Page<'a> {
    layout: Layout<'a>,
    facts: SiteFacts,
    /// What the last refresh of each plan selected on the site.
    plans: Vec<PlanOfSite>,
    links_to: Table,
    linked_from: Table,
    digests: Table,
}

pub(super) fn render(
    context: &Context<'_>,
    params: Params,
    media_type: MediaType,
) -> Result<Answer, RequestError> {
    let limits = match media_type {
        MediaType::Html => SiteLimits {
            sites: 20,
            digests: 10,
            ..SiteLimits::default()
        },
        _ => SiteLimits::AS_JSON,
    };
    let limits = SiteLimits {
        pages: MAX_SITE_PAGES,
        ..limits
    };
    let facts = context.bank.site(&params.name, limits)?;
    let address = address::site(&facts.site);
    let links_to =
        linked_sites("links-to", &facts.links_to).with_files(&address, &address.in_api());
    let linked_from =
        linked_sites("linked-from", &facts.linked_from).with_files(&address, &address.in_api());
    let digests = digest_table(&facts).with_files(&address, &address.in_api());
    if media_type == MediaType::Csv {
        let tables = [links_to, linked_from, digests];
        return csv_answer(&tables, params.table.as_ref(), "site");
    }
    let plans = facts.plans.iter().map(|plan| plan_of_site(context, plan));
    Answer::page(&Page {
        layout: Layout::new(context, address.in_api()),
        plans: plans.collect::<Result<_, _>>()?,
        facts,
        links_to,
        linked_from,
        digests,
    })
}

/// Returns the sites with the most links to or from a site.
fn linked_sites(name: &'static str, links: &SiteLinkCounts) -> Table {
    let rows = links.by_site.iter().map(|other| {
        vec![
            Cell::Site(other.site.clone()),
            Cell::Count(other.links),
            Cell::Count(other.pages),
        ]
    });
    let columns = vec![
        Column::text("site", "Site"),
        Column::number("links", "Links"),
        Column::number("pages", "Pages"),
    ];
    let caption = "Linked sites, the most links first";
    Table::new(name, caption, columns, rows.collect())
}

/// Returns the content digests that several pages share.
fn digest_table(facts: &SiteFacts) -> Table {
    let row = |same: &crate::engine::query::RepeatedDigest| {
        vec![Cell::Count(same.pages), Cell::Pages(same.examples.clone())]
    };
    let columns = vec![
        Column::number("pages", "Pages"),
        Column::text("examples", "Examples"),
    ];
    let rows = facts.digests.repeated.iter().map(row).collect();
    Table::new("digests", "Digests shared by several pages", columns, rows)
}

impl Page<'_> {
    /// Returns the links with other sites in both directions, with titles and tables.
    fn links(&self) -> [(&'static str, &SiteLinkCounts, &Table); 2] {
        let facts = &self.facts;
        [
            ("Links to", &facts.links_to, &self.links_to),
            ("Linked from", &facts.linked_from, &self.linked_from),
        ]
    }

    /// Returns the address of a search for the pages of the site.
    fn pages(&self) -> Address {
        Address::new("/search").with("q", format_args!("{}/", self.facts.site))
    }
}
