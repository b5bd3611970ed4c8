//! The page as a whole, and what its templates cannot compute themselves.

use std::collections::BTreeSet;

use askama::Template;

use super::bars::{Bar, bars};
use super::chart::Frame;
use super::data::{ChangedSeed, Changes, CoreLine, Cost, Reason, Report, SeedLine};
use super::experiments;
use super::figure::Figure;
use super::judge::{self, Verdict, verdict};
use super::text::{Count, Cut, Measure, put};
use crate::clock::time;

/// The style of every page.
pub(super) const STYLE: &str = include_str!("page.css");

/// The report as a page; `json` is the name of the JSON file beside it.
#[must_use]
pub fn page(report: &Report, json: &str) -> String {
    let title = match report.seeds.len() {
        0 => "No page could be selected to start the next crawl from".to_owned(),
        1 => "The page to start the next crawl from".to_owned(),
        seeds => format!("{} pages to start the next crawl from", seeds.whole()),
    };
    let page = Page {
        title,
        report,
        file: DataFile::beside(json),
        dead: report.seeds.iter().filter(|s| s.dead.is_some()).count(),
        verdict: verdict(report),
        figures: experiments::figures(report),
    };
    let mut out = String::with_capacity(1 << 16);
    // Writing to a String cannot fail, and nothing in the templates does.
    let _ = page.render_into(&mut out);
    // A template's last line end is not part of it.
    out.push('\n');
    out
}

#[derive(Template)]
#[template(path = "page.html", config = "src/report/askama.toml")]
struct Page<'a> {
    title: String,
    report: &'a Report,
    file: DataFile<'a>,
    /// Seeds that can start no crawl any more.
    dead: usize,
    verdict: Verdict<'a>,
    figures: Vec<Figure>,
}

/// The JSON file beside the page.
struct DataFile<'a> {
    name: &'a str,
    /// Where it is from the page, percent-encoded.
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

/// What seeds lead to together.
struct Together {
    sites: usize,
    pages: u64,
    /// What the pages are worth; 0 where seeds are not selected by worth.
    value: f64,
}

impl Page<'_> {
    /// Whether anything was measured, or was to be.
    fn measured(&self) -> bool {
        let report = self.report;
        report.crawl.is_some()
            || report.distances.is_some()
            || report.coverage.is_some()
            || !report.left_out.is_empty()
    }

    /// What the authorities of all cores are.
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

    /// What the seeds of a cover plan cover.
    fn covered(&self) -> Together {
        let seeds = &self.report.seeds;
        let sites: BTreeSet<&str> = seeds.iter().map(|seed| seed.site.as_str()).collect();
        let mut together = Together {
            sites: sites.len(),
            pages: 0,
            value: 0.0,
        };
        for seed in seeds {
            if let Reason::Cover {
                covered_pages,
                covered_value,
                ..
            } = seed.reason
            {
                together.pages += covered_pages;
                together.value += covered_value;
            }
        }
        together
    }

    /// The answer at a glance; `None` where no crawl was measured.
    fn answer_chart(&self) -> Option<String> {
        judge::chart(self.report)
    }

    /// The core of a seed; `None` where it has none that the report tells of.
    fn core_of(&self, seed: &SeedLine) -> Option<&CoreLine> {
        let Reason::Core { core, .. } = seed.reason else {
            return None;
        };
        self.report.cores.iter().find(|line| line.rank == core)
    }

    /// A core's sigma in per cent of the largest.
    fn sigma_share(&self, core: &CoreLine) -> String {
        let sigmas = self.report.cores.iter().map(|core| core.sigma);
        let largest = sigmas.fold(0.0, f64::max);
        let share = if largest > 0.0 {
            100.0 * core.sigma / largest
        } else {
            0.0
        };
        format!("{share:.1}")
    }

    fn cost_chart(&self, costs: &[Cost]) -> String {
        let of_refresh: Vec<Bar> = costs
            .iter()
            .map(|cost| Bar {
                name: format!("refresh {}", cost.refresh),
                number: cost.seconds,
                error: 0.0,
                text: format!("{} s", cost.seconds.short()),
                ours: cost.refresh == self.report.refresh,
            })
            .collect();
        let frame = Frame {
            id: "costs-chart",
            title: "Time of each refresh of the plan",
            description: "One bar for each refresh; the table below has the numbers.",
            x: "time (seconds)",
            y: "",
        };
        bars(&frame, &of_refresh, 82.0, 60.0)
    }
}

impl Changes {
    /// The lists of what changed with their titles.
    fn lists(&self) -> [(&'static str, &[ChangedSeed]); 2] {
        [("Gained", &self.gained), ("Lost", &self.lost)]
    }
}

/// The day of a time.
fn day(at: u64) -> String {
    time(at).chars().take(10).collect()
}
