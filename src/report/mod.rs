//! A refresh as one page for people: data in, HTML out.
//!
//! ```text
//! data.rs      what a report tells; the JSON file beside the page
//! judge.rs     whether it is worth it, and by which figures
//! page.rs      the page, and what its templates cannot compute themselves
//! experiments.rs, crawl.rs, coverage.rs  what was measured, as figures (figure.rs)
//! chart.rs, bars.rs, map.rs  inline SVG
//! text.rs      escaping, numbers, lists that are cut
//! html/        templates: base.html for any page, page.html with its sections, parts.html
//! page.css     light, dark, phone and paper
//! ```
//!
//! The page needs nothing but itself: no script, no request to anywhere (a content security policy
//! in it forbids both). Only links that the reader follows lead out of it. Text from the web is
//! hostile until it is escaped. The same report gives the same bytes: nothing tells the time of
//! day or the machine.

mod bars;
mod chart;
mod coverage;
mod crawl;
mod data;
mod experiments;
mod figure;
mod judge;
mod map;
mod page;
mod text;

pub use data::{
    Budget, BudgetLine, ChangedSeed, Changes, Claim, CoreLine, Cost, Coverage, CoveragePoint,
    Crawl, CrawlDepth, Distances, Mean, MethodCurve, Parameter, Reason, Report, SeedLine,
    SiteShare, Web,
};
pub use page::page;
