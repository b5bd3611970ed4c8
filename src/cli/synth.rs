//! `synth`: generates a crawl.

use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;
use seedbank::synth::{SynthOptions, SynthSummary, generate};

use super::Outcome;
use super::failure::CliError;
use super::output::print;
use super::session::Session;
use super::values::human_bytes;

const EXAMPLES: &str = "\
Examples:
  seedbank synth crawl --pages 10000 --days 7
  seedbank ingest bank --snapshot crawl/day-000.jsonl.zst
  seedbank ingest bank crawl/day-001.jsonl.zst";

/// Generate a crawl to try things out: a snapshot and daily deltas
///
/// The same numbers give the same bytes everywhere. The pages do not exist; their hosts end in
/// names that are reserved for examples.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct SynthArgs {
    /// The folder to make
    dir: PathBuf,
    /// Crawled pages of the snapshot
    #[arg(long, value_name = "N")]
    pages: u64,
    /// Crawled sites; one for each 36 pages unless said otherwise
    #[arg(long, value_name = "N")]
    sites: Option<u32>,
    /// Daily deltas after the snapshot
    #[arg(long, value_name = "N", default_value_t = 7)]
    days: u32,
    /// Another number gives another crawl
    #[arg(long, value_name = "N", default_value_t = 0)]
    rng_seed: u64,
}

pub(super) fn run(args: &SynthArgs, session: &Session) -> Result<Outcome, CliError> {
    let options = SynthOptions {
        sites: args.sites,
        days: args.days,
        rng_seed: args.rng_seed,
        ..SynthOptions::new(args.pages)
    };
    let watch = session.watch()?;
    let summary = generate(&args.dir, &options, &watch);
    drop(watch);
    print(&text(&summary?))?;
    Ok(Outcome::Done)
}

/// What was written, for people.
fn text(summary: &SynthSummary) -> String {
    let mut text = String::new();
    for file in &summary.files {
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{}: {} records, {} links ({} inter-site), {}",
            file.path.display(),
            file.counts.records,
            file.counts.links,
            file.counts.inter_site_links,
            human_bytes(file.file_bytes)
        );
    }
    text
}
