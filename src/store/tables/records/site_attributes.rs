//! What records of sites give, and what it comes to on pages.

use serde::{Deserialize, Serialize};

/// What records of sites gave of a site; `None` where none did, or where it was taken away.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SiteDefaults {
    /// The quality of pages that have none of their own, in ten-thousandths.
    pub quality: Option<u16>,
    /// The spam mark of pages whose records do not say.
    pub spam: Option<bool>,
    /// The most pages of the site that a crawl should take.
    pub quota: Option<u32>,
}

impl SiteDefaults {
    /// The spam mark and the quality that count for a page of the site, by what the page's own
    /// records gave.
    #[must_use]
    pub const fn over(&self, spam: Option<bool>, quality: Option<u16>) -> (bool, Option<u16>) {
        let spam = match (spam, self.spam) {
            (Some(spam), _) | (None, Some(spam)) => spam,
            (None, None) => false,
        };
        let quality = if quality.is_some() {
            quality
        } else {
            self.quality
        };
        (spam, quality)
    }
}
