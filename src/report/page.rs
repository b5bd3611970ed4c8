//! The page, and the values that its templates need.

use std::collections::BTreeSet;

use askama::Template;
use serde_json::Value as Json;

use super::answers::{CoreSummary, Report, ReportSeed};
use super::core_figures;
use super::experiments;
use super::gather::WITH_MEMBERS;
use super::seeds;
use super::verdict::{self, Verdict, verdict};
use crate::engine::evaluate::Claim;
use crate::engine::plan::Method;
use crate::engine::query::{ByPolicy, Evidence};
use crate::engine::refresh::{Proof, RefreshView, Stars};
use crate::html::bars::{Bar, bars};
use crate::html::changes::change_lists;
use crate::html::chart::Frame;
use crate::html::figure::Figure;
use crate::html::text::{Count, Measure, day, put};
use crate::html::truncate::Truncate;

/// The most cores in the list.
const MAX_CORES: usize = WITH_MEMBERS as usize;

/// The commands that the page suggests. Hints without a command are omitted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Commands {
    /// Prints the seeds for a crawler.
    pub seeds: Option<String>,
    /// Prints the cores with all their pages and scores.
    pub cores: Option<String>,
    /// Refreshes the plan.
    pub refresh: Option<String>,
    /// Lists candidates to replace the seeds that a refresh lost.
    pub diff: Option<String>,
    /// The option that runs the experiments.
    pub evaluate: Option<String>,
    /// The prefix of the names of plan parameters; empty by default.
    pub parameter: String,
}

/// Renders a report as an HTML page; `json` is the name of the JSON file beside it.
#[must_use]
pub fn page(report: &Report, json: &str, commands: &Commands) -> String {
    let title = match report.seeds.len() {
        0 => "No page could be selected to start the next crawl from".to_owned(),
        1 => "The page to start the next crawl from".to_owned(),
        seeds => format!("{} pages to start the next crawl from", seeds.whole()),
    };
    let page = Page {
        title,
        report,
        commands,
        file: DataFile::beside(json),
        dead: report.seeds.iter().filter(|s| s.dead.is_some()).count(),
        verdict: verdict(report),
        fetched: experiments::by_fetches(report),
        core_sizes: core_figures::sizes(&report.cores),
        figures: experiments::figures(report),
        other_figures: experiments::other_figures(report),
    };
    let mut out = String::with_capacity(1 << 16);
    // Writing to a String cannot fail, and the templates have no fallible expressions.
    let _ = page.render_into(&mut out);
    // Templates omit the last line end.
    out.push('\n');
    out
}

#[derive(Template)]
#[template(path = "page.html", config = "src/report/askama.toml")]
struct Page<'a> {
    title: String,
    report: &'a Report,
    commands: &'a Commands,
    file: DataFile<'a>,
    /// The number of seeds that can no longer start a crawl.
    dead: usize,
    verdict: Verdict,
    /// The figures of value per page fetched.
    fetched: Vec<Figure>,
    /// The sizes of the cores by iteration.
    core_sizes: Option<Figure>,
    /// The papers' experiments that concern the plan.
    figures: Vec<Figure>,
    /// The papers' experiments on other methods.
    other_figures: Vec<Figure>,
}

/// The JSON file beside the page.
struct DataFile<'a> {
    name: &'a str,
    /// Its percent-encoded URL relative to the page.
    address: String,
}

impl<'a> DataFile<'a> {
    fn beside(name: &'a str) -> Self {
        let mut address = String::from("./");
        for byte in name.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                    address.push(char::from(byte));
                }
                byte => put(&mut address, format_args!("%{byte:02X}")),
            }
        }
        DataFile { name, address }
    }
}

/// The totals that seeds lead to.
struct Together {
    sites: usize,
    pages: u64,
    /// The value of the pages; 0 for methods that do not select by value.
    value: f64,
}

