//! What one capture says of its page.

use std::borrow::Cow;

use super::envelope::{
    Document, Html, LinkTag, MetaTag, Object, Response, each, first_text, read, status, text,
};
use crate::ingest::base::Base;
use crate::ingest::fetch::{Answer, Fetch, as_crawled, counted, lead};
use crate::ingest::interner::UrlNumber;
use crate::ingest::reading::Reading;
use crate::ingest::record::{Event, PageRecord};
use crate::ingest::reject::{Fault, RejectReason};
use crate::ingest::summary::{DropReason, PassedOver};
use crate::page::AliasBy;

/// What becomes of links that their page asks not to follow: `rel=nofollow` on the link, `nofollow`
/// or `none` in the page's `meta` for robots.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Nofollow {
    /// They are links as any other.
    #[default]
    Keep,
    /// They are left out, and counted.
    Drop,
}

/// What a record says; `Err` in it where that is nothing of a page.
pub(super) type Said = Result<Event<UrlNumber>, PassedOver>;

/// Reads the block of a record. Of one that is refused nothing is counted.
pub(super) fn capture(
    json: &[u8],
    nofollow: Nofollow,
    reading: &mut Reading,
) -> Result<Said, Fault> {
    let json = std::str::from_utf8(json)
        .map_err(|error| Fault::new(RejectReason::InvalidUtf8, error.to_string()))?;
    let document = read(json)?;
    counted(reading, |reading| of_document(&document, nofollow, reading))
}

fn of_document(
    document: &Document<'_>,
    nofollow: Nofollow,
    reading: &mut Reading,
) -> Result<Said, Fault> {
    let envelope = &document.envelope.0;
    let head = &envelope.head.0;
    let kind = text(head.kind, "WARC-Type")?.ok_or_else(|| {
        Fault::new(
            RejectReason::MissingType,
            "an Envelope must have a WARC-Type in its WARC-Header-Metadata",
        )
    })?;
    if !kind.eq_ignore_ascii_case("response") {
        return Ok(Err(PassedOver::NoResponse));
    }
    let response = &envelope.payload.0.response.0;
    let Some(status) = status(response.message.0.status)? else {
        return Ok(Err(PassedOver::NoStatus));
    };
    let Some(answer) = Answer::of(status) else {
        return Ok(Err(PassedOver::OtherStatus));
    };
    let location = if answer == Answer::Leads {
        first_text(response.headers.0.location, "Location")?
    } else {
        None
    };
    if answer == Answer::Leads && location.is_none() {
        return Ok(Err(PassedOver::OtherStatus));
    }
    let url = text(head.url, "WARC-Target-URI")?.ok_or_else(|| {
        Fault::new(
            RejectReason::MissingUrl,
            "a response must have a WARC-Target-URI",
        )
    })?;
    let time = text(head.date, "WARC-Date")?;
    let digest = match answer {
        Answer::Crawled => match text(head.digest, "WARC-Payload-Digest")? {
            Some(digest) => Some(digest),
            None => text(response.digest, "Entity-Digest")?,
        },
        _ => None,
    };
    let fetch = Fetch {
        url: &url,
        answer,
        time: time.as_deref(),
        time_field: "WARC-Date",
        digest: digest.as_deref(),
        location: location.as_deref(),
    };
    let mut record = match fetch.record(reading)? {
        Ok(record) => record,
        Err(reason) => return Ok(Err(reason)),
    };
    if answer != Answer::Crawled {
        return Ok(Ok(Event::Record(record)));
    }
    let mut content = Content {
        page: record.url,
        nofollow,
        reading,
    };
    content.read(&url, response, &mut record)?;
    Ok(Ok(Event::Record(record)))
}

/// What the HTML of a page says.
struct Content<'r> {
    page: UrlNumber,
    nofollow: Nofollow,
    reading: &'r mut Reading,
}

impl Content<'_> {
    /// Reads links and canonical URL of a page that was fetched. Where there is no HTML nothing is
    /// said of its links.
    fn read(
        &mut self,
        url: &str,
        response: &Response<'_>,
        record: &mut PageRecord<UrlNumber>,
    ) -> Result<(), Fault> {
        if let Some(Object(html)) = &response.html {
            let given = text(html.head.0.base, "Base")?;
            let mut base = Base::of(url, given.as_deref());
            let links = self.links(html, base.as_mut())?;
            record.outlinks = Some(self.reading.outlinks(links));
            if let Some(canonical) = canonical(html)? {
                let to = lead(self.page, &canonical, base.as_mut(), self.reading);
                record.alias = to.map(|to| (to, AliasBy::Canonical));
            }
            if record.alias.is_some() {
                record.outlinks = None;
            }
        } else {
            as_crawled(record);
        }
        Ok(())
    }

    /// The targets of the page's links, in their order.
    fn links(
        &mut self,
        html: &Html<'_>,
        mut base: Option<&mut Base>,
    ) -> Result<Vec<UrlNumber>, Fault> {
        let drops = self.nofollow == Nofollow::Drop;
        let drops_all = drops && asks_not_to_follow(html)?;
        let mut targets = Vec::new();
        each(html.links, "Links", |Object(tag): Object<LinkTag<'_>>| {
            let path = text(tag.path, "path")?;
            if !matches!(path.as_deref(), Some("A@/href" | "AREA@/href")) {
                return Ok(());
            }
            let Some(raw) = tag.url else { return Ok(()) };
            let Some(link) = text(Some(raw), "url")? else {
                self.reading.summary.dropped(DropReason::Invalid);
                return Ok(());
            };
            if drops_all || drops && has_token(text(tag.rel, "rel")?.as_deref(), "nofollow") {
                self.reading.summary.dropped(DropReason::Nofollow);
                return Ok(());
            }
            let absolute = match base.as_mut() {
                None => Ok(link),
                Some(base) => base.absolute(&link),
            };
            match absolute {
                Ok(url) => targets.extend(self.reading.target(self.page, &url)),
                Err(problem) => self.reading.summary.dropped(DropReason::from(&problem)),
            }
            Ok(())
        })?;
        Ok(targets)
    }
}

/// The first canonical URL of a page, as it is given.
fn canonical<'a>(html: &Html<'a>) -> Result<Option<Cow<'a, str>>, Fault> {
    let mut found = None;
    each(
        html.head.0.links,
        "Link",
        |Object(tag): Object<LinkTag<'a>>| {
            if found.is_none() && has_token(text(tag.rel, "rel")?.as_deref(), "canonical") {
                found = text(tag.url, "url")?;
            }
            Ok(())
        },
    )?;
    Ok(found)
}

/// Whether the page's `meta` for robots says so.
fn asks_not_to_follow(html: &Html<'_>) -> Result<bool, Fault> {
    let mut asks = false;
    each(
        html.head.0.metas,
        "Metas",
        |Object(tag): Object<MetaTag<'_>>| {
            let name = text(tag.name, "name")?.unwrap_or_default();
            if name.trim().eq_ignore_ascii_case("robots") {
                let content = text(tag.content, "content")?.unwrap_or_default();
                asks |= content.split(',').any(|word| {
                    let word = word.trim();
                    word.eq_ignore_ascii_case("nofollow") || word.eq_ignore_ascii_case("none")
                });
            }
            Ok(())
        },
    )?;
    Ok(asks)
}

/// Whether a list of words has this one, in any case.
fn has_token(words: Option<&str>, token: &str) -> bool {
    let mut words = words.unwrap_or_default().split_ascii_whitespace();
    words.any(|word| word.eq_ignore_ascii_case(token))
}
