//! A page of the web: what the bank knows of it, what it is in every plan, and when it was a seed.

use askama::Template;
use serde::Deserialize;

use super::frame::Frame;
use crate::engine::{
    AliasBy, AttributeSource, LinksBySite, PageFacts, PageHistory, PageInPlan, PageLimits,
    PolicyVerdict, SeenInBatch, Why,
};
use crate::html::text::Count;
use crate::render::{page_reason, state_name};
use crate::serve::address::{self, linked};
use crate::serve::answer::{Answer, Fault};
use crate::serve::desk::State;
use crate::serve::form::Form;
use seedbank_formats::clock::time;
use seedbank_formats::shown::readable;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct About {
    url: String,
    #[serde(rename = "format")]
    _format: Option<Form>,
}

#[derive(Template)]
#[template(path = "page.html", config = "src/serve/askama.toml")]
struct Page<'a> {
    frame: Frame<'a>,
    facts: PageFacts,
    history: PageHistory,
}

pub(super) fn made(state: &State<'_>, about: About, form: Form) -> Result<Answer, Fault> {
    let About { url, .. } = about;
    if form == Form::Json {
        return Answer::json(&state.bank.page(&url, PageLimits::AS_JSON)?);
    }
    let facts = state.bank.page(&url, PageLimits::default())?;
    let history = state.bank.page_history(&url, None, state.watch)?;
    Answer::page(&Page {
        frame: Frame::with_json(
            state,
            [
                ("What is known of it as JSON", address::page(&facts.url)),
                ("when it was a seed", address::history(&facts.url)),
            ],
        ),
        facts,
        history,
    })
}

impl Page<'_> {
    /// Why it is a seed of a plan, or why not, with links to the pages that are named.
    fn why(&self, plan: &PageInPlan) -> String {
        let why = (plan.policy.as_ref(), &plan.why);
        let facts = &self.facts;
        let alias = facts.alias.as_ref();
        linked(&page_reason(&plan.run, why, &facts.site, alias))
    }

    /// What is known of its links, each way.
    fn links(&self) -> [(&'static str, &'static str, &LinksBySite); 2] {
        [
            ("Links to", "out", &self.facts.outlinks),
            ("Linked from", "in", &self.facts.inlinks),
        ]
    }

    fn spam(&self) -> &'static str {
        match (self.facts.spam, self.facts.spam_source) {
            (true, Some(AttributeSource::Site)) => "spam, as its site is",
            (true, _) => "spam",
            (false, None) => "no mark was given",
            (false, Some(_)) => "no spam",
        }
    }

    fn quality(&self) -> String {
        let of_site = self.facts.quality_source == Some(AttributeSource::Site);
        match self.facts.quality {
            None => "not given".to_owned(),
            Some(quality) if of_site => format!("{quality}, as its site has"),
            Some(quality) => quality.to_string(),
        }
    }
}

/// A batch with its day.
fn seen(seen: &SeenInBatch) -> String {
    format!("batch {}, {}", seen.batch, time(seen.at))
}

/// What makes an alias one.
const fn by(by: AliasBy) -> &'static str {
    match by {
        AliasBy::Redirect => "a redirect",
        AliasBy::Canonical => "it names that as canonical",
    }
}

/// Whether it is a seed of a plan.
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
