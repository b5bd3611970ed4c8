//! What a process that has parts of a cluster bank does for the others.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use super::bank::Bank;
use super::error::Result;
use super::export::chunk::UrlRequest;
use super::export::processes::export_share;
use super::ingest::processes::ingest_share;
use super::processes::Processes;
use super::refresh::cover::site_requests::SiteService;
use super::refresh::share_service::ShareService;
use super::rounds::request::{JobRequest, Kind};
use seedbank_algorithms::watch::Watch;
use seedbank_store::RemoteProcess;

/// One of several processes that have parts of a cluster bank. It answers the requests of the others: it reads and
/// writes its parts, and takes part in ingests, in exports, and in selections on sites, over the web and by cores.
pub struct ProcessServer {
    processes: Arc<Processes>,
    sites: SiteService,
    shares: ShareService,
}

impl ProcessServer {
    /// Serves these parts of the cluster bank in a folder, as the process with a number. Calls end soon after `watch`
    /// stops.
    ///
    /// # Errors
    ///
    /// If a part is missing or belongs to a bank of another number of parts.
    pub fn new(
        process: usize,
        bank: &Path,
        own: &BTreeSet<u32>,
        watch: impl Watch + Send + 'static,
    ) -> Result<Self> {
        Ok(Self {
            processes: Arc::new(Processes::new(process, bank, own, watch)?),
            sites: SiteService::default(),
            shares: ShareService::default(),
        })
    }

    /// Returns this process.
    #[cfg(test)]
    pub(super) const fn processes(&self) -> &Arc<Processes> {
        &self.processes
    }

    /// Returns the number of parts of the bank.
    #[must_use]
    pub fn parts(&self) -> u32 {
        self.processes.parts.parts()
    }

    /// Connects the other processes, by number (`None` for this one), so that commands run in all of them. `owners`
    /// has the process of each part. Later calls have no effect.
    pub fn connect(&self, owners: Vec<usize>, processes: Vec<Option<Arc<dyn RemoteProcess>>>) {
        self.processes.connect(owners, processes);
    }

    /// Answers a request of another process. Many threads may call at once.
    pub fn answer(&self, request: &[u8]) -> Result<Vec<u8>> {
        let processes = &self.processes;
        if let Some(request) = JobRequest::parse(request)? {
            let share = match request.kind {
                Kind::Ingest => ingest_share,
                Kind::Export => export_share,
                _ => return self.shares.answer(processes, request),
            };
            let job = processes.job(request.job)?;
            job.own(share(processes, &job, request.body))?;
            return Ok(Vec::new());
        }
        if let Some(job) = SiteService::parse(request) {
            return self.sites.answer(processes, job);
        }
        if let Some(request) = UrlRequest::parse(request)? {
            return request.answer(processes);
        }
        Ok(processes.parts.answer(request, &*processes.watch)?)
    }
}

impl Bank {
    /// Returns a handle whose ingests, exports, and selections on sites, over the web and by cores run in all processes that `server`,
    /// this process, has connected, each for the sites of its parts. Results are the same.
    #[must_use]
    pub fn with_server(self, server: &ProcessServer) -> Self {
        self.with_local_process(Arc::clone(&server.processes))
    }
}
