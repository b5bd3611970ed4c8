//! Orders batches, refreshes and the last refused batch by time.

use super::answers::{BatchView, History};
use crate::engine::ingest::RefusedBatch;
use crate::engine::refresh::RefreshView;

/// Batch, refresh or refused batch of a history.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Event<'a> {
    /// Ingest of a batch.
    Batch(&'a BatchView),
    /// Refresh of a plan.
    Refresh(&'a RefreshView),
    /// Refusal of a batch.
    Refused(&'a RefusedBatch),
}

impl History {
    /// Returns batches, refreshes and the refused batch in the order of time.
    ///
    /// Batches stay in the order of their numbers, and so do refreshes, even if the clock was set back. A
    /// refresh follows the batch whose state it ran on, and a refusal the last batch then. Of equal times the
    /// batch comes first and the refusal last.
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
        if let Some(refused) = &self.refused {
            let is_later = |event: &Event<'_>| match event {
                Event::Batch(batch) => batch.batch > refused.after,
                Event::Refresh(refresh) => refresh.batch > refused.after || refresh.at > refused.at,
                Event::Refused(_) => false,
            };
            let place = events.iter().position(is_later).unwrap_or(events.len());
            events.insert(place, Event::Refused(refused));
        }
        events
    }

    /// Keeps the last `count` batches and refreshes and the refused batch, counted together.
    #[must_use]
    pub fn last(mut self, count: usize) -> Self {
        let events = self.in_order();
        let kept = &events[events.len().saturating_sub(count)..];
        let batches = kept.iter().filter(|event| matches!(event, Event::Batch(_)));
        let batches = batches.count();
        let has_refused = kept.iter().any(|event| matches!(event, Event::Refused(_)));
        let refreshes = kept.len() - batches - usize::from(has_refused);
        if !has_refused {
            self.refused = None;
        }
        self.batches.drain(..self.batches.len() - batches);
        self.refreshes.drain(..self.refreshes.len() - refreshes);
        self
    }
}

#[cfg(test)]
#[path = "events_tests.rs"]
mod tests;
