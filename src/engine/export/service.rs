//! The part of this process in exports of process 0.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::chunk::{Exporter, Sites};
use super::other_urls::OwnersOfUrls;
use super::piece::malformed;
use super::request::{Request, TextRequest};
use super::site_texts::SiteTexts;
use crate::engine::Result;
use crate::engine::processes::Processes;
use crate::engine::request_topic::RequestTopic;
use seedbank_store::{PublishedParts, StoreError};

/// Writes the text of the sites of this process, batch by batch, and returns URLs of its pages.
#[derive(Default)]
pub(crate) struct ExportService {
    open: Mutex<Option<Arc<OpenExport>>>,
}

/// An export that process 0 has begun.
struct OpenExport {
    /// Its number.
    number: u64,
    store: Arc<PublishedParts>,
    progress: Mutex<Progress>,
}

/// How far an export is.
#[derive(Default)]
struct Progress {
    texts: SiteTexts,
    /// The number of batches that were sent.
    batches: u64,
}

impl ExportService {
    /// Returns the body of a request about an export; `None` if it is another request.
    pub(crate) fn parse(request: &[u8]) -> Option<&[u8]> {
        RequestTopic::Export.strip(request)
    }

    /// Answers a request.
    pub(in crate::engine) fn answer(&self, processes: &Processes, body: &[u8]) -> Result<Vec<u8>> {
        match Request::decode(body)? {
            Request::Text(request) => self.text(processes, &request),
            Request::Urls(request) => {
                let store = processes.open_published(request.state)?;
                request.answer(&store)
            }
            Request::End(number) => {
                let open = self.open().take_if(|open| open.number == number);
                drop(open);
                processes.close_published();
                Ok(Vec::new())
            }
        }
    }

    fn open(&self) -> MutexGuard<'_, Option<Arc<OpenExport>>> {
        // It is replaced as a whole.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the next batch.
    fn text(&self, processes: &Processes, request: &TextRequest) -> Result<Vec<u8>> {
        let open = self.find(processes, request)?;
        let progress = open.progress.lock();
        // A panic ends the command in all processes.
        let mut progress = progress.unwrap_or_else(PoisonError::into_inner);
        if progress.batches != request.batches {
            return Err(malformed().into());
        }
        let exporter = exporter(processes, &open.store, request)?;
        let batch = progress.texts.next_batch(&exporter, &*processes.watch)?;
        progress.batches += 1;
        batch.encode()
    }

    /// Returns the export of a request, and begins it with its first request.
    fn find(&self, processes: &Processes, request: &TextRequest) -> Result<Arc<OpenExport>> {
        if request.batches > 0 {
            let open = self.open().clone();
            let open = open.filter(|open| open.number == request.export);
            let ended = StoreError::Protocol("a request is about an export that has ended");
            return Ok(open.ok_or(ended)?);
        }
        let begun = Arc::new(OpenExport {
            number: request.export,
            store: processes.open_published(request.state)?,
            progress: Mutex::default(),
        });
        *self.open() = Some(Arc::clone(&begun));
        Ok(begun)
    }
}

/// Returns the exporter of the sites of a process.
pub(super) fn exporter<'a>(
    processes: &'a Processes,
    store: &'a PublishedParts,
    request: &TextRequest,
) -> Result<Exporter<'a>> {
    let TextRequest { mode, limits, .. } = *request;
    let mut exporter = Exporter::new(store, mode, limits, Sites::Own)?;
    let owners = OwnersOfUrls::new(processes, store, request.state, mode, limits.bytes)?;
    exporter.others = Some(owners);
    Ok(exporter)
}
