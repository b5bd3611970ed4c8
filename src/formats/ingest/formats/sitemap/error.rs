//! What refuses a sitemap as a whole.

use crate::display::counted;
use crate::ingest::open::InputError;

/// Why nothing more of it can be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum SitemapError {
    /// The file is not a sitemap.
    #[error("{file} is not a sitemap: expected <urlset> or <sitemapindex> as the first element")]
    NoSitemap { file: String },
    /// It is not well-formed.
    #[error("{file} is damaged XML at byte {byte}, after {}: {said}", counted(*urls, "URL"))]
    Damaged {
        file: String,
        /// How many elements `url` or `sitemap` were read before.
        urls: u64,
        byte: u64,
        said: String,
    },
    /// A tag or text that is too long, or tags that are nested too deeply.
    #[error("{file} has {what} at byte {byte}, which is not valid in a sitemap")]
    Excess {
        file: String,
        byte: u64,
        what: &'static str,
    },
    /// All inputs are sitemap indexes.
    #[error(
        "{file} is an index of {} without pages; fetch the sitemaps that it lists and give them as further files",
        counted(*sitemaps, "sitemap")
    )]
    NoPages { file: String, sitemaps: u64 },
}

impl From<SitemapError> for InputError {
    fn from(error: SitemapError) -> Self {
        Self::Format(Box::new(error))
    }
}
