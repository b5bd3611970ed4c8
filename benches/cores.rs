//! Cost of cores: runs from scratch, refreshes, and the solver.
//!
//! `cargo bench --bench cores [-- --pages N] [-- --seeds N] [-- --classic N] [-- --part
//! cold,within,solver,refresh,growth]`. Link visits do not depend on the machine; time does, so it is
//! given as a ratio within one run.
//!
//! * `cold`: `converged` from scratch compared with the paper's procedure, on the generated crawl and on
//!   the real graphs in `../shared/data` (or `$SEEDBANK_DATA/data`) if they exist. Times are processor
//!   times for each core after the first, in a run that is repeated until it has taken a second (Linux
//!   counts hundredths). The *yardstick* is the procedure as this project first ran it, on merged links,
//!   without extraction, for the first few cores of `classic`, whose sigmas it must reproduce. Link visits
//!   are entries times vectors; *products* are entries. The visits of `classic` are extrapolated from a few
//!   cores, slightly too high because the remaining graph shrinks. *120 x links* is what the published
//!   procedure reads.
//! * `within`: the same within 1 and 5 % of sigma; then refreshes of a bank with the generated crawl after
//!   days with different shares of changed pages, compared with exact cold runs on the same state, loading
//!   and storing included.
//! * `refresh`: refreshes after deltas of 0.01, 0.1, 1 and 10 % of the pages, compared with cold runs on the
//!   same state: on the generated crawl, most of which is connected, and on a web of many disconnected
//!   communities. Fails if the seeds differ.
//! * `growth`: the same delta on a bank twice as large.
//! * `solver`: link visits of the first ten steps, compared with power iteration from the uniform vector to
//!   the same residual. Power iteration proves nothing and is given the region.
#![allow(
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    reason = "a bench may stop where something is wrong"
)]

mod power;
mod webs;
mod yardstick;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use power::{MOST, power};
use seedbank::engine::{PlanOptions, RefreshReport};
use seedbank::synth::SynthOptions;
use seedbank::watch::Unwatched;
use seedbank_algorithms::cores::{CoreParams, Hits, Selection, select_in_graph};
use seedbank_algorithms::graph::{HubGraph, Remaining, WeakComponents};
use seedbank_algorithms::rank::{Converged, Next, Ranker};
use webs::{Communities, Place};

/// Number of passes over the links that `classic` makes for a core.
const PASSES: f64 = 120.0;
/// Number of steps compared with power iteration.
const STEPS: u32 = 10;

fn argument(name: &str) -> Option<String> {
    std::env::args().skip_while(|a| a != name).nth(1)
}

fn number(name: &str, default: u32) -> u32 {
    argument(name).map_or(default, |text| text.parse().unwrap())
}

fn millions(visits: u64) -> f64 {
    visits as f64 / 1e6
}

/// The crawl of most parts.
fn crawl(pages: u32) -> SynthOptions {
    SynthOptions {
        rng_seed: 1,
        days: 0,
        ..SynthOptions::new(u64::from(pages))
    }
}

/// Generates day 0 of a crawl.
fn filled(crawl: &SynthOptions) -> Place {
    let place = Place::new();
    place.day(crawl, 0, "");
    place
}

/// Returns the available real graphs, and the generated crawl.
fn graphs(pages: u32) -> Vec<(&'static str, HubGraph)> {
    let shared = std::env::var_os("SEEDBANK_DATA").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"),
        PathBuf::from,
    );
    let mut found = Vec::new();
    for name in ["ku-2017-webir", "friendlinks", "generated"] {
        let Ok(files) = std::fs::read_dir(shared.join("data").join(name)) else {
            println!("{name} skipped: it is not in {}", shared.display());
            continue;
        };
        let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
        files.sort();
        let place = Place::new();
        for file in files {
            place.ingest(&file);
        }
        found.push((name, place.graph()));
    }
    found.push(("crawl", filled(&crawl(pages)).graph()));
    found
}

/// Selects cores by the default method.
fn selected(graph: &HubGraph, params: &CoreParams) -> Selection {
    select_in_graph(graph, params, &[], &Unwatched).unwrap()
}

/// Selects cores by one variant of HITS.
fn by(hits: Hits, seeds: u32) -> CoreParams {
    CoreParams {
        seeds,
        hits,
        ..CoreParams::default()
    }
}

