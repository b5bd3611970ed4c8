//! A site: its pages by state, its seeds and why not others, whom it links to and who links to it.

use std::sync::Arc;

use askama::Template;
use axum::body::Body;
use axum::extract::State as Shared;
use axum::http::Response;
use serde::Deserialize;

use super::frame::Frame;
use crate::engine::{LinksOfSite, SiteFacts, SiteInPlan, SiteLimits};
use crate::html::text::Count;
use crate::serve::address::{self, Address, Named, linked};
use crate::serve::answer::{Answer, Fault};
use crate::serve::asked::Asked;
use crate::serve::desk::{Desk, State};
use crate::serve::form::Form;
use crate::told::{Lines, of_site_in_plan};

/// Pages that are looked at: what takes well below a second.
const LOOKED: u64 = 20_000;

#[derive(Deserialize)]
pub(super) struct About {
    name: String,
}

#[derive(Template)]
#[template(path = "site.html", config = "src/serve/askama.toml")]
struct Page<'a> {
    frame: Frame<'a>,
    facts: SiteFacts,
}

pub(super) async fn answer(Shared(desk): Shared<Arc<Desk>>, asked: Asked<About>) -> Response<Body> {
    desk.answer(Some(asked.address.clone()), asked.form, move |state| {
        made(state, &asked.about.name, asked.form)
    })
    .await
}

fn made(state: &State<'_>, name: &str, form: Form) -> Result<Answer, Fault> {
    // As much as the command line tells as JSON.
    let (sites, digests) = match form {
        Form::Html => (20, 10),
        Form::Json => (100, 20),
    };
    let limits = SiteLimits {
        sites,
        digests,
        pages: LOOKED,
        ..SiteLimits::default()
    };
    let facts = state.bank.site(name, limits, state.watch)?;
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
    fn links(&self) -> [(&'static str, &LinksOfSite); 2] {
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
fn in_plan(plan: &SiteInPlan) -> String {
    let mut lines = Lines(String::new());
    of_site_in_plan(&mut lines, plan);
    linked(&lines.0, &Named::by(plan))
}
