//! Reads of links of neighbouring pages or rows, each block once.

use super::records::links::{Link, LinkBlock, LinkKey};
use super::store::Store;
use super::table::{Table, Value};
use crate::error::StoreError;

/// The block of links that was read last, for reads in the order of keys.
pub struct LinkCursor<'a, T: 'static> {
    store: &'a Store,
    table: &'static Table<LinkKey, LinkBlock<T>>,
    at: Option<(LinkKey, LinkBlock<T>)>,
}

impl<'a, T: Link> LinkCursor<'a, T>
where
    LinkBlock<T>: Value,
{
    /// Nothing is read yet.
    pub const fn new(store: &'a Store, table: &'static Table<LinkKey, LinkBlock<T>>) -> Self {
        Self {
            store,
            table,
            at: None,
        }
    }

    /// A list of a block.
    pub fn list(&mut self, key: LinkKey, place: u32) -> Result<&[T], StoreError> {
        let block = match self.at.take() {
            Some((at, block)) if at == key => block,
            _ => self.store.links(self.table, key)?,
        };
        Ok(self.at.insert((key, block)).1.at(place))
    }
}