/// Returns the processor time of this process, in seconds.
fn processor() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let (_, fields) = stat.rsplit_once(')').unwrap();
    let mut fields = fields.split_whitespace().skip(11);
    let mut hundredths = || fields.next().unwrap().parse::<f64>().unwrap();
    (hundredths() + hundredths()) / 100.0
}

/// Selects cores repeatedly; returns them and the processor time per core after the first, in
/// milliseconds.
fn timed(graph: &HubGraph, params: &CoreParams) -> (Selection, f64) {
    let one = CoreParams {
        seeds: 1,
        ..*params
    };
    let (mut runs, mut seconds) = (0.0, 0.0);
    loop {
        let begun = processor();
        selected(graph, &one);
        let first = processor();
        let selection = selected(graph, params);
        seconds += processor() - first - (first - begun);
        runs += 1.0;
        if seconds > 1.0 {
            let cores = selection.cores.len() as f64 - 1.0;
            return (selection, 1000.0 * seconds / runs / cores);
        }
    }
}

/// Returns the first cores of `classic`, and the processor time of the yardstick per core after the first, in
/// milliseconds.
fn yardstick(graph: &HubGraph, few: u32) -> (Selection, f64) {
    let classic = selected(graph, &by(Hits::Classic, few));
    let (mut runs, mut seconds) = (0.0, 0.0);
    while seconds < 1.0 {
        let mut left = Remaining::all(graph);
        for (core, rank) in classic.cores.iter().zip(0..) {
            let begun = processor();
            let sigma = yardstick::sigma(graph, &left, CoreParams::default().iterations);
            assert!(
                (sigma - core.sigma).abs() < 1e-9 * sigma,
                "{sigma} {}",
                core.sigma
            );
            if rank > 0 {
                seconds += processor() - begun;
            }
            left.remove(graph, core.hubs.iter().chain(&core.authorities).copied());
        }
        runs += 1.0;
    }
    let cores = classic.cores.len() as f64 - 1.0;
    (classic, 1000.0 * seconds / runs / cores)
}

fn cold(graphs: &[(&str, HubGraph)], seeds: u32, few: u32) {
    println!(
        "\ncold: {seeds} cores from scratch, beside the yardstick ({few} cores)\n\
         web                 links   merged  cores  certified  million visits  products  % of 120 x \
         links  % of classic  ms a core  yardstick  ratio"
    );
    for (name, graph) in graphs {
        let (found, ours) = timed(graph, &by(Hits::Converged, seeds));
        let (classic, theirs) = yardstick(graph, few);
        let cores = found.cores.len();
        let scale = cores as f64 / classic.cores.len() as f64;
        let visits = found.reads.visits as f64;
        let links = graph.links();
        println!(
            "{name:14} {links:10} {:8} {cores:6}  {:>9} {:15.2} {:9.2} {:17.2} {:13.2} {ours:10.2} \
             {theirs:10.2} {:6.1}",
            graph.rows().entries().len(),
            if found.certified { "all" } else { "NOT ALL" },
            visits / 1e6,
            millions(found.reads.products),
            100.0 * visits / (PASSES * links as f64 * cores as f64),
            100.0 * visits / (classic.reads.visits as f64 * scale),
            theirs / ours,
        );
    }
}

