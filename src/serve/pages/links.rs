//! The pages at the other ends of a page's links, a hundred at a time.

use askama::Template;
use serde::Deserialize;

use super::frame::Frame;
use crate::engine::{LinkDirection, LinkedPages, LinkedRequest};
use crate::html::text::Count;
use crate::render::state_name;
use crate::serve::address::{self, Address};
use crate::serve::answer::{Answer, Fault};
use crate::serve::desk::State;
use crate::serve::form::Form;
use crate::serve::query_params::whole;
use seedbank_formats::shown::readable;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct About {
    url: String,
    of: LinkDirection,
    site: Option<String>,
    #[serde(default, deserialize_with = "whole")]
    from: u64,
    #[serde(rename = "format")]
    _format: Option<Form>,
}

#[derive(Template)]
#[template(path = "links.html", config = "src/serve/askama.toml")]
struct Page<'a> {
    frame: Frame<'a>,
    linked: LinkedPages,
    /// Pages on one page.
    rows: u64,
}

pub(super) fn made(state: &State<'_>, about: About, form: Form) -> Result<Answer, Fault> {
    let request = LinkedRequest {
        direction: about.of,
        site: about.site,
        offset: about.from,
        ..LinkedRequest::default()
    };
    let rows = request.limit as u64;
    let linked = state.bank.linked(&about.url, &request)?;
    if form == Form::Json {
        return Answer::json(&linked);
    }
    let here = address::links(
        &linked.url,
        linked.direction.name(),
        linked.site.as_deref(),
        linked.offset,
    );
    Answer::page(&Page {
        frame: Frame::around(state, here),
        linked,
        rows,
    })
}

impl Page<'_> {
    fn title(&self) -> &'static str {
        match self.linked.direction {
            LinkDirection::In => "Links to",
            LinkDirection::Out => "Links from",
        }
    }

    /// Which of the pages are on this page; `None` where it has all.
    fn range(&self) -> Option<String> {
        let linked = &self.linked;
        let here = linked.linked.len() as u64;
        let first = linked.offset.saturating_add(1).whole();
        let last = linked.offset.saturating_add(here).whole();
        (here > 0 && here < linked.pages).then(|| format!("{first} to {last}"))
    }

    /// The same links from this place on.
    fn from(&self, from: u64) -> Address {
        let linked = &self.linked;
        let site = linked.site.as_deref();
        address::links(&linked.url, linked.direction.name(), site, from)
    }

    /// The pages before these, and those after.
    fn turns(&self) -> (Option<Address>, Option<Address>) {
        let linked = &self.linked;
        let to = |from| self.from(from);
        let before = (linked.offset > 0)
            .then(|| to(linked.offset.min(linked.pages).saturating_sub(self.rows)));
        let next = linked.offset.saturating_add(self.rows);
        (before, (next < linked.pages).then(|| to(next)))
    }
}
