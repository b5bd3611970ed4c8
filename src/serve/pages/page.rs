//! A crawled or known page: facts, its role in every plan, and its history as a seed.

use askama::Template;
use serde::Deserialize;

use super::layout::Layout;
use crate::engine::query::{
    AliasBy, AttributeSource, LinksBySite, PageFacts, PageHistory, PageInPlan, PageLimits,
    PolicyVerdict, SeenInBatch, Why,
};
use crate::html::text::Count;
use crate::render::{page_reason, state_name};
use crate::serve::address::{self, line_html};
use crate::serve::answer::{Answer, RequestError};
use crate::serve::executor::Context;
use crate::serve::media_type::MediaType;
use seedbank_formats::clock::time;
use seedbank_formats::display::readable;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Params {
    url: String,
    #[serde(rename = "format")]
    _format: Option<MediaType>,
}

#[derive(Template)]
#[template(path = "page.html", config = "src/serve/askama.toml")]
struct Page<'a> {
    layout: Layout<'a>,
    facts: PageFacts,
    history: PageHistory,
}

pub(super) fn render(
    context: &Context<'_>,
    params: Params,
    media_type: MediaType,
) -> Result<Answer, RequestError> {
    let url = params.url;
    if media_type == MediaType::Json {
        return Answer::json(&context.bank.page(&url, PageLimits::AS_JSON)?);
    }
    let facts = context.bank.page(&url, PageLimits::default())?;
    let history = context.bank.page_history(&url, None, context.watch)?;
    Answer::page(&Page {
        layout: Layout::with_json(
            context,
            [
                ("The facts as JSON", address::page(&facts.url)),
                ("the history", address::history(&facts.url)),
            ],
        ),
        facts,
        history,
    })
}

impl Page<'_> {
    /// Explains why the page is a seed of a plan, or why not.
    fn why(&self, plan: &PageInPlan) -> String {
        let why = (plan.policy.as_ref(), &plan.why);
        let facts = &self.facts;
        let alias = facts.alias.as_ref();
        line_html(&page_reason(&plan.run, why, &facts.site, alias))
    }

    /// Returns title, direction and links by site.
    fn links(&self) -> [(&'static str, &'static str, &LinksBySite); 2] {
        [
            ("Links to", "out", &self.facts.outlinks),
            ("Linked from", "in", &self.facts.inlinks),
        ]
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
