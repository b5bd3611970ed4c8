//! Collects the events and counts of the records of a piece.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::interner::{Interner, UrlNumber};
use super::location::{Naming, NodeUrls, UrlError};

use super::read_options::ReadOptions;
use super::record::{Event, FetchOrigin};
use super::summary::{
    DropReason, Fault, MAX_LISTED_REJECTS, Position, ReadSummary, Reject, RejectReason, SkipReason,
    excerpt,
};

use super::timestamp::Timestamp;

/// Events and counts of a piece so far. Formats parse URLs and add events through it.
#[derive(Debug)]
pub struct PieceParser {
    /// How URLs are normalised and split into sites.
    pub naming: Naming,
    /// The URLs by number, including some of rejected records.
    pub urls: Interner,
    /// The counts; lines and bytes are set at the end.
    pub summary: ReadSummary,
    /// The nodes whose numbers the events have in place of those of URLs, if any.
    pub(super) nodes: Option<Arc<dyn NodeUrls>>,
    /// The events of the records, in order.
    pub(super) events: Vec<(Position, Event<UrlNumber>)>,
    /// The name of the source.
    file: Arc<str>,
    /// The page of the current record, once its URL is read.
    page: Option<UrlNumber>,
    /// The fields of the current record that cannot be read.
    bad_fields: Vec<(Cow<'static, str>, Fault)>,
    /// Whether U+FFFD replaces bytes of the current record that were not UTF-8.
    is_repaired: bool,
    /// The latest time that a record can have, in microseconds since 1970.
    latest: i64,
    /// Whether a record that is cut off is counted instead of rejected.
    keeps_truncated: bool,
    /// How many more bad records and fields may be listed.
    reject_budget: u64,
    /// Memory of the events in bytes.
    event_bytes: usize,
    /// The limit in bytes for [`is_full`](Self::is_full).
    budget: usize,
    /// Parses the remaining records of the piece.
    continuation: Option<Continuation>,
}

/// Parses the remaining records of a piece.
pub(super) struct Continuation(pub(super) Box<dyn FnOnce(&mut PieceParser) + Send>);

impl fmt::Debug for Continuation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Continuation")
    }
}

impl PieceParser {
    /// Creates a parser without events; `urls` may contain URLs already.
    #[must_use]
    pub fn new(naming: Naming, urls: Interner) -> Self {
        let options = naming.into();
        Self::for_piece(Arc::from(""), MAX_LISTED_REJECTS, options, urls, usize::MAX)
    }

    /// Creates the parser of a piece of the source `file`. The first `reject_budget` bad records and fields become
    /// events. The parser is full once it takes more than `budget` bytes.
    pub(super) fn for_piece(
        file: Arc<str>,
        reject_budget: u64,
        options: ReadOptions,
        urls: Interner,
        budget: usize,
    ) -> Self {
        Self {
            naming: options.naming,
            urls,
            summary: ReadSummary::default(),
            nodes: None,
            events: Vec::new(),
            file,
            page: None,
            bad_fields: Vec::new(),
            is_repaired: false,
            latest: options.latest,
            keeps_truncated: options.keeps_truncated,
            reject_budget,
            event_bytes: 0,
            budget,
            continuation: None,
        }
    }

