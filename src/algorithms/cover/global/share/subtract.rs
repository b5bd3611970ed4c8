//! Subtracts what newly reached pages are worth from the gains of all pages that reach them.

use std::sync::atomic::{AtomicI64, Ordering};

use super::WebShare;
use super::batch::Direction;
use super::wave::{SharePool, Task, Waves};
use crate::graph::Csr;
use crate::graph::codec::{Decoder, Encoder};
use crate::graph::multi_source_bfs::{BATCH_SIZE, SourceSet, SourceValues};
use crate::watch::{Interrupted, Watch};

/// Subtracts the worths of pages from the `gains` of the pages that reach them within `hops`, in all processes.
/// `predecessors` has the pages of this process that link to each page and ghost. Returns the visits of this
/// process.
///
/// All processes call this at the same time, each with the newly reached pages that it has.
pub(in super::super) fn subtract(
    share: &WebShare,
    predecessors: &Csr,
    worth: impl Fn(u32) -> i64 + Sync,
    gains: &[AtomicI64],
    (pages, hops): (&[u32], u32),
    pool: &SharePool,
    watch: &dyn Watch,
) -> Result<u64, Interrupted> {
    if hops == 0 {
        for page in pages {
            gains[*page as usize].fetch_sub(worth(*page), Ordering::Relaxed);
        }
        return Ok(pages.len() as u64);
    }
    let waves = Waves {
        share,
        direction: Direction::Backward,
        links: predecessors,
        hops,
        pool,
        task: &Subtract { worth, gains },
        watch,
    };
    let mut visits = vec![0; hops as usize + 1];
    let mut sources = pages;
    loop {
        let wave = waves.next(&mut sources, &mut visits)?;
        let has_more = wave.has_more;
        waves.end(wave);
        if !has_more {
            return Ok(visits.into_iter().sum());
        }
    }
}

/// Subtracts what the sources of searches are worth.
struct Subtract<'a, F> {
    worth: F,
    gains: &'a [AtomicI64],
}

impl<F: Fn(u32) -> i64 + Sync> Task for Subtract<'_, F> {
    /// The worths of the sources.
    type State = SourceValues;

    fn begin(&self) -> SourceValues {
        SourceValues::new(vec![0; BATCH_SIZE])
    }

    fn announce(&self, page: u32, message: &mut Encoder) {
        message.signed((self.worth)(page));
    }

    fn announced(
        &self,
        state: &mut SourceValues,
        search: usize,
        message: &mut Decoder<'_>,
    ) -> Option<()> {
        state.set(search, message.signed()?);
        Some(())
    }

    fn meet(&self, state: &mut SourceValues, page: u32, set: SourceSet) {
        // Sums of integers do not depend on their order.
        self.gains[page as usize].fetch_sub(state.sum(set), Ordering::Relaxed);
    }
}
