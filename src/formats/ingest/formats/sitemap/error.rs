//! Errors that refuse a sitemap as a whole.

use crate::display::counted;
use crate::ingest::formats::format_error::FormatError;

#[derive(Debug, thiserror::Error)]
pub(super) enum SitemapError {
    #[error("{file} is not a sitemap: expected <urlset> or <sitemapindex> as the first element")]
    NoSitemap { file: String },
    /// It is not well-formed XML.
    #[error("{file} is damaged XML at byte {byte}, after {}: {detail}", counted(*urls, "URL"))]
    Damaged {
        file: String,
        /// Number of `url` or `sitemap` elements before.
        urls: u64,
        byte: u64,
        detail: String,
    },
    /// A tag or text is too long, or elements are nested too deeply.
    #[error("{file} has {what} at byte {byte}, which is not valid in a sitemap")]
    Excess {
        file: String,
        byte: u64,
        what: &'static str,
    },
    /// All inputs of the batch are sitemap indexes.
    #[error(
        "{file} is an index of {} without pages; fetch the sitemaps that it lists and give them as further files",
        counted(*sitemaps, "sitemap")
    )]
    NoPages { file: String, sitemaps: u64 },
}

impl FormatError for SitemapError {}