    /// Returns the memory of the events and their URLs, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.urls.bytes() + self.event_bytes
    }

    /// Returns whether the events should be passed on before more records are parsed. A format whose
    /// records may expand to many times their size checks this after each record, and passes the others to
    /// [`continue_with`](Self::continue_with).
    pub(super) fn is_full(&self) -> bool {
        self.bytes() > self.budget
    }

    /// Sets a closure that parses the rest of the piece once the events so far are passed on.
    pub(super) fn continue_with(&mut self, rest: impl FnOnce(&mut Self) + Send + 'static) {
        self.continuation = Some(Continuation(Box::new(rest)));
    }

    /// Takes the closure that parses the rest of the piece; `None` if the piece is complete.
    pub(super) const fn take_continuation(&mut self) -> Option<Continuation> {
        self.continuation.take()
    }

    /// Parses the URL of a record's page; an invalid URL rejects the record.
    pub fn page(&mut self, url: &str) -> Result<UrlNumber, Fault> {
        let number = self.url(url).map_err(|problem| Fault::page_url(&problem))?;
        self.page = Some(number);
        Ok(number)
    }

    /// Parses a URL.
    fn url(&mut self, url: &str) -> Result<UrlNumber, UrlError> {
        self.check_utf_8(url)?;
        self.urls.parse(url, self.naming)
    }

    /// Parses the URL of another page in this field.
    pub fn other_page(&mut self, field: &str, url: &str) -> Result<UrlNumber, Fault> {
        let number = self.url(url);
        number.map_err(|problem| Fault::url(field, &problem))
    }

    /// Returns the value of a field of the current record. One that cannot be read counts as absent, and is counted
    /// and listed if the record is accepted.
    pub(super) fn field<T: Default>(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        value: Result<T, Fault>,
    ) -> T {
        value.unwrap_or_else(|fault| {
            self.bad_fields.push((name.into(), fault));
            T::default()
        })
    }

    /// Returns the number of fields of the current record so far that cannot be read.
    pub(super) const fn bad_fields(&self) -> usize {
        self.bad_fields.len()
    }

    /// Forgets all but the first fields of the current record that cannot be read.
    pub(super) fn drop_bad_fields(&mut self, after: usize) {
        self.bad_fields.truncate(after);
    }

    /// Returns whether U+FFFD replaces bytes of the current record that were not UTF-8.
    pub(super) const fn is_repaired(&self) -> bool {
        self.is_repaired
    }

    /// Reads a record in which U+FFFD replaces bytes that were not UTF-8.
    pub(super) fn repaired<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        self.is_repaired = true;
        let value = read(self);
        self.is_repaired = false;
        value
    }

    /// Checks that a URL of the current record has no part that was not UTF-8.
    pub(super) fn check_utf_8(&self, url: &str) -> Result<(), UrlError> {
        if self.is_repaired && url.contains(char::REPLACEMENT_CHARACTER) {
            return Err(UrlError::NotUtf8);
        }
        Ok(())
    }

    /// Returns how a crawler came to a page, from its log or notes. What is not the URL of a page is ignored:
    /// tags of seeds can be any text, and pages are found by way of other schemes too.
    pub(super) fn noted_origin(
        &mut self,
        seed: Option<&str>,
        via: Option<&str>,
        depth: Option<u32>,
    ) -> Option<Box<FetchOrigin<UrlNumber>>> {
        let mut page = |url| self.url(url).ok();
        // The rest is of no use without a seed.
        let seed = Some(page(seed?)?);
        let via = via.and_then(page);
        FetchOrigin { seed, via, depth }.known()
    }

    /// Parses the redirect or canonical URL of a page. Returns `None` if it is the page itself, or
    /// invalid, which is counted.
    pub fn alias_target(&mut self, from: UrlNumber, url: &str) -> Option<UrlNumber> {
        match self.url(url) {
            Ok(to) => (to != from).then_some(to),
            Err(problem) => {
                self.summary.dropped(DropReason::from(&problem));
                None
            }
        }
    }

    /// Parses the target of a link from a page. Returns `None` if it is the page itself or invalid, both of
    /// which are counted.
    pub fn target(&mut self, from: UrlNumber, url: &str) -> Option<UrlNumber> {
        match self.url(url) {
            Ok(to) if to == from => self.summary.self_links += 1,
            Ok(to) => return Some(to),
            Err(problem) => self.summary.dropped(DropReason::from(&problem)),
        }
        None
    }

    /// Sorts the outlinks of a page, and removes and counts duplicates.
    #[must_use]
    pub fn outlinks(&mut self, mut targets: Vec<UrlNumber>) -> Vec<UrlNumber> {
        let with_duplicates = targets.len();
        targets.sort_unstable();
        targets.dedup();
        self.summary.duplicate_outlinks += (with_duplicates - targets.len()) as u64;
        targets
    }

    /// Returns a time in this field of the current record, in microseconds since 1970; counts assumed time zones. A time
    /// in the future is a bad field.
    pub(super) fn time(
        &mut self,
        field: impl Into<Cow<'static, str>>,
        time: Timestamp,
    ) -> Option<i64> {
        if time.micros > self.latest {
            let field = field.into();
            let detail = format!("{field}: a time in the future");
            let fault = Fault::new(RejectReason::FutureTimestamp, detail);
            return self.field(field, Err(fault));
        }
        self.summary.zones_assumed += u64::from(time.zone_assumed);
        Some(time.micros)
    }

    /// Counts a record of a web archive, or a line of a list, that yields no record.
    pub fn skip_record(&mut self, reason: SkipReason) {
        self.page = None;
        self.bad_fields.clear();
        *self.summary.passed_over.entry(reason).or_default() += 1;
    }

    /// Counts an input that ends within the current record, if such inputs are kept. Returns `false` if they are not.
    pub(super) fn keep_truncated(&mut self) -> bool {
        if self.keeps_truncated {
            self.page = None;
            self.bad_fields.clear();
            self.summary.truncated += 1;
        }
        self.keeps_truncated
    }

    /// Sets the name under which further rejects are listed, for a source of several files.
    pub(super) fn set_file(&mut self, file: Arc<str>) {
        self.file = file;
    }

    /// Adds the event of the record at a position. A rejected record is counted, and listed with the
    /// beginning of its text; if its URL was read, its page counts as seen. So are fields that cannot be read.
    pub fn add(&mut self, at: Position, event: Result<Event<UrlNumber>, Fault>, text: &[u8]) {
        self.summary.records += 1;
        let page = self.page.take();
        let bad_fields = std::mem::take(&mut self.bad_fields);
        match event {
            Ok(event) => {
                for (field, fault) in bad_fields {
                    *self.summary.bad_fields.entry(fault.reason).or_default() += 1;
                    self.list(at, Some(field.into_owned()), &fault, text);
                }
                self.push(at, event);
            }
            Err(fault) => {
                *self.summary.rejects.entry(fault.reason).or_default() += 1;
                self.list(at, None, &fault, text);
                if let Some(page) = page {
                    self.push(at, Event::Seen(page));
                }
            }
        }
    }

    /// Lists a bad record, or a field of one.
    fn list(&mut self, at: Position, field: Option<String>, fault: &Fault, text: &[u8]) {
        let Some(budget) = self.reject_budget.checked_sub(1) else {
            return;
        };
        self.reject_budget = budget;
        let reject = Reject {
            file: self.file.to_string(),
            at,
            field,
            reason: fault.reason,
            // The detail may quote the record.
            detail: excerpt(fault.detail.as_bytes()),
            record: excerpt(text),
        };
        let event = match reject.field {
            Some(_) => Event::BadField(reject),
            None => Event::Rejected(reject),
        };
        self.push(at, event);
    }

    fn push(&mut self, at: Position, event: Event<UrlNumber>) {
        self.event_bytes += size_of::<(Position, Event<UrlNumber>)>() + heap_bytes(&event);
        self.events.push((at, event));
    }
}

/// Returns the approximate heap memory of an event, in bytes.
fn heap_bytes(event: &Event<UrlNumber>) -> usize {
    match event {
        Event::Record(record) => {
            let outlinks = record.outlinks.as_ref();
            let origin = record.origin.as_deref().map_or(0, size_of_val);
            origin + outlinks.map_or(0, |outlinks| size_of_val(outlinks.as_slice()))
        }
        Event::Rejected(reject) | Event::BadField(reject) => {
            reject.file.len() + reject.detail.len() + reject.record.len()
        }
        Event::Site(site) => site.site.len(),
        Event::Link { .. } | Event::Outlink { .. } | Event::Page(_) | Event::Seen(_) => 0,
    }
}
