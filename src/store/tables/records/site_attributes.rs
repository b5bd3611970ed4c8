//! Attributes of sites that pages inherit.

use serde::{Deserialize, Serialize};

/// Attributes of a site as reported by records of sites; `None` if not reported or withdrawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SiteDefaults {
    /// The quality of pages without one of their own, in ten-thousandths.
    pub quality: Option<u16>,
    /// The spam mark of pages without one of their own.
    pub spam: Option<bool>,
    /// The maximum number of pages of the site that a crawl should fetch.
    pub quota: Option<u32>,
}

impl SiteDefaults {
    /// Returns the effective spam mark and quality of a page with these own values.
    #[must_use]
    pub const fn effective(&self, spam: Option<bool>, quality: Option<u16>) -> (bool, Option<u16>) {
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
