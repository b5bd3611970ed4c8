//! A site: its pages by state, its role in every plan, and its links with other sites.

use askama::Template;
use serde::Deserialize;

use super::layout::Layout;
use crate::engine::query::{SiteFacts, SiteInPlan, SiteLimits, SiteLinkCounts};
use crate::html::text::Count;
use crate::render::site_in_plan;
use crate::serve::address::{self, Address, line_html};
use crate::serve::answer::{Answer, RequestError};
use crate::serve::executor::Context;
use crate::serve::media_type::MediaType;

/// Maximum number of pages to examine, which takes well below a second.
const MAX_EXAMINED: u64 = 20_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Params {
    name: String,
    #[serde(rename = "format")]
    _format: Option<MediaType>,
}

#[derive(Template)]
#[template(path = "site.html", config = "src/serve/askama.toml")]
struct Page<'a> {
    layout: Layout<'a>,
    facts: SiteFacts,
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "all pages have the same signature"
)]
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
        MediaType::Json => SiteLimits::AS_JSON,
    };
    let limits = SiteLimits {
        pages: MAX_EXAMINED,
        ..limits
    };
    let facts = context.bank.site(&params.name, limits, context.watch)?;
    if media_type == MediaType::Json {
        return Answer::json(&facts);
    }
    Answer::page(&Page {
        layout: Layout::new(context, address::site(&facts.site)),
        facts,
    })
}

impl Page<'_> {
    /// Returns the links with other sites, with titles.
    fn links(&self) -> [(&'static str, &SiteLinkCounts); 2] {
        [
            ("Links to", &self.facts.links_to),
            ("Linked from", &self.facts.linked_from),
        ]
    }

    /// Returns the address of a search for the pages of the site.
    fn pages(&self) -> Address {
        Address::new("/search").with("q", format_args!("{}/", self.facts.site))
    }
}

/// Returns the lines about the site in the last refresh of a plan, as HTML.
fn in_plan(plan: &SiteInPlan) -> Vec<String> {
    site_in_plan(plan)
        .into_iter()
        .map(|line| line_html(&line))
        .collect()
}
