//! Tables, keys and records: the layer above RocksDB.
//!
//! Every table is declared once, in `schema`. [`store::Store`] reads tables, and
//! [`changes::Changes`] collects what is to be written to them.

pub(crate) mod changes;
pub(crate) mod codec;
mod final_list;
pub(crate) mod layout;
pub mod member_order;
mod page_sets;
pub(crate) mod parts;
mod reads;
pub mod records;
mod schema;
pub(crate) mod shards;
mod site_ids;
pub(crate) mod store;
pub(crate) mod table;

pub use page_sets::{PageSetReader, PageSetWriter};
pub use reads::{LinkCursor, LinkScan};
pub use records::page_set_keys::{CoveredKey, PageSetKey, PageSetPart};
pub use schema::*;
pub use site_ids::SiteIds;
pub use store::SiteScan;
