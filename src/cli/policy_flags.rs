//! The policies of a plan as flags.

use std::path::PathBuf;

use clap::Args;
use seedbank::engine::{EngineError, Limit, List, PlanOptions, Value};
use seedbank::watch::Watch;

/// Which pages may be seeds, and how many of them together.
#[derive(Debug, Args)]
#[command(next_help_heading = "Policies (any method)")]
pub(super) struct PolicyFlags {
    /// The most seeds of a site; `none` takes the limit off
    #[arg(long, value_name = "N|none")]
    max_per_site: Option<Limit>,
    /// The most seeds of a registrable domain, with all its subdomains
    #[arg(long, value_name = "N|none")]
    max_per_domain: Option<Limit>,
    /// Pages that are never seeds: a file of sites (`.example.org` with subdomains), URL prefixes,
    /// shapes (`*.pdf`) and expressions (`re:...`), one a line; `@media` for documents, images and
    /// archives; `none` takes the list off
    #[arg(long, value_name = "FILE")]
    exclude: Option<PathBuf>,
    /// The only pages that can be seeds, by a file as for `--exclude`
    #[arg(long, value_name = "FILE")]
    only: Option<PathBuf>,
    /// Pages that take no part in ranking or covering either, by a file as for `--exclude`
    #[arg(long, value_name = "FILE")]
    exclude_from_graph: Option<PathBuf>,
    /// Pages that are always seeds and come first: a file of URLs, one a line
    #[arg(long, value_name = "FILE")]
    pin: Option<PathBuf>,
    /// Cores: one with fewer hubs gives no seed [default: 0]
    #[arg(long, value_name = "N")]
    min_hubs: Option<u32>,
    /// Cores: one with fewer authorities gives no seed [default: 0]
    #[arg(long, value_name = "N")]
    min_authorities: Option<u32>,
    /// The least quality of a seed, 0 to 1; a page of which none is known has 0 [default: 0]
    #[arg(long, value_name = "QUALITY")]
    min_quality: Option<Value>,
    /// The most seeds that differ from the plan's last list; those that can be none any more leave
    /// whatever it says
    #[arg(long, value_name = "N|none")]
    max_changes: Option<Limit>,
}

impl PolicyFlags {
    /// Reads the lists, and fills in the options.
    pub(super) fn fill(
        self,
        options: &mut PlanOptions,
        watch: &dyn Watch,
    ) -> Result<(), EngineError> {
        let list = |path: Option<PathBuf>| path.map(|path| List::read(&path, watch)).transpose();
        options.max_per_site = self.max_per_site;
        options.max_per_domain = self.max_per_domain;
        options.exclude = list(self.exclude)?;
        options.only = list(self.only)?;
        options.exclude_from_graph = list(self.exclude_from_graph)?;
        options.pin = list(self.pin)?;
        options.min_hubs = self.min_hubs;
        options.min_authorities = self.min_authorities;
        options.min_quality = self.min_quality;
        options.max_changes = self.max_changes;
        Ok(())
    }
}
