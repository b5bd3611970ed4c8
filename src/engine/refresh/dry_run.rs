//! Computes a refresh without storing it.

use std::time::Instant;

use super::compute::{Computed, run};
use super::judged::Judge;
use super::report::RefreshReport;
use super::request::RefreshRequest;
use super::{delete, memory};
use crate::engine::Result;
use crate::engine::clock::now;
use crate::engine::processes::Processes;
use seedbank_algorithms::watch::Watch;
use seedbank_store::records::SeedRecord;
use seedbank_store::{Changes, Reader, tables};

pub(crate) struct UnstoredRefresh {
    /// The report. Its number is the one that the refresh would get.
    pub(crate) report: RefreshReport,
    pub(crate) seeds: Vec<(u32, SeedRecord)>,
}

impl UnstoredRefresh {
    /// Computes a refresh on this state and stores nothing, not even the parameters of the plan.
    ///
    /// The seeds are taken from the changes that the refresh would commit. If these changes exceed
    /// the memory limit, they go to files in the system's temporary folder, not in the bank's.
    pub(in crate::engine) fn compute(
        reader: &Reader,
        request: &RefreshRequest,
        judge: Judge,
        watch: &dyn Watch,
        local: Option<&Processes>,
    ) -> Result<Self> {
        let begun = Instant::now();
        let plan = request.named()?;
        let Computed {
            outcome,
            limited_list,
            mut report,
            judged,
        } = run(reader, plan, request, watch, local)?;
        if let Some(judged) = judged {
            report.verdict = judge(reader, &judged, watch)?;
            report.view.parameters.judged.clone_from(&report.verdict);
        }
        let number = reader.counters()?.refresh + 1;
        report.view.refresh = number;
        let mut changes = Changes::new(&std::env::temp_dir(), 64 << 20);
        outcome.put(reader, &mut changes, plan, number)?;
        if let Some(keep) = request.keep {
            let picked_by = outcome.picked_by(number);
            report.pruned = delete::prune(reader, &mut changes, plan, keep, picked_by)?;
        }
        watch.proceed()?;
        let seeds = changes.new_entries(&tables::SEEDS)?;
        let mut seeds: Vec<(u32, SeedRecord)> = seeds
            .into_iter()
            .map(|((_, rank), seed)| (rank, seed))
            .collect();
        if let Some(limited_list) = limited_list {
            seeds = limited_list.with_ranks(seeds);
        }
        report.view.seconds = begun.elapsed().as_secs_f64();
        report.view.at = now();
        report.peak_memory = memory::peak();
        Ok(Self { report, seeds })
    }
}
