//! What refuses a sitemap as a whole.

use crate::ingest::open::InputError;
use crate::shown::counted;

/// Why nothing more of it can be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum SitemapError {
    /// It is XML of another kind, or none.
    #[error("{file} is no sitemap: its first element is not <urlset> or <sitemapindex>")]
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
    /// A tag or a text that is too long to be one, or tags in tags without an end.
    #[error("{file} has {what} at byte {byte}, which no sitemap has")]
    Excess {
        file: String,
        byte: u64,
        what: &'static str,
    },
    /// All inputs are lists of sitemaps.
    #[error(
        "{file} is a list of {}, which are not fetched, and has no pages; fetch those that it names and give them beside it",
        counted(*sitemaps, "sitemap")
    )]
    NoPages { file: String, sitemaps: u64 },
}

impl From<SitemapError> for InputError {
    fn from(error: SitemapError) -> Self {
        Self::Format(Box::new(error))
    }
}
