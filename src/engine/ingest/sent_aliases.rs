//! Aliases of a batch over several processes: process 0 determines the changes, which all others need.

use std::sync::Arc;

use super::aliases::{AliasInput, Aliases, Change};
use super::exchange::shuffle::{Exchange, Shuffle};
use super::exchange::stream::Stream;
use super::fields::Fields;
use crate::engine::Result;
use seedbank_algorithms::page::PageId;
use seedbank_store::{Sorted, pack, unpack};

impl Aliases<'_> {
    /// Tells other processes the aliases of the bank that the batch names.
    pub(super) fn send_named(&self, exchange: &Arc<Exchange>) -> Result<()> {
        let mut sent = Shuffle::of_stream(exchange, Stream::NamedAliases);
        for (page, alias) in &self.named {
            sent.push(&page.0.to_be_bytes(), &pack(alias)?)?;
        }
        Ok(sent.flush()?)
    }

    /// Learns the named aliases of other processes.
    pub(super) fn receive_named(&mut self, exchange: &Exchange) -> Result<()> {
        each(exchange.received(Stream::NamedAliases)?, |page, value| {
            self.named.insert(page, unpack(value)?);
            Ok(())
        })
    }

    /// Sends the input about aliases to process 0.
    pub(super) fn send_inputs(&self, exchange: &Arc<Exchange>) -> Result<()> {
        let mut sent = Shuffle::of_stream(exchange, Stream::AliasInputs);
        for (page, input) in &self.inputs {
            sent.push(&page.0.to_be_bytes(), &pack(input)?)?;
        }
        Ok(sent.flush()?)
    }

    /// Adds the input of other processes.
    pub(super) fn receive_inputs(&mut self, exchange: &Exchange) -> Result<()> {
        each(exchange.received(Stream::AliasInputs)?, |page, value| {
            let input: AliasInput = unpack(value)?;
            self.inputs.entry(page).or_default().add(input);
            Ok(())
        })
    }

    /// Tells other processes the changes, and each of them its pages whose links change. Those of this process remain.
    pub(super) fn send_changes(&mut self, exchange: &Arc<Exchange>) -> Result<()> {
        let mut sent = Shuffle::of_stream(exchange, Stream::AliasChanges);
        for (page, change) in &self.changes {
            sent.push(&page.0.to_be_bytes(), &pack(change)?)?;
        }
        sent.flush()?;
        let mut sent = Shuffle::of_stream(exchange, Stream::Affected);
        for page in std::mem::take(&mut self.affected) {
            if exchange.has_site(PageId(page).site()) {
                self.affected.insert(page);
            } else {
                sent.push(&page.to_be_bytes(), &[])?;
            }
        }
        Ok(sent.flush()?)
    }

    /// Learns the changes from process 0.
    pub(super) fn receive_changes(&mut self, exchange: &Exchange) -> Result<()> {
        each(exchange.received(Stream::AliasChanges)?, |page, value| {
            let change: Change = unpack(value)?;
            self.changes.insert(page, change);
            Ok(())
        })?;
        each(exchange.received(Stream::Affected)?, |page, _| {
            self.affected.insert(page.0);
            Ok(())
        })
    }
}

/// Calls `each` with the page and the value of each entry.
fn each(mut entries: Sorted, mut each: impl FnMut(PageId, &[u8]) -> Result<()>) -> Result<()> {
    while let Some((key, value)) = entries.next_entry()? {
        each(Fields(key).page()?, value)?;
    }
    Ok(())
}
