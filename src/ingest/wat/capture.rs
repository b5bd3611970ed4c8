//! What one capture says of its page.

use std::borrow::Cow;

use super::envelope::{
    Document, Html, LinkTag, MetaTag, Object, Response, each, first_text, read, status, text,
};
use super::resolve::Base;
use crate::ingest::digest::digest_hash;
use crate::ingest::interner::UrlNumber;
use crate::ingest::reading::Reading;
use crate::ingest::record::{Event, PageRecord};
use crate::ingest::reject::{Fault, RejectReason};
use crate::ingest::summary::{DropReason, PassedOver};
use crate::ingest::timestamp::{Timestamp, parse_timestamp};
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
    let before = std::mem::take(&mut reading.summary);
    let said = of_document(&document, nofollow, reading);
    let counted = std::mem::replace(&mut reading.summary, before);
    if said.is_ok() {
        reading.summary.merge(&counted);
    }
    said
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
    let is_crawled = (200..300).contains(&status);
    let is_gone = matches!(status, 404 | 410);
    // 304 says that the page is as it was.
    let location = if (300..400).contains(&status) && status != 304 {
        first_text(response.headers.0.location, "Location")?
    } else {
        None
    };
    if !is_crawled && !is_gone && location.is_none() {
        return Ok(Err(PassedOver::OtherStatus));
    }
    let url = text(head.url, "WARC-Target-URI")?.ok_or_else(|| {
        Fault::new(
            RejectReason::MissingUrl,
            "a response must have a WARC-Target-URI",
        )
    })?;
    let page = reading.page(&url)?;
    let mut record = PageRecord::new(page);
    let fetched = text(head.date, "WARC-Date")?;
    let fetched = fetched.map(|date| parse_timestamp(&date)).transpose();
    let fetched = fetched.map_err(|problem| {
        Fault::new(
            RejectReason::InvalidTimestamp,
            format!("WARC-Date: {problem}"),
        )
    });
    if is_gone {
        record.gone = true;
        // It says which of several records is the latest, and cannot reject this one.
        record.fetched = time(fetched.ok().flatten(), reading);
        return Ok(Ok(Event::Record(record)));
    }
    record.fetched = time(fetched?, reading);
    if let Some(location) = location {
        let to = lead(page, &location, Base::of(&url, None).as_mut(), reading);
        let Some(to) = to else {
            return Ok(Err(PassedOver::LeadsNowhere));
        };
        record.alias = Some((to, AliasBy::Redirect));
        return Ok(Ok(Event::Record(record)));
    }
    let given = text(head.digest, "WARC-Payload-Digest")?;
    let digest = match given {
        Some(digest) => Some(digest),
        None => text(response.digest, "Entity-Digest")?,
    };
    record.digest = digest.map(|digest| digest_hash(&digest));
    let mut content = Content {
        page,
        nofollow,
        reading,
    };
    content.read(&url, response, &mut record)?;
    Ok(Ok(Event::Record(record)))
}

fn time(fetched: Option<Timestamp>, reading: &mut Reading) -> Option<i64> {
    fetched.map(|time| reading.time(time))
}

/// The page that a page leads to.
fn lead(
    page: UrlNumber,
    link: &str,
    base: Option<&mut Base>,
    reading: &mut Reading,
) -> Option<UrlNumber> {
    let url = match base {
        None => Ok(Cow::Borrowed(link)),
        Some(base) => base.absolute(link),
    };
    match url {
        Ok(url) => reading.lead(page, &url),
        Err(problem) => {
            reading.summary.dropped(DropReason::from(&problem));
            None
        }
    }
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
        } else if !record.is_crawl() {
            // It was fetched, whatever else is unknown.
            record.outlinks = Some(Vec::new());
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
