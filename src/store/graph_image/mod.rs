//! The graph image: the graph of a bank in the form in which algorithms load it.
//!
//! The tables are made for changes of single pages. Algorithms need the whole graph: numbered pages, lists of
//! links, the order of the URLs. A [`GraphImage`] has these in memory. It is loaded from the tables by one scan
//! each, or from a file in the bank's folder, which the first command that loads the graph writes:
//!
//! ```text
//! BANK/image/graph      the image of one state
//! BANK/image/lock       held by the process that writes the image, or commits what forgets pages
//! ```
//!
//! The file is a cache. It belongs to no state, is in no backup, and may be removed at any time. It is used only
//! if all of its checksums are right and its state is an earlier or the current state of this bank. What later
//! batches changed is then read from the tables by key: the pages that they changed, which
//! [`PAGE_SETS`](crate::tables::PAGE_SETS) has. If too many pages changed, the file is written anew. If the file
//! cannot be written, as in a bank that is read-only, nothing happens.
//!
//! A process holds the lock while it writes the file, and writes it only if its state is still the published one. A commit
//! that forgets pages holds the same lock until its state is published. So no file with forgotten hosts is left.
//!
//! A *slot* is the number of a page in the image. Slots follow the ids of the pages; pages that are new since the
//! file was written follow all others. Pages that are
//! neither known nor crawled have slots too, since they may return.
//!
//! In a cluster bank, a process can also load the image of its own sites alone ([`GraphImage::load_share`]).

mod file;
mod image;
mod load;
mod scan;

pub(crate) use file::ImageFault;
pub use file::ImageLock;
pub use image::{GraphImage, HostPrefix, ImageLinks, PageAttributes, Run};
pub use load::ImageSource;
