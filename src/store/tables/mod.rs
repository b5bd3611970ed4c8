//! Tables, keys and records: the layer above RocksDB.
//!
//! Every table is declared once, in `schema`. [`store::Store`] reads tables, and
//! [`changes::Changes`] collects what is to be written to them.

mod alias_reads;
mod bit_codes;
pub(crate) mod changes;
pub(crate) mod codec;
pub(crate) mod entries;
mod final_list;
mod link_cursor;
mod link_reads;
mod local_scan;
pub mod member_order;
mod merged_scan;
mod page_reads;
mod page_sets;
pub(crate) mod parts;
pub mod records;
mod schema;
pub(crate) mod shards;
mod site_ids;
mod site_scan;
pub(crate) mod store;
pub(crate) mod table;
pub(crate) mod undo_capture;

pub use link_cursor::LinkCursor;
pub use link_reads::LinkScan;
pub use page_sets::{PageSetReader, PageSetWriter};
pub use records::page_set_keys::{CoveredKey, PageSetKey, PageSetPart, ReachedKey};
pub use schema::*;
pub use site_ids::SiteIds;
pub use site_scan::SiteScan;
