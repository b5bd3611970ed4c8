//! What the records of a piece say of their pages.

use std::borrow::Cow;

use super::http_response::HttpResponse;
use super::charset::in_utf8;
use super::html::Html;
use super::item::{WarcItem, Kind, Warc, outlink};
use crate::ingest::fetch::{Answer, Fetch, as_crawled, counted};
use crate::ingest::formats::archive::framing::{Content, Records, Record};
use crate::ingest::formats::archive::header::WarcHeader;
use crate::ingest::formats::archive::page_links::{Nofollow, PageLinks};
use crate::ingest::interner::UrlNumber;
use crate::ingest::reading::Reading;
use crate::ingest::record::{Event, PageRecord};
use crate::ingest::reject::{Fault, Position, RejectReason};
use crate::ingest::summary::PassedOver;

/// What a record says; `Err` in it where that is nothing of a page.
type Said = Result<PageRecord<UrlNumber>, PassedOver>;

/// Reads the records of a piece.
pub(super) fn read(warc: Warc, frames: Records<WarcItem>, reading: &mut Reading) {
    read_from(0, warc, frames.records, reading);
}

/// Reads the records from a place on.
fn read_from(from: usize, warc: Warc, mut records: Vec<Record<WarcItem>>, reading: &mut Reading) {
    // What was noted of the answer that comes next.
    let mut noted: Option<WarcItem> = None;
    for at in from..records.len() {
        if reading.is_full() && noted.is_none() {
            reading.go_on_with(move |reading| read_from(at, warc, records, reading));
            return;
        }
        let is_item = |record: &Record<WarcItem>| matches!(record.frame, Content::Item(_));
        let after = match records.get(at) {
            Some(record) if is_item(record) => records.get(at + 1..).unwrap_or_default(),
            _ => &[],
        };
        let next = after.iter().position(is_item);
        let next = next.map(|next| at + 1 + next);
        let partner = next.filter(|next| records.get(*next).is_some_and(|next| next.belongs));
        // What is taken by the answer beside it is passed over in its turn.
        let mut take = |at: usize| {
            let record = records.get_mut(at)?;
            let beside = Content::Skipped(PassedOver::BesideResponse);
            Some((record.number, std::mem::replace(&mut record.frame, beside)))
        };
        let Some((number, frame)) = take(at) else {
            continue;
        };
        let number = Position::Record(number);
        match frame {
            Content::Skipped(reason) => reading.pass_over(reason),
            Content::Rejected(fault, text) => reading.add(number, Err(fault), &text),
            Content::Item(item) => {
                let is_notes = matches!(item.kind, Kind::Notes);
                if is_notes && partner.is_some() {
                    noted = Some(item);
                    reading.pass_over(PassedOver::BesideResponse);
                    continue;
                }
                let beside = match partner.filter(|_| !is_notes).and_then(&mut take) {
                    Some((_, Content::Item(beside))) => Some(beside),
                    _ => noted.take(),
                };
                let nofollow = warc.nofollow;
                let said = counted(reading, |reading| {
                    page(&item, beside.as_ref(), nofollow, reading)
                });
                match said {
                    Ok(Ok(record)) => reading.add(number, Ok(Event::Record(record)), &item.text),
                    Ok(Err(reason)) => reading.pass_over(reason),
                    Err(fault) => reading.add(number, Err(fault), &item.text),
                }
            }
        }
    }
}

