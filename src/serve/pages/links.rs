//! The pages that link to a page or that it links to, a hundred at a time.

use askama::Template;
use serde::Deserialize;

use super::layout::{Layout, Pager, pager};
use crate::engine::query::{LinkDirection, LinkedPages, LinkedRequest};
use crate::html::text::Count;
use crate::render::state_name;
use crate::serve::address::{self, Address};
use crate::serve::answer::{Answer, RequestError};
use crate::serve::executor::Context;
use crate::serve::media_type::MediaType;
use crate::serve::query_params::integer;
use seedbank_formats::display::readable;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Params {
    url: String,
    of: LinkDirection,
    site: Option<String>,
    #[serde(default, deserialize_with = "integer")]
    from: u64,
    #[serde(rename = "format")]
    _format: Option<MediaType>,
}

#[derive(Template)]
#[template(path = "links.html", config = "src/serve/askama.toml")]
struct Page<'a> {
    layout: Layout<'a>,
    linked: LinkedPages,
    /// Maximum number of rows on the page.
    rows: u64,
}

pub(super) fn render(
    context: &Context<'_>,
    params: Params,
    media_type: MediaType,
) -> Result<Answer, RequestError> {
    let request = LinkedRequest {
        direction: params.of,
        site: params.site,
        offset: params.from,
        ..LinkedRequest::default()
    };
    let rows = request.limit as u64;
    let linked = context.bank.linked(&params.url, &request)?;
    if media_type == MediaType::Json {
        return Answer::json(&linked);
    }
    let address = address::links(
        &linked.url,
        linked.direction.name(),
        linked.site.as_deref(),
        linked.offset,
    );
    Answer::page(&Page {
        layout: Layout::new(context, address),
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