impl Page<'_> {
    /// Whether there are experiments, or reasons why one was left out.
    fn has_experiments(&self) -> bool {
        let report = self.report;
        report.crawl.is_some()
            || report.distances.is_some()
            || report.coverage.is_some()
            || !report.skipped.is_empty()
    }

    /// Whether something can be proved about the cores, if there are any.
    fn has_proof(&self) -> bool {
        self.report.refresh.proof != Proof::NotApplicable
    }

    /// The totals over the authorities of all cores.
    fn reached(&self) -> Together {
        let cores = &self.report.cores;
        let shares = cores.iter().flat_map(|core| &core.authority_sites);
        let sites: BTreeSet<&str> = shares.map(|share| share.site.as_str()).collect();
        Together {
            sites: sites.len(),
            pages: cores.iter().map(|core| core.authorities).sum(),
            value: 0.0,
        }
    }

    /// The cores with a single hub or a single authority; `None` if there are none.
    fn stars(&self) -> Option<Stars> {
        let count = |pages: u64| u32::try_from(pages).unwrap_or(u32::MAX);
        let cores = self.report.cores.iter();
        Stars::count(cores.map(|core| (count(core.hubs), count(core.authorities))))
    }

    /// The totals that the seeds of a cover plan cover.
    fn covered(&self) -> Together {
        let seeds = &self.report.seeds;
        let sites: BTreeSet<&str> = seeds.iter().map(|seed| seed.seed.site.as_str()).collect();
        let mut together = Together {
            sites: sites.len(),
            pages: 0,
            value: 0.0,
        };
        for seed in seeds {
            if let Evidence::Cover {
                covered_pages,
                covered_value,
                ..
            } = seed.seed.evidence
            {
                together.pages += covered_pages;
                together.value += covered_value;
            }
        }
        together
    }

    /// The core of a seed; `None` if the report does not have one.
    fn core_of(&self, seed: &ReportSeed) -> Option<&CoreSummary> {
        let Evidence::Core { core, .. } = seed.seed.evidence else {
            return None;
        };
        // Cores are in the order of their ranks.
        let cores = &self.report.cores;
        let at = cores.binary_search_by_key(&core, |line| line.rank).ok()?;
        Some(&cores[at])
    }

    /// The claims about seeds of this method.
    fn claims(&self) -> Vec<&Claim> {
        let report = self.report;
        // The claims about crawls concern cores.
        let crawl = report.crawl.iter().filter(|_| !report.cores.is_empty());
        let crawl = crawl.flat_map(|found| &found.claims);
        let distances = report.distances.iter().flat_map(|found| &found.claims);
        let coverage = self.coverage_claims(experiments::covers_sites(report));
        crawl.chain(distances).chain(coverage).collect()
    }

    /// The claims about methods that cover sites, if the plan does not use one.
    fn other_claims(&self) -> Vec<&Claim> {
        let is_other = !experiments::covers_sites(self.report);
        self.coverage_claims(is_other).collect()
    }

    fn coverage_claims(&self, wanted: bool) -> impl Iterator<Item = &Claim> {
        let coverage = self.report.coverage.iter().filter(move |_| wanted);
        coverage.flat_map(|found| &found.claims)
    }

    /// The parameters that the plan sets, by name.
    fn parameters(&self) -> Vec<(String, String)> {
        let Ok(Json::Object(parameters)) = serde_json::to_value(&self.report.refresh.parameters)
        else {
            return Vec::new();
        };
        let set = parameters.into_iter().filter(|(name, _)| name != "method");
        let text = |value| match value {
            Json::String(text) => text,
            other => other.to_string(),
        };
        let mut named: Vec<_> = set.map(|(name, value)| (name, text(value))).collect();
        named.sort();
        named
    }

    /// The plan's refreshes up to this one, in order.
    fn refreshes(&self) -> Vec<&RefreshView> {
        let earlier = self.report.previous_refreshes.iter();
        earlier.chain([&self.report.refresh]).collect()
    }

    /// A core's sigma in per cent of the largest.
    fn sigma_share(&self, core: &CoreSummary) -> String {
        let sigmas = self.report.cores.iter().map(|core| core.sigma);
        let largest = sigmas.fold(0.0, f64::max);
        let share = if largest > 0.0 {
            100.0 * core.sigma / largest
        } else {
            0.0
        };
        format!("{share:.1}")
    }

    fn cost_chart(&self, refreshes: &[&RefreshView]) -> String {
        let of_refresh: Vec<Bar> = refreshes
            .iter()
            .map(|view| Bar {
                name: format!("refresh {}", view.refresh),
                number: view.seconds,
                error: 0.0,
                text: format!("{} s", view.seconds.short()),
                is_highlighted: view.refresh == self.report.refresh.refresh,
            })
            .collect();
        let frame = Frame {
            id: "costs-chart",
            title: "Time of each refresh of the plan",
            description: "One bar for each refresh; the table below has the numbers.",
            x: "time (seconds)",
            y: "",
        };
        bars(&frame, &of_refresh, 12.0)
    }
}

/// The number of pages that are not shown; `None` if all are.
fn more(all: u64, shown: usize) -> Option<u64> {
    all.checked_sub(shown as u64).filter(|more| *more > 0)
}
