//! What the records of a piece say of their pages.

use std::borrow::Cow;

use super::answer::Answered;
use super::charset::in_utf8;
use super::html::Html;
use super::kept::{Kept, Kind, Warc, outlink};
use crate::ingest::fetch::{Answer, Fetch, count_if_accepted, mark_crawled};
use crate::ingest::formats::archive::frames::{Frame, Frames, Record};
use crate::ingest::formats::archive::head::Head;
use crate::ingest::formats::archive::links::{Nofollow, PageLinks};
use crate::ingest::interner::UrlNumber;
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::record::{Event, PageRecord};
use crate::ingest::reject::{Fault, Position, RejectReason};
use crate::ingest::summary::SkipReason;

/// What a record says; `Err` in it where that is nothing of a page.
type Said = Result<PageRecord<UrlNumber>, SkipReason>;

/// Reads the records of a piece.
pub(super) fn read(warc: Warc, frames: Frames<Kept>, parser: &mut PieceParser) {
    read_from(0, warc, frames.records, parser);
}

/// Reads the records from a place on.
fn read_from(from: usize, warc: Warc, mut records: Vec<Record<Kept>>, parser: &mut PieceParser) {
    // What was noted of the answer that comes next.
    let mut noted: Option<Kept> = None;
    for at in from..records.len() {
        if parser.is_full() && noted.is_none() {
            parser.continue_with(move |parser| read_from(at, warc, records, parser));
            return;
        }
        let is_item = |record: &Record<Kept>| matches!(record.frame, Frame::Item(_));
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
            let beside = Frame::Other(SkipReason::BesideResponse);
            Some((record.number, std::mem::replace(&mut record.frame, beside)))
        };
        let Some((number, frame)) = take(at) else {
            continue;
        };
        let number = Position::Record(number);
        match frame {
            Frame::Other(reason) => parser.skip_record(reason),
            Frame::Refused(fault, text) => parser.add(number, Err(fault), &text),
            Frame::Item(item) => {
                let is_notes = matches!(item.kind, Kind::Notes);
                if is_notes && partner.is_some() {
                    noted = Some(item);
                    parser.skip_record(SkipReason::BesideResponse);
                    continue;
                }
                let beside = match partner.filter(|_| !is_notes).and_then(&mut take) {
                    Some((_, Frame::Item(beside))) => Some(beside),
                    _ => noted.take(),
                };
                let nofollow = warc.nofollow;
                let said = count_if_accepted(parser, |parser| {
                    page(&item, beside.as_ref(), nofollow, parser)
                });
                match said {
                    Ok(Ok(record)) => parser.add(number, Ok(Event::Record(record)), &item.text),
                    Ok(Err(reason)) => parser.skip_record(reason),
                    Err(fault) => parser.add(number, Err(fault), &item.text),
                }
            }
        }
    }
}

/// What a record, with the notes beside it, says of its page.
fn page(
    item: &Kept,
    notes: Option<&Kept>,
    nofollow: Nofollow,
    parser: &mut PieceParser,
) -> Result<Said, Fault> {
    let head = item.head();
    let Kind::Answer {
        http,
        is_revisit,
        is_html,
        unread,
    } = item.kind
    else {
        return of_notes(item, &head, parser).map(Ok);
    };
    let (http, body) = item.block().split_at_checked(http).unwrap_or_default();
    let answered = Answered::read(http);
    let answer = match answered.status {
        // A page that is as it was need not say so once more, or says just that.
        None | Some(304) if is_revisit => Answer::Crawled,
        None => return Ok(Err(SkipReason::NoStatus)),
        Some(status) => match Answer::from_status(status) {
            Some(answer) => answer,
            None => return Ok(Err(SkipReason::OtherStatus)),
        },
    };
    if answer == Answer::Redirect && answered.location.is_none() {
        return Ok(Err(SkipReason::OtherStatus));
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
    let mut record = match fetch.record(parser)? {
        Ok(record) => record,
        Err(reason) => return Ok(Err(reason)),
    };
    if answer != Answer::Crawled {
        return Ok(Ok(record));
    }
    if let Some(reason) = unread {
        *parser.summary.unread.entry(reason).or_default() += 1;
    }
    if is_html {
        let html = Html::read(&in_utf8(body, answered.content));
        let base = html.base.as_deref();
        let asks = html.asks_not_to_follow;
        let mut links = PageLinks::of(record.url, (url, body.len()), base, nofollow, asks, parser);
        for (link, rel) in html.links() {
            links.add(link, Some(rel));
        }
        links.finish(html.canonical.as_deref(), &mut record);
    } else if let Some(notes) = notes {
        add_notes(notes, url, &mut record, parser);
    } else {
        mark_crawled(&mut record);
    }
    Ok(Ok(record))
}

/// What notes say that stand alone.
fn of_notes(
    notes: &Kept,
    head: &Head<'_>,
    parser: &mut PieceParser,
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
    let Ok(mut record) = fetch.record(parser)? else {
        return Err(Fault::new(RejectReason::MissingUrl, "no page is named"));
    };
    // So the answer wins that was noted, wherever it stands.
    record.fetched = record.fetched.map(|at| at.saturating_sub(1));
    add_notes(notes, url, &mut record, parser);
    Ok(record)
}

/// Adds the links that were noted.
fn add_notes(
    notes: &Kept,
    url: &str,
    record: &mut PageRecord<UrlNumber>,
    parser: &mut PieceParser,
) {
    let of_page = (url, notes.block().len());
    let mut links = PageLinks::of(record.url, of_page, None, Nofollow::Keep, false, parser);
    for line in notes.block().split(|byte| *byte == b'\n') {
        if let Some((link, b"L")) = outlink(line) {
            links.add(&String::from_utf8_lossy(link), None);
        }
    }
    links.finish(None, record);
}

/// The URL of the page.
fn url<'a>(head: &Head<'a>) -> Result<&'a str, Fault> {
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
