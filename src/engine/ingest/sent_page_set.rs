//! Sets of pages of a batch that several processes write.

use std::sync::Arc;

use roaring::RoaringBitmap;

use super::exchange::shuffle::{Exchange, Shuffle};
use super::exchange::stream::Stream;
use super::fields::Fields;
use crate::engine::{EngineError, Result};
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_store::tables::PageSetKey;
use seedbank_store::{Changes, PageSetWriter, Sorted};

/// A set of pages that are added in the order of their sites. Over several processes, process 0 writes the set.
pub(super) enum BatchPageSet {
    Written(PageSetWriter),
    Sent {
        /// Bitmaps of pages by site.
        sites: Shuffle,
        open: Option<(SiteId, RoaringBitmap)>,
    },
}

impl BatchPageSet {
    pub(super) fn new(set: PageSetKey, exchange: Option<&Arc<Exchange>>, stream: Stream) -> Self {
        match exchange {
            None => Self::Written(PageSetWriter::new(set)),
            Some(exchange) => Self::Sent {
                sites: Shuffle::of_stream(exchange, stream),
                open: None,
            },
        }
    }

    pub(super) fn push(&mut self, page: PageId, changes: &mut Changes) -> Result<()> {
        match self {
            Self::Written(writer) => writer.push(page, changes)?,
            Self::Sent { open, .. } => match open {
                Some((site, pages)) if *site == page.site() => {
                    pages.insert(page.index());
                }
                _ => {
                    let next = (page.site(), RoaringBitmap::from_iter([page.index()]));
                    let full = open.replace(next);
                    self.send(full)?;
                }
            },
        }
        Ok(())
    }

    fn send(&mut self, full: Option<(SiteId, RoaringBitmap)>) -> Result<()> {
        if let (Self::Sent { sites, .. }, Some((site, pages))) = (self, full) {
            let mut bytes = Vec::with_capacity(pages.serialized_size());
            // Writing to memory does not fail.
            pages
                .serialize_into(&mut bytes)
                .map_err(|_| EngineError::Internal("a bitmap cannot be written"))?;
            sites.push(&site.0.to_be_bytes(), &bytes)?;
        }
        Ok(())
    }

    /// Sends all pages to process 0.
    pub(super) fn flush(&mut self) -> Result<()> {
        let full = match self {
            Self::Written(_) => None,
            Self::Sent { open, .. } => open.take(),
        };
        self.send(full)?;
        match self {
            Self::Written(_) => Ok(()),
            Self::Sent { sites, .. } => Ok(sites.flush()?),
        }
    }

    /// Writes the set, with the pages of all processes. An empty one is written only if `is_always_written`.
    pub(super) fn finish(
        self,
        set: PageSetKey,
        is_always_written: bool,
        changes: &mut Changes,
    ) -> Result<()> {
        let writer = match self {
            Self::Written(writer) => writer,
            Self::Sent { mut sites, .. } => received(sites.take()?, set, changes)?,
        };
        if is_always_written || !writer.is_empty() {
            writer.finish(changes)?;
        }
        Ok(())
    }
}

/// Writes the bitmaps of sites.
fn received(mut sites: Sorted, set: PageSetKey, changes: &mut Changes) -> Result<PageSetWriter> {
    let invalid = |_| EngineError::Internal("a bitmap in temporary data is invalid");
    let mut writer = PageSetWriter::new(set);
    while let Some((key, value)) = sites.next_entry()? {
        let site = Fields(key).site()?;
        for index in RoaringBitmap::deserialize_from(value).map_err(invalid)? {
            writer.push(PageId::new(site, index), changes)?;
        }
    }
    Ok(writer)
}
