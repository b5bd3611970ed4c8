//! What a process does for a selection over the web in all processes.

use std::sync::Arc;

pub(in crate::engine::refresh) use super::evidence::PageEvidence;
use super::evidence::{Evidence, put_reach};
use super::share::select_on_share;
use crate::engine::Result;
use crate::engine::refresh::page_sets::encode_sets;
use crate::engine::refresh::run_context::RunContext;
use crate::engine::refresh::site_processes::SiteProcesses;
use crate::engine::rounds::job::Job;
use crate::engine::rounds::request::malformed;
use seedbank_algorithms::cover::global::WebChoice;
use seedbank_store::Changes;

/// The size in bytes from which an answer has no further sets of pages.
const ANSWER_BYTES: usize = 1 << 20;

/// Selects over the share of this process. Returns the evidence for picks, as process 0 gets it, and that for the pages of
/// this process.
pub(in crate::engine::refresh) fn run(
    context: RunContext<'_, WebChoice>,
    of_sites: &SiteProcesses<'_>,
    job: &Arc<Job>,
) -> Result<(Vec<u8>, PageEvidence)> {
    let (_, Evidence { picks, pages }) = select_on_share(context, of_sites, job)?;
    Ok((seedbank_store::pack(&picks)?, pages))
}

/// Returns the pages of this process that the seed of a rank is the first to reach, by hop, and those of seeds after it.
pub(in crate::engine::refresh) fn reached(pages: &PageEvidence, rank: &[u8]) -> Result<Vec<u8>> {
    let first = number(rank)?.checked_sub(1).ok_or_else(malformed)?;
    let (mut answer, mut bytes) = (Vec::new(), 0);
    for sets in pages.reached.iter().skip(first as usize) {
        let sets = encode_sets(sets)?;
        bytes += sets.iter().map(Vec::len).sum::<usize>();
        answer.push(sets);
        if bytes >= ANSWER_BYTES {
            break;
        }
    }
    Ok(seedbank_store::pack(&answer)?)
}

/// Adds the evidence for the pages of this process to `changes`, under the refresh that a request names.
pub(in crate::engine::refresh) fn put(
    pages: &PageEvidence,
    changes: &mut Changes,
    refresh: &[u8],
) -> Result<()> {
    Ok(put_reach(changes, number(refresh)?, &pages.reach)?)
}

/// Reads the body of a request that is a number.
fn number(body: &[u8]) -> Result<u32> {
    let bytes = body.try_into().map_err(|_| malformed())?;
    Ok(u32::from_le_bytes(bytes))
}
