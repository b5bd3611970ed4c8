//! A site: its pages by state, its seeds and why not others, whom it links to and who links to it.

use askama::Template;
use serde::Deserialize;

use super::frame::Frame;
use crate::engine::{SiteFacts, SiteInPlan, SiteLimits, SiteLinkCounts};
use crate::html::text::Count;
use crate::render::site_in_plan;
use crate::serve::address::{self, Address, linked};
use crate::serve::answer::{Answer, Fault};
use crate::serve::desk::State;
use crate::serve::form::Form;

/// Pages that are looked at: what takes well below a second.
const LOOKED: u64 = 20_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct About {
    name: String,
    #[serde(rename = "format")]
    _format: Option<Form>,
}

#[derive(Template)]
#[template(path = "site.html", config = "src/serve/askama.toml")]
struct Page<'a> {
    frame: Frame<'a>,
    facts: SiteFacts,
}

pub(super) fn made(state: &State<'_>, about: About, form: Form) -> Result<Answer, Fault> {
    let About { name, .. } = about;
    let limits = match form {
        Form::Html => SiteLimits {
            sites: 20,
            digests: 10,
            ..SiteLimits::default()
        },
        Form::Json => SiteLimits::AS_JSON,
    };
    let limits = SiteLimits {
        pages: LOOKED,
        ..limits
    };
    let facts = state.bank.site(&name, limits, state.watch)?;
    if form == Form::Json {
        return Answer::json(&facts);
    }
    Answer::page(&Page {
        frame: Frame::around(state, address::site(&facts.site)),
        facts,
    })
}

impl Page<'_> {
    /// Its links with other sites, each way.
    fn links(&self) -> [(&'static str, &SiteLinkCounts); 2] {
        [
            ("Links to", &self.facts.links_to),
            ("Linked from", &self.facts.linked_from),
        ]
    }

    /// The pages of the site, by their URLs.
    fn pages(&self) -> Address {
        Address::of("/search").with("q", format_args!("{}/", self.facts.site))
    }
}

/// What a plan's last refresh made of the site.
fn in_plan(plan: &SiteInPlan) -> Vec<String> {
    let lines = site_in_plan(plan).into_iter();
    lines.map(|line| linked(&line)).collect()
}
