//! Sequential reads of links.

use super::records::links::{Link, LinkBlock, LinkKey};
use super::store::Store;
use super::table::{Table, Value};
use crate::error::StoreError;

/// Reads the links of pages or rows in ascending order, each block once.
pub struct LinkCursor<'a, T: 'static> {
    store: &'a Store,
    table: &'static Table<LinkKey, LinkBlock<T>>,
    block: Option<(LinkKey, LinkBlock<T>)>,
}

impl<'a, T: Link> LinkCursor<'a, T>
where
    LinkBlock<T>: Value,
{
    /// Creates a cursor over a table of links.
    #[must_use]
    pub const fn new(store: &'a Store, table: &'static Table<LinkKey, LinkBlock<T>>) -> Self {
        Self {
            store,
            table,
            block: None,
        }
    }

    /// Returns the list at a position of a block.
    pub fn list(&mut self, key: LinkKey, place: u32) -> Result<&[T], StoreError> {
        let block = match self.block.take() {
            Some((at, block)) if at == key => block,
            _ => self.store.links(self.table, key)?,
        };
        Ok(self.block.insert((key, block)).1.at(place))
    }
}
