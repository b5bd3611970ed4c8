//! What a rejected batch would remove from the bank.

use std::fmt;

use seedbank_formats::display::counted;

/// What a batch would remove from the bank, net.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct BatchLoss {
    /// The number of crawled pages before the batch.
    pub pages_before: u64,
    /// The number of crawled pages after the batch.
    pub pages_after: u64,
    /// The number of links before the batch.
    pub links_before: u64,
    /// The number of links after the batch.
    pub links_after: u64,
    /// The limit in percent.
    pub limit: f64,
    /// The smallest limit that accepts the batch, in percent; a multiple of 0.1.
    pub least_limit: f64,
    /// Whether the batch is a snapshot.
    pub snapshot: bool,
    /// The sites that lose most, at most five, the worst first: by pages if too many pages are lost,
    /// otherwise by links.
    pub sites: Vec<SiteLoss>,
    /// The number of other sites that lose pages or links.
    pub more_sites: u64,
}

/// What a site loses, net.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct SiteLoss {
    /// The name of the site.
    pub site: String,
    /// The number of crawled pages; 0 if there are not fewer.
    pub pages: u64,
    /// The number of links from its pages; 0 if there are not fewer.
    pub links: u64,
}

impl fmt::Display for BatchLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the number of crawled pages would change from {} to {}, and that of links from {} to {}; expected a loss of at most {} %",
            self.pages_before, self.pages_after, self.links_before, self.links_after, self.limit
        )?;
        for (position, lost) in self.sites.iter().enumerate() {
            let before = if position == 0 {
                "; lost by site:"
            } else {
                ","
            };
            write!(
                f,
                "{before} {} ({}, {})",
                lost.site,
                counted(lost.pages, "page"),
                counted(lost.links, "link")
            )?;
        }
        if self.more_sites > 0 {
            write!(f, ", and {}", counted(self.more_sites, "more site"))?;
        }
        Ok(())
    }
}
