//! The report on a refresh, as data and as one HTML page.
//!
//! ```text
//! gather.rs       queries the bank: seeds, cores, history; runs the experiments
//! answers.rs      the data of a report, which is also the JSON file
//! page.rs         the page, and the values that its templates need
//! seeds.rs        the list of seeds, and how many each refresh kept, gained and lost
//! seeds.js        searches and sorts the list; the page is complete without it
//! verdict.rs      whether the seeds are worth it
//! experiments.rs  figures of the experiments
//! core_figures.rs the papers' figures on cores
//! html/           templates: page.html with its sections, on top of those in src/html
//! ```
//!
//! The page is self-contained: it makes no requests, and its content security policy allows only the script
//! that searches and sorts the list of seeds. Text from the web is untrusted and always escaped. The same
//! report gives the same bytes, without the time of day or the name of the machine.

mod answers;
mod core_figures;
mod experiments;
mod gather;
mod page;
mod seeds;
mod verdict;

pub use answers::{CoreMembers, CoreSummary, Report, ReportSeed, SiteShare};
pub use gather::ReportRequest;
pub use page::{Commands, page};
