//! Orders batches and refreshes by time.

use super::answers::{BatchView, History};
use crate::engine::refresh::RefreshView;

/// Batch or refresh of a history.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Event<'a> {
    /// Ingest of a batch.
    Batch(&'a BatchView),
    /// Refresh of a plan.
    Refresh(&'a RefreshView),
}

impl History {
    /// Returns batches and refreshes in the order of time.
    ///
    /// Batches stay in the order of their numbers, and so do refreshes, even if the clock was set back. A
    /// refresh follows the batch whose state it ran on. Of equal times the batch comes first.
    #[must_use]
    pub fn in_order(&self) -> Vec<Event<'_>> {
        let mut events = Vec::with_capacity(self.batches.len() + self.refreshes.len());
        let mut batches = self.batches.iter().peekable();
        for refresh in &self.refreshes {
            let is_before =
                |batch: &&BatchView| batch.record.at <= refresh.at || batch.batch <= refresh.batch;
            while let Some(batch) = batches.next_if(is_before) {
                events.push(Event::Batch(batch));
            }
            events.push(Event::Refresh(refresh));
        }
        events.extend(batches.map(Event::Batch));
        events
    }

    /// Keeps the last `count` batches and refreshes, counted together.
    #[must_use]
    pub fn last(mut self, count: usize) -> Self {
        let events = self.in_order();
        let kept = &events[events.len().saturating_sub(count)..];
        let batches = kept.iter().filter(|event| matches!(event, Event::Batch(_)));
        let batches = batches.count();
        let refreshes = kept.len() - batches;
        self.batches.drain(..self.batches.len() - batches);
        self.refreshes.drain(..self.refreshes.len() - refreshes);
        self
    }
}

#[cfg(test)]
#[path = "events_tests.rs"]
mod tests;
