//! What a request to forget would remove from the bank.

use std::fmt;

use seedbank_formats::display::counted;

/// What a request to forget would remove from the bank.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ForgetExtent {
    /// The number of pages.
    pub pages: u64,
    /// The number of links from and to them.
    pub links: u64,
    /// The maximum number of pages in the request.
    pub limit: u64,
    /// The sites with most of the pages, at most five, each with the number of its pages.
    pub sites: Vec<(String, u64)>,
    /// The number of other sites.
    pub more_sites: u64,
}

impl fmt::Display for ForgetExtent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} and {} would be forgotten; expected at most {}",
            counted(self.pages, "page"),
            counted(self.links, "link"),
            counted(self.limit, "page")
        )?;
        for (position, (site, pages)) in self.sites.iter().enumerate() {
            let before = if position == 0 { "; by site:" } else { "," };
            write!(f, "{before} {site} ({})", counted(*pages, "page"))?;
        }
        if self.more_sites > 0 {
            write!(f, ", and {}", counted(self.more_sites, "more site"))?;
        }
        Ok(())
    }
}
