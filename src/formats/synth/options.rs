//! Options and errors of the crawl generator.

use std::io;
use std::path::PathBuf;

use seedbank_algorithms::watch::Interrupted;

/// The size, shape and rates of change of a generated crawl.
///
/// The defaults have the shape of `ku-2017-webir` and the rates of published studies (see the
/// [module](super)); [`SynthOptions::uk_2002`] has the proportions of UK-2002.
#[derive(Clone, Debug, PartialEq)]
pub struct SynthOptions {
    /// The number of crawled pages on day 0, the records of the snapshot; 1 to 1,000,000,000.
    pub pages: u64,
    /// The number of crawled sites, at most `pages`; `None` for one per 36 pages, as in `ku-2017-webir`.
    pub sites: Option<u32>,
    /// The number of daily deltas after the snapshot, 0 to 36,500.
    pub days: u32,
    /// The seed of all random numbers.
    pub rng_seed: u64,
    /// Pages born per day, as a fraction of the pages of day 0; 0 to 1.
    pub born_per_day: f64,
    /// Fraction of the live pages whose content changed when fetched that day; 0 to 1.
    pub changed_per_day: f64,
    /// Fraction of the live pages that vanish per day; 0 to 0.9. Home and section pages stay.
    pub gone_per_day: f64,
    /// Fraction of the live, unchanged pages that get a record with clicks only; 0 to 1.
    pub clicked_per_day: f64,
    /// Mean links of a crawled page, intra-site and inter-site; at least `inter_site_links`, at most 200.
    pub links: f64,
    /// Mean inter-site links of a crawled page; 0 to 8. The generator is calibrated to it.
    pub inter_site_links: f64,
    /// Share of the intra-site links that lead to pages never crawled; 0 to 0.9.
    pub frontier_links: f64,
    /// Whether the mean links are accurate to a few per cent instead of ten, which takes about a second more.
    pub exact_means: bool,
}

impl Default for SynthOptions {
    fn default() -> Self {
        Self {
            pages: 10_000,
            sites: None,
            days: 7,
            rng_seed: 0,
            born_per_day: 0.0115,
            changed_per_day: 0.06,
            gone_per_day: 0.0044,
            clicked_per_day: 0.01,
            links: 21.9,
            inter_site_links: 3.7,
            frontier_links: 0.55,
            exact_means: false,
        }
    }
}

impl SynthOptions {
    /// Creates default options for a number of pages.
    #[must_use]
    pub fn new(pages: u64) -> Self {
        Self {
            pages,
            ..Self::default()
        }
    }

    /// Creates options with the proportions of UK-2002 (18.5 million pages, 298 million links, 22.7 million of them
    /// inter-site, no frontier) at any size.
    #[must_use]
    pub fn uk_2002(pages: u64) -> Self {
        Self {
            links: 298.0 / 18.5,
            inter_site_links: 22.7 / 18.5,
            frontier_links: 0.0,
            exact_means: true,
            ..Self::new(pages)
        }
    }

    /// Scales the rates of change so that a delta has records for about `share` (0 to 1) of the pages of
    /// day 0.
    #[must_use]
    pub fn with_daily_share(self, share: f64) -> Self {
        let total =
            self.born_per_day + self.changed_per_day + self.gone_per_day + self.clicked_per_day;
        let factor = if total > 0.0 { share / total } else { 0.0 };
        Self {
            born_per_day: self.born_per_day * factor,
            changed_per_day: self.changed_per_day * factor,
            gone_per_day: self.gone_per_day * factor,
            clicked_per_day: self.clicked_per_day * factor,
            ..self
        }
    }

    /// Returns the number of crawled sites.
    #[must_use]
    pub fn site_count(&self) -> u32 {
        self.sites
            .unwrap_or_else(|| (self.pages / 36).clamp(1, 1 << 30) as u32)
    }

    pub(super) fn check(&self) -> Result<(), SynthError> {
        check_range("pages", self.pages as f64, 1.0, 1e9)?;
        check_range(
            "sites",
            f64::from(self.site_count()),
            1.0,
            self.pages as f64,
        )?;
        check_range("days", f64::from(self.days), 0.0, 36_500.0)?;
        check_range("born_per_day", self.born_per_day, 0.0, 1.0)?;
        check_range("changed_per_day", self.changed_per_day, 0.0, 1.0)?;
        check_range("gone_per_day", self.gone_per_day, 0.0, 0.9)?;
        check_range("clicked_per_day", self.clicked_per_day, 0.0, 1.0)?;
        check_range("inter_site_links", self.inter_site_links, 0.0, 8.0)?;
        check_range("links", self.links, self.inter_site_links, 200.0)?;
        check_range("frontier_links", self.frontier_links, 0.0, 0.9)?;
        // Page indexes within a site are 32 bits wide, and births are linear in the days.
        let grown = self.pages as f64 * (1.0 + self.born_per_day * f64::from(self.days));
        check_range("pages after the last day", grown, 1.0, 4e9)
    }
}

/// Returns an error unless a value is within `low..=high`.
pub(super) fn check_range(
    option: &'static str,
    value: f64,
    low: f64,
    high: f64,
) -> Result<(), SynthError> {
    if value >= low && value <= high {
        return Ok(());
    }
    Err(SynthError::Option {
        option,
        value: value.to_string(),
        allowed: format!("{low} to {high}"),
    })
}

/// Why no crawl was generated. No files are left behind.
#[derive(Debug, thiserror::Error)]
pub enum SynthError {
    /// An option is out of its range.
    #[error("{option}: expected {allowed}, found {value}")]
    Option {
        /// The option.
        option: &'static str,
        /// The given value.
        value: String,
        /// The allowed range.
        allowed: String,
    },
    /// The requested day is after the last one.
    #[error(
        "expected a day up to {days}, the last one of the crawl, found {day}; generate more days"
    )]
    Day {
        /// The requested day.
        day: u32,
        /// The last day.
        days: u32,
    },
    /// The directory is not empty.
    #[error("{} is not empty; use a new or an empty directory", .0.display())]
    NotEmpty(PathBuf),
    /// The path is not a directory.
    #[error("{} is not a directory; use a new or an empty directory", .0.display())]
    NotADirectory(PathBuf),
    /// A file could not be written.
    #[error("cannot write {}; check free space and permissions", path.display())]
    Write {
        /// The file or directory.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The watch asked to stop.
    #[error("interrupted; the files written so far were removed")]
    Interrupted,
}

impl From<Interrupted> for SynthError {
    fn from(_: Interrupted) -> Self {
        Self::Interrupted
    }
}