/// A refresh, and a cold run on the same state.
fn within(graphs: &[(&str, HubGraph)], pages: u32, seeds: u32, few: u32) {
    println!(
        "\nwithin: {seeds} cores from scratch, milliseconds a core, beside the yardstick ({few} cores)\n\
         web            percent  certified  ms a core  yardstick  ratio  exact  ratio"
    );
    for (name, graph) in graphs {
        let (_, theirs) = yardstick(graph, few);
        let (_, exact) = timed(graph, &by(Hits::Converged, seeds));
        for percent in ["1", "5"] {
            let params = CoreParams {
                within: percent.parse().unwrap(),
                ..by(Hits::Converged, seeds)
            };
            let (found, ours) = timed(graph, &params);
            println!(
                "{name:14} {percent:>7}  {:>9} {ours:10.2} {theirs:10.2} {:6.1} {exact:6.2} {:6.1}",
                if found.certified { "all" } else { "NOT ALL" },
                theirs / ours,
                exact / ours,
            );
        }
    }
    println!(
        "\nwithin: {seeds} seeds after a day, processor seconds beside exact from scratch\n\
         web            pages changed  percent  kept, computed  seeds kept, exact  seconds  exact   share"
    );
    for share in [0.7, 8.5] {
        let place = filled(&crawl(pages));
        let options = |percent: &str| PlanOptions {
            seeds: Some(seeds),
            within: Some(percent.parse().unwrap()),
            ..PlanOptions::default()
        };
        let plans = ["0", "1", "5"];
        let before = plans.map(|percent| {
            place.refresh_by(&format!("plan{percent}"), options(percent), false);
            place.seeds(&format!("plan{percent}"))
        });
        place.day(&crawl(pages).with_daily_share(share / 100.0), 1, "");
        let mut exact = (0.0, 0);
        for (percent, before) in plans.iter().zip(before) {
            let plan = format!("plan{percent}");
            let begun = processor();
            let report = place.refresh_by(&plan, options(percent), *percent == "0");
            let seconds = processor() - begun;
            let after = place.seeds(&plan);
            let stay = before.iter().filter(|seed| after.contains(seed)).count();
            if *percent == "0" {
                exact = (seconds, stay);
                continue;
            }
            println!(
                "crawl          {share:11} % {percent:>8} {:6} {:9} {stay:11} {:6} {seconds:9.2} {:6.2} {:6.0} %",
                report.view.steps_reused,
                report.view.steps_recomputed,
                exact.1,
                exact.0,
                100.0 * seconds / exact.0,
            );
        }
    }
}

fn again(place: &Place, seeds: u32) -> (RefreshReport, RefreshReport) {
    let again = place.refresh("again", seeds, Hits::Converged, false);
    let cold = place.refresh("cold", seeds, Hits::Converged, true);
    assert!(place.same_seeds("again", "cold"), "{again:?} {cold:?}");
    (again, cold)
}

fn refresh_line(what: &str, records: u64, again: &RefreshReport, cold: &RefreshReport) {
    println!(
        "{what:24} {records:8} {:7} {:8} {:7} of {:5} {:9.4} {:7.4} {:8.2} {:6.2} {:8.3} {:6.3} {:6.2}",
        again.view.steps_reused,
        again.view.steps_recomputed,
        again.components_verified,
        again.components,
        millions(again.view.link_visits),
        millions(cold.view.link_visits),
        again.bytes_read as f64 / 1_048_576.0,
        cold.bytes_read as f64 / 1_048_576.0,
        again.view.seconds,
        cold.view.seconds,
        again.view.seconds / cold.view.seconds,
    );
}

const REFRESH_HEAD: &str = "web                       records  reused computed   verified \
                            million visits, cold  MiB read, cold  seconds, cold  ratio";

fn refresh(pages: u32, seeds: u32) {
    println!("\nrefresh: {seeds} seeds after deltas, beside from scratch\n{REFRESH_HEAD}");
    let shares = [0.01, 0.1, 1.0, 10.0];
    let place = filled(&crawl(pages));
    again(&place, seeds);
    for (day, share) in (1..).zip(shares) {
        let delta = place.day(&crawl(pages).with_daily_share(share / 100.0), day, "");
        let (again, cold) = again(&place, seeds);
        refresh_line(
            &format!("crawl {share} %"),
            delta.read.records,
            &again,
            &cold,
        );
    }
    let web = Communities::with_pages(pages);
    let place = Place::new();
    place.delta(|out| web.write(out));
    again(&place, seeds);
    for (version, share) in (1..).zip(shares) {
        let changed = (f64::from(web.pages()) * share / 100.0).ceil();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a tenth of the pages"
        )]
        let changed = changed as u32;
        let delta = place.delta(|out| web.change(changed, version, out));
        let (again, cold) = again(&place, seeds);
        refresh_line(
            &format!("communities {share} %"),
            delta.read.records,
            &again,
            &cold,
        );
    }
}

/// A bank, and a function that applies a delta to it.
type Growing<'a> = (&'a Place, &'a dyn Fn(&Place) -> u64);

fn compare(name: &str, small: Growing<'_>, large: Growing<'_>, seeds: u32) {
    let [small, large] = [(small, "small"), (large, "twice")].map(|((place, delta), size)| {
        again(place, seeds);
        let records = delta(place);
        let (again, cold) = again(place, seeds);
        refresh_line(&format!("{name}, {size}"), records, &again, &cold);
        again
    });
    println!(
        "{:24} {:.2} times the link visits, {:.2} times the bytes read",
        "",
        large.view.link_visits as f64 / small.view.link_visits as f64,
        large.bytes_read as f64 / small.bytes_read as f64
    );
}

