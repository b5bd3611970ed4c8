//! An export that all processes of a cluster bank do together, as process 0 runs it.

use std::sync::Arc;

use super::limits::Limits;
use super::merge::{Source, write_merged};
use super::piece::{Batch, Piece};
use super::request::{Request, TextRequest};
use super::service::exporter;
use super::site_texts::SiteTexts;
use crate::engine::Result;
use crate::engine::processes::Processes;
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest::SiteMode;
use seedbank_store::{PublishedState, RemoteProcess, Store};

/// An export in several processes.
pub(super) struct SharedExport<'a> {
    processes: &'a Processes,
    others: Vec<Arc<dyn RemoteProcess>>,
    /// The first request to each of them.
    request: TextRequest,
}

impl<'a> SharedExport<'a> {
    /// Returns the export of the state of `store`; `None` if one process has all of it.
    pub(super) fn new(
        processes: Option<&'a Processes>,
        store: &Store,
        mode: SiteMode,
        limits: Limits,
    ) -> Result<Option<Self>> {
        let Some(processes) = processes.filter(|_| store.site_parts().is_some()) else {
            return Ok(None);
        };
        let others: Vec<_> = processes.by_number()?.iter().flatten().cloned().collect();
        if others.is_empty() {
            return Ok(None);
        }
        Ok(Some(Self {
            request: TextRequest {
                export: processes.next_job(),
                state: PublishedState::of_store(store)?,
                mode,
                limits,
                batches: 0,
            },
            processes,
            others,
        }))
    }

    /// Calls `write` with the text of all sites, in the order of their names.
    ///
    /// Fails if another process fails or is lost.
    pub(super) fn write(
        &self,
        watch: &dyn Watch,
        write: &mut dyn FnMut(&Piece) -> Result<()>,
    ) -> Result<()> {
        let written = self.write_all(watch, write);
        if let Ok(end) = Request::End(self.request.export).encode() {
            for process in &self.others {
                // A process that is lost has ended too.
                let _ = process.call(&end);
            }
        }
        self.processes.close_published();
        written
    }

    fn write_all(
        &self,
        watch: &dyn Watch,
        write: &mut dyn FnMut(&Piece) -> Result<()>,
    ) -> Result<()> {
        let store = self.processes.open_published(self.request.state)?;
        let exporter = exporter(self.processes, &store, &self.request)?;
        let mut texts = SiteTexts::default();
        let own: Source<'_> = Box::new(|watch| texts.next_batch(&exporter, watch));
        let mut sources = vec![own];
        for process in &self.others {
            let mut request = self.request;
            sources.push(Box::new(move |_| {
                let answer = process.call(&Request::Text(request).encode()?)?;
                request.batches += 1;
                Batch::decode(&answer)
            }));
        }
        write_merged(sources, watch, write)
    }
}
