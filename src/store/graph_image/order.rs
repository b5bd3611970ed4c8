//! The order of the pages by the name of the site and by URL, and the parts of it with the same host.

use std::ops::Range;

use super::HostPrefix;
use seedbank_algorithms::page::SiteId;

/// Pages of one site whose URLs have the same host: a range of the order of all pages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Run {
    /// The common prefix of the URLs, up to the character after the host.
    pub(super) begins: String,
    pub(super) site: SiteId,
    pub(super) start: u32,
    pub(super) length: u32,
}

impl Run {
    /// Returns the site of the pages.
    #[must_use]
    pub const fn site(&self) -> SiteId {
        self.site
    }

    /// Returns the common prefix of the URLs, which no URL of another run has.
    #[must_use]
    pub fn prefix(&self) -> &str {
        &self.begins
    }

    /// Returns the range of the pages.
    #[must_use]
    pub const fn range(&self) -> Range<usize> {
        self.start as usize..(self.start + self.length) as usize
    }
}

/// Appends a page to the last run if it has the same host, else to a new run.
pub(super) fn push_page(runs: &mut Vec<Run>, site: SiteId, at: u32, begins: &str) {
    match runs.last_mut() {
        Some(run) if run.site == site && run.begins == begins => run.length += 1,
        _ => runs.push(Run {
            begins: begins.to_owned(),
            site,
            start: at,
            length: 1,
        }),
    }
}

/// Finds the hosts of the pages of a site, in the order of their URLs.
pub(super) struct HostFinder<'a> {
    prefix: HostPrefix<'a>,
    /// The last page, and its prefix.
    local: String,
    begins: String,
    /// The length of the part of `local` that determines the prefix; 0 at first.
    determining: usize,
}

impl<'a> HostFinder<'a> {
    pub(super) const fn new(prefix: HostPrefix<'a>) -> Self {
        Self {
            prefix,
            local: String::new(),
            begins: String::new(),
            determining: 0,
        }
    }

    /// Starts with the pages of another site.
    pub(super) fn start_site(&mut self) {
        self.determining = 0;
    }

    /// Returns the prefix of the URL of a page.
    pub(super) fn begins(&mut self, site: &str, local: &str) -> &str {
        // The path begins at the first slash. Up to there, most pages equal the page before.
        let known = self.local.as_bytes().get(..self.determining);
        let is_same =
            self.determining > 0 && known.is_some_and(|known| local.as_bytes().starts_with(known));
        if !is_same {
            self.begins.clear();
            (self.prefix)(site, local, &mut self.begins);
            self.local.clear();
            self.local.push_str(local);
            self.determining = local.find('/').map_or(0, |at| at + 1);
        }
        &self.begins
    }
}