fn growth(pages: u32, seeds: u32) {
    println!("\ngrowth: the same delta, 0.1 %, on a bank twice as large\n{REFRESH_HEAD}");
    let [web, twice] = [pages, 2 * pages].map(Communities::with_pages);
    let (small, large) = (Place::new(), Place::new());
    small.delta(|out| web.write(out));
    large.delta(|out| twice.write(out));
    let changed = web.pages().div_ceil(1000);
    let delta = |place: &Place| {
        let delta = place.delta(|out| web.change(changed, 1, out));
        delta.read.records
    };
    compare("communities", (&small, &delta), (&large, &delta), seeds);
    let one = crawl(pages);
    let day = one.clone().with_daily_share(0.001);
    let delta = |place: &Place| place.day(&day, 1, "").read.records;
    let (small, large) = (filled(&one), filled(&one));
    let other = SynthOptions {
        rng_seed: 2,
        ..one.clone()
    };
    large.day(&other, 0, "beside.");
    compare("another beside", (&small, &delta), (&large, &delta), seeds);
    let two = crawl(2 * pages);
    // As many pages, out of twice as many.
    let half = two.clone().with_daily_share(0.0005);
    let of_two = |place: &Place| place.day(&half, 1, "").read.records;
    let (small, large) = (filled(&one), filled(&two));
    compare("one crawl", (&small, &delta), (&large, &of_two), seeds);
}

/// Compares the first steps of the solver with power iteration.
fn solve(name: &str, graph: &HubGraph) {
    let selection = selected(graph, &by(Hits::Converged, STEPS));
    let components = WeakComponents::new(graph, &[]);
    let mut left = Remaining::all(graph);
    let mut ranker = Converged::new(graph, &components, BTreeMap::new());
    let (mut ours, mut theirs, mut unfinished) = (Vec::new(), Vec::new(), 0);
    let mut steps = Vec::new();
    let mut loosest: f64 = 0.0;
    for core in &selection.cores {
        let before = ranker.work().visits;
        let Some(Next::Solved(found)) = ranker.next(graph, &left, &Unwatched).unwrap() else {
            break;
        };
        ours.push(ranker.work().visits - before);
        let power = power(&found);
        theirs.push(power.visits);
        steps.push(power.steps);
        unfinished += u32::from(power.steps == MOST);
        loosest = loosest.max(power.goal);
        let touched = left.remove(graph, core.hubs.iter().chain(&core.authorities).copied());
        ranker.pages_removed(graph, &left, &touched);
    }
    let (ours, theirs): (u64, u64) = (ours.iter().sum(), theirs.iter().sum());
    println!(
        "{name:14} {:5} {:14.2} {:14.2} {:6.1} {:7} to {:6}{} {loosest:9.1e}",
        steps.len(),
        millions(ours),
        millions(theirs),
        theirs as f64 / ours as f64,
        steps.iter().min().unwrap_or(&0),
        steps.iter().max().unwrap_or(&0),
        if unfinished > 0 {
            format!(" ({unfinished} given up)")
        } else {
            String::new()
        },
    );
}

fn solver(graphs: &[(&str, HubGraph)]) {
    println!(
        "\nsolver: the first steps beside power iteration to the same residual\n\
         web            steps million visits   by power  ratio  power steps  worst residual"
    );
    for (name, graph) in graphs {
        solve(name, graph);
    }
}

fn main() {
    let (pages, seeds) = (number("--pages", 20_000), number("--seeds", 100));
    let parts =
        argument("--part").unwrap_or_else(|| "cold,within,solver,refresh,growth".to_owned());
    println!("{pages} pages of the generated crawl");
    let is_asked = |part| parts.split(',').any(|asked| asked == part);
    if is_asked("cold") || is_asked("within") || is_asked("solver") {
        let graphs = graphs(pages);
        if is_asked("cold") {
            cold(&graphs, seeds, number("--classic", 5));
        }
        if is_asked("within") {
            within(&graphs, pages, seeds, number("--classic", 5));
        }
        if is_asked("solver") {
            solver(&graphs);
        }
    }
    if is_asked("refresh") {
        refresh(pages, seeds);
    }
    if is_asked("growth") {
        growth(pages, seeds);
    }
}
