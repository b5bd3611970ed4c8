//! What the records of a piece say, collected one after another.

use std::fmt;
use std::sync::Arc;

use super::interner::{Interner, UrlNumber};
use super::location::Naming;
use super::record::Event;
use super::reject::{Fault, MAX_LISTED_REJECTS, Position, Reject, beginning};
use super::summary::{DropReason, ReadSummary, SkipReason};
use super::timestamp::Timestamp;

/// What the records of a piece have said so far.
#[derive(Debug)]
pub struct PieceParser {
    /// How URLs are written and cut into sites.
    pub naming: Naming,
    /// The URLs by number; some may come from records that were then rejected.
    pub urls: Interner,
    /// What was counted; lines and bytes are filled in at the end.
    pub summary: ReadSummary,
    /// What each record says, in order.
    pub(super) events: Vec<(Position, Event<UrlNumber>)>,
    /// The name of the source.
    file: Arc<str>,
    /// How many more refused records may be listed.
    room: u64,
    /// How many bytes of memory the events take.
    event_bytes: usize,
    /// How many bytes the reading may take before it [is full](Self::is_full).
    budget: usize,
    /// Reads the records that were left when the reading was full.
    rest: Option<Rest>,
}

/// Reads the rest of a piece.
pub(super) struct Rest(pub(super) Box<dyn FnOnce(&mut PieceParser) + Send>);

impl fmt::Debug for Rest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Rest")
    }
}

impl PieceParser {
    /// A reading without records; `urls` may have some already.
    #[must_use]
    pub fn new(naming: Naming, urls: Interner) -> Self {
        Self::of(Arc::from(""), MAX_LISTED_REJECTS, naming, urls, usize::MAX)
    }

    /// The reading of a piece of the source with this name. The first `room` refused records become
    /// events. It is full once it takes more than `budget` bytes.
    pub(super) fn of(
        file: Arc<str>,
        room: u64,
        naming: Naming,
        urls: Interner,
        budget: usize,
    ) -> Self {
        Self {
            naming,
            urls,
            summary: ReadSummary::default(),
            events: Vec::new(),
            file,
            room,
            event_bytes: 0,
            budget,
            rest: None,
        }
    }

    /// How many bytes of memory the events and their URLs take.
    pub(super) fn bytes(&self) -> usize {
        self.urls.bytes() + self.event_bytes
    }

    /// Whether what was read should be handed on before more is read. A format whose records may
    /// come to many times their own size asks after each of them, and leaves the others to
    /// [`go_on_with`](Self::go_on_with).
    pub(super) fn is_full(&self) -> bool {
        self.bytes() > self.budget
    }

    /// Leaves the rest of the piece to be read by `rest`, once the events so far are handed on.
    pub(super) fn go_on_with(&mut self, rest: impl FnOnce(&mut Self) + Send + 'static) {
        self.rest = Some(Rest(Box::new(rest)));
    }

    /// What reads the rest of the piece; `None` where all of it was read.
    pub(super) const fn take_rest(&mut self) -> Option<Rest> {
        self.rest.take()
    }

    /// The page that a record is about; a bad URL rejects the record.
    pub fn page(&mut self, url: &str) -> Result<UrlNumber, Fault> {
        let number = self.urls.parse(url, self.naming);
        number.map_err(|problem| Fault::page_url(&problem))
    }

    /// The page that a redirect or canonical URL of a page leads to; `None` where that is the page
    /// itself, or the URL is not a page's, which is counted.
    pub fn lead(&mut self, from: UrlNumber, url: &str) -> Option<UrlNumber> {
        match self.urls.parse(url, self.naming) {
            Ok(to) => (to != from).then_some(to),
            Err(problem) => {
                self.summary.dropped(DropReason::from(&problem));
                None
            }
        }
    }

    /// The target of a link from a page; `None` where the URL is not a page's, or is the page
    /// itself, both of which are counted.
    pub fn target(&mut self, from: UrlNumber, url: &str) -> Option<UrlNumber> {
        match self.urls.parse(url, self.naming) {
            Ok(to) if to == from => self.summary.self_links += 1,
            Ok(to) => return Some(to),
            Err(problem) => self.summary.dropped(DropReason::from(&problem)),
        }
        None
    }

    /// The outlinks of a page as a record holds them, ascending and each once; duplicates are
    /// counted.
    #[must_use]
    pub fn outlinks(&mut self, mut targets: Vec<UrlNumber>) -> Vec<UrlNumber> {
        let given = targets.len();
        targets.sort_unstable();
        targets.dedup();
        self.summary.duplicate_outlinks += (given - targets.len()) as u64;
        targets
    }

    /// A time of a record that is taken, in microseconds since 1970; one whose zone is assumed is
    /// counted.
    pub fn time(&mut self, time: Timestamp) -> i64 {
        self.summary.zones_assumed += u64::from(time.zone_assumed);
        time.micros
    }

    /// Counts a record of a web archive, or a line of a list, that says nothing of a page.
    pub fn skip_record(&mut self, reason: SkipReason) {
        *self.summary.passed_over.entry(reason).or_default() += 1;
    }

    /// Refused records that are added from now on are listed under this name, in place of that of the
    /// source: they stand in one of several files that a source has.
    pub(super) fn in_file(&mut self, file: Arc<str>) {
        self.file = file;
    }

    /// Adds what the record at a position says. A record that is refused is counted, and listed
    /// with the beginning of its text.
    pub fn add(&mut self, at: Position, said: Result<Event<UrlNumber>, Fault>, text: &[u8]) {
        self.summary.records += 1;
        let event = match said {
            Ok(event) => event,
            Err(fault) => {
                *self.summary.rejects.entry(fault.reason).or_default() += 1;
                let Some(room) = self.room.checked_sub(1) else {
                    return;
                };
                self.room = room;
                Event::Rejected(Reject {
                    file: self.file.to_string(),
                    at,
                    reason: fault.reason,
                    // The detail may quote a name or a text of the record.
                    detail: beginning(fault.detail.as_bytes()),
                    record: beginning(text),
                })
            }
        };
        self.event_bytes += size_of::<(Position, Event<UrlNumber>)>() + heap_bytes(&event);
        self.events.push((at, event));
    }
}

/// About how many bytes an event takes besides its own size.
fn heap_bytes(event: &Event<UrlNumber>) -> usize {
    match event {
        Event::Record(record) => {
            let outlinks = record.outlinks.as_ref();
            outlinks.map_or(0, |outlinks| size_of_val(outlinks.as_slice()))
        }
        Event::Rejected(reject) => reject.file.len() + reject.detail.len() + reject.record.len(),
        Event::Site(site) => site.site.len(),
        Event::Link { .. } | Event::Outlink { .. } | Event::Page(_) => 0,
    }
}
