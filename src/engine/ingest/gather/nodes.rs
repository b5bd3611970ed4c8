//! Records of a graph, which name pages by node.

use roaring::RoaringBitmap;

use super::{HAS_RECORD, InputCollector};
use crate::engine::ingest::fields::Bytes;
use crate::engine::ingest::pieces::push_piece;
use crate::engine::{EngineError, Result};
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest::{Event, Location, NodeUrls, Position, UrlNumber};

impl InputCollector {
    /// Adds events that name pages by node.
    pub(super) fn add_nodes(&mut self, events: Vec<(Position, Event<UrlNumber>)>) -> Result<()> {
        for (_, event) in events {
            match event {
                Event::Record(record) => {
                    self.recorded_nodes.insert(record.url);
                    self.record(record, &mut |node, _| node);
                }
                Event::Rejected(_) => {}
                _ => {
                    return Err(EngineError::Internal(
                        "a graph has an event that is not a record",
                    ));
                }
            }
        }
        if self.held() > self.memory {
            self.put_nodes()?;
        }
        Ok(())
    }

    /// Emits records that name pages by node. The ranks of the URLs of the portion are the nodes.
    pub(super) fn put_nodes(&mut self) -> Result<()> {
        let mut bytes = Vec::new();
        for piece in &self.pieces {
            let mut targets = self.targets[piece.targets.clone()].to_vec();
            targets.sort_unstable();
            push_piece(
                &mut self.by_portion,
                self.portion,
                piece.url,
                piece.order,
                &piece.input,
                &targets,
                &mut bytes,
            )?;
        }
        self.pieces.clear();
        self.targets.clear();
        Ok(())
    }

    /// Emits the URLs of all nodes. Returns the nodes without a record.
    pub(super) fn put_node_urls(
        &mut self,
        nodes: &dyn NodeUrls,
        watch: &dyn Watch,
    ) -> Result<RoaringBitmap> {
        let mut unrecorded = RoaringBitmap::new();
        let mut key = Vec::new();
        let mut length = 0;
        for (node, Location { site, local }) in nodes.locations() {
            watch.proceed()?;
            // Nodes ascend.
            length = node.saturating_add(1);
            let is_recorded = self.recorded_nodes.contains(node);
            if !is_recorded {
                unrecorded.insert(node);
            }
            key.clear();
            key.extend_from_slice(site.as_bytes());
            key.push(0);
            key.extend_from_slice(local.as_bytes());
            let flags = if is_recorded { HAS_RECORD } else { 0 };
            let value = Bytes::default().u32(self.portion).u32(node).byte(flags);
            self.by_url.push(&key, &value)?;
        }
        self.lengths.insert(self.portion, length);
        Ok(unrecorded)
    }
}