/// What a record, with the notes beside it, says of its page.
fn page(
    item: &WarcItem,
    notes: Option<&WarcItem>,
    nofollow: Nofollow,
    reading: &mut Reading,
) -> Result<Said, Fault> {
    let head = item.head();
    let Kind::Answer {
        http,
        is_revisit,
        is_html,
        unread,
    } = item.kind
    else {
        return of_notes(item, &head, reading).map(Ok);
    };
    let (http, body) = item.block().split_at_checked(http).unwrap_or_default();
    let answered = HttpResponse::read(http);
    let answer = match answered.status {
        // A page that is as it was need not say so once more, or says just that.
        None | Some(304) if is_revisit => Answer::Crawled,
        None => return Ok(Err(PassedOver::NoStatus)),
        Some(status) => match Answer::of(status) {
            Some(answer) => answer,
            None => return Ok(Err(PassedOver::OtherStatus)),
        },
    };
    if answer == Answer::Leads && answered.location.is_none() {
        return Ok(Err(PassedOver::OtherStatus));
    }
    let url = url(&head)?;
    let (date, digest) = (
        text(head.date, "WARC-Date")?,
        text(head.digest, "WARC-Payload-Digest")?,
    );
    let location = answered.location.map(latin1);
    let fetch = Fetch {
        url,
        answer,
        time: date,
        time_field: "WARC-Date",
        digest,
        location: location.as_deref(),
    };
    let mut record = match fetch.record(reading)? {
        Ok(record) => record,
        Err(reason) => return Ok(Err(reason)),
    };
    if answer != Answer::Crawled {
        return Ok(Ok(record));
    }
    if let Some(reason) = unread {
        *reading.summary.unread.entry(reason).or_default() += 1;
    }
    if is_html {
        let html = Html::read(&in_utf8(body, answered.content));
        let base = html.base.as_deref();
        let asks = html.asks_not_to_follow;
        let mut links = PageLinks::of(record.url, (url, body.len()), base, nofollow, asks, reading);
        for (link, rel) in html.links() {
            links.add(link, Some(rel));
        }
        links.finish(html.canonical.as_deref(), &mut record);
    } else if let Some(notes) = notes {
        add_notes(notes, url, &mut record, reading);
    } else {
        as_crawled(&mut record);
    }
    Ok(Ok(record))
}

/// What notes say that stand alone.
fn of_notes(
    notes: &WarcItem,
    head: &WarcHeader<'_>,
    reading: &mut Reading,
) -> Result<PageRecord<UrlNumber>, Fault> {
    let url = url(head)?;
    let fetch = Fetch {
        url,
        answer: Answer::Crawled,
        time: text(head.date, "WARC-Date")?,
        time_field: "WARC-Date",
        digest: None,
        location: None,
    };
    let Ok(mut record) = fetch.record(reading)? else {
        return Err(Fault::new(RejectReason::MissingUrl, "no page is named"));
    };
    // So the answer wins that was noted, wherever it stands.
    record.fetched = record.fetched.map(|at| at.saturating_sub(1));
    add_notes(notes, url, &mut record, reading);
    Ok(record)
}

/// Adds the links that were noted.
fn add_notes(notes: &WarcItem, url: &str, record: &mut PageRecord<UrlNumber>, reading: &mut Reading) {
    let of_page = (url, notes.block().len());
    let mut links = PageLinks::of(record.url, of_page, None, Nofollow::Keep, false, reading);
    for line in notes.block().split(|byte| *byte == b'\n') {
        if let Some((link, b"L")) = outlink(line) {
            links.add(&String::from_utf8_lossy(link), None);
        }
    }
    links.finish(None, record);
}

/// The URL of the page.
fn url<'a>(head: &WarcHeader<'a>) -> Result<&'a str, Fault> {
    text(head.url, "WARC-Target-URI")?.ok_or_else(|| {
        Fault::new(
            RejectReason::MissingUrl,
            "a response must have a WARC-Target-URI",
        )
    })
}

fn text<'a>(value: Option<&'a [u8]>, name: &str) -> Result<Option<&'a str>, Fault> {
    let text = value.map(std::str::from_utf8).transpose();
    text.map_err(|error| Fault::new(RejectReason::InvalidUtf8, format!("{name}: {error}")))
}

/// A header, which is UTF-8 or else what headers once were.
fn latin1(value: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(value) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => value
            .iter()
            .map(|byte| char::from(*byte))
            .collect::<String>()
            .into(),
    }
}
