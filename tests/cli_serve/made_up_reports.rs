//! Reports for tests of the page: each is the report of a small bank, with more seeds and cores, longer texts, or less.

use crate::support::command::{Place, TWO_CORES, record};
use seedbank::engine::evaluate::Estimate;
use seedbank::engine::plan::{CoverMethod, Method, Scope};
use seedbank::engine::query::{Cause, Change, Evidence, SuccessorView};
use seedbank::engine::refresh::Proof;
use seedbank::engine::{Bank, PlanOptions};
use seedbank::report::{Commands, Report, ReportRequest, SiteShare};

/// A URL of somebody who wants to be more than text.
pub const HOSTILE: &str =
    "http://x.example/\"><script>alert(1)</script><img src=http://t.example/p onerror=alert(1)>";

/// The report of a small bank with two cores, one large site, and two refreshes.
fn real() -> Report {
    let place = Place::with_bank();
    let page = |at: u32| format!("http://s.example/{}", at % 12);
    let site = (0..12).map(|at| record(&page(at), &[&page(at + 1)]));
    let other = r#"{"url":"http://z.example/","outlinks":["http://s.example/0"],"spam":true}"#;
    let crawl = TWO_CORES.to_owned() + &site.collect::<String>() + other + "\n";
    let gone = "{\"url\": \"http://h1.example/\", \"gone\": true}\n";
    for (day, text) in [("day0.jsonl", &*crawl), ("day1.jsonl", gone)] {
        place.write(day, text);
        place.run(&["ingest", "bank", day]).done();
        place
            .run(&["refresh", "bank", "--method", "cores", "--within", "0"])
            .done();
    }
    let request = ReportRequest {
        evaluate: true,
        draws: 2,
        ..ReportRequest::default()
    };
    let bank = Bank::at(place.path("bank"));
    bank.report(&request).unwrap()
}

fn mean(mean: f64, error: f64) -> Estimate {
    Estimate {
        mean,
        standard_error: Some(error),
    }
}

fn shares(core: u32, name: &str, count: u32) -> Vec<SiteShare> {
    let share = |at: u32| SiteShare {
        site: format!("{name}{core}-{at}.example"),
        pages: u64::from(count - at),
    };
    (0..count).map(share).collect()
}

fn seed_url(rank: u32) -> String {
    format!("http://hub{rank}.example/links/index.php?id={}", rank * 37)
}

/// A report of so many cores, with everything in it.
pub fn of_cores(count: u32) -> Report {
    let mut report = real();
    let (core, seed) = (report.cores[0].clone(), report.seeds[0].clone());
    report.cores.clear();
    report.seeds.clear();
    for rank in 1..=count {
        let (mut core, mut seed) = (core.clone(), seed.clone());
        core.rank = rank;
        core.sigma = 90.0 / f64::from(rank).sqrt();
        core.hubs = 348 / u64::from(rank) + 2;
        core.authorities = 20 + u64::from(rank % 7);
        core.hub_sites = shares(rank, "from", 2);
        core.authority_sites = shares(rank, "to", 5);
        core.seed = seed_url(rank);
        seed.seed.rank = rank;
        seed.seed.url = seed_url(rank);
        seed.seed.site = format!("hub{rank}.example");
        seed.seed.evidence = Evidence::Core {
            core: rank,
            sigma: core.sigma,
            hub_score: 0.05,
        };
        seed.in_previous = Some(rank % 5 != 0);
        report.cores.push(core);
        report.seeds.push(seed);
    }
    let refresh = &mut report.refresh;
    refresh.seeds = count;
    refresh.parameters = PlanOptions {
        seeds: Some(count),
        ..PlanOptions::default()
    };
    distances(&mut report, count);
    budget(&mut report);
    changes(&mut report);
    report
}

fn distances(report: &mut Report, count: u32) {
    let distance = |from: u32, to: u32| match (from * 7 + to * 11) % 9 {
        _ if from == to => Some(0),
        8 => None,
        links => Some(links + 2),
    };
    let found = report.distances.as_mut().unwrap();
    found.distances = (0..count)
        .map(|from| (0..count).map(|to| distance(from, to)).collect())
        .collect();
    found.claims.clear();
}

fn budget(report: &mut Report) {
    let found = report.budget.as_mut().unwrap();
    found.budget = 7_132;
    let like = found.lists[0].clone();
    let spent = |name: &str| {
        let mut row = like.clone();
        name.clone_into(&mut row.list.name);
        (row.pages, row.clicks, row.spam) = (7_132, 222_224, 45);
        (row.value, row.pagerank) = (22_870.6, 0.096_45);
        row
    };
    found.lists = ["refresh 2 of plan default", "refresh 3 of plan sites"]
        .map(spent)
        .to_vec();
}

fn changes(report: &mut Report) {
    let found = report.changes.as_mut().unwrap();
    let like = found.seeds[0].clone();
    let changed = |(change, url): (Change, String)| {
        let mut seed = like.clone();
        (seed.change, seed.url) = (change, url);
        (seed.cause, seed.batch) = (Some(Cause::Gone), Some(2));
        seed.successor = Some(SuccessorView {
            url: "http://next.example/".to_owned(),
            same_core: true,
            similarity: 1.0,
        });
        seed
    };
    let seeds = [
        (Change::Gained, seed_url(5)),
        (Change::Gained, seed_url(10)),
        (Change::Lost, "http://old.example/".to_owned()),
    ];
    found.seeds = seeds.map(changed).to_vec();
    let counts = &mut found.summary;
    (counts.gained, counts.lost, counts.kept) = (2, 1, 1);
}

/// A report of a cover plan.
pub fn of_cover(count: u32) -> Report {
    let mut report = of_cores(1);
    let like = report.seeds[0].clone();
    report.method = Method::Cover(CoverMethod::MaxWeight);
    "sites".clone_into(&mut report.refresh.plan);
    (report.distances, report.changes) = (None, None);
    report.turnover.clear();
    report.cores.clear();
    let seed = |rank| {
        let mut seed = like.clone();
        seed.seed.rank = rank;
        seed.seed.url = format!("https://host{rank}.example/p{rank}");
        seed.seed.site = format!("host{rank}.example");
        seed.seed.evidence = Evidence::Cover {
            gain: Some(1_139.697_349 / f64::from(rank)),
            covered_pages: 417 / u64::from(rank) + 1,
            covered_value: 1_510.130_593 / f64::from(rank),
            pick: 1,
            since: 1,
            seats: None,
        };
        seed.in_previous = None;
        seed
    };
    report.seeds = (1..=count).map(seed).collect();
    report
}

/// A report of a plan over the whole web.
pub fn of_web(count: u32) -> Report {
    let mut report = of_cover(count);
    report.method = Method::Cover(CoverMethod::Greedy);
    "web".clone_into(&mut report.refresh.plan);
    report.refresh.parameters.scope = Some(Scope::Web);
    report
}

/// A report whose charts have long names, long numbers, and errors beyond the whole web.
pub fn of_long_texts() -> Report {
    let mut report = of_cores(20);
    (report.refresh.refresh, report.refresh.seconds) = (1_112, 0.038_2);
    let of_number = |number| {
        let mut view = report.refresh.clone();
        (view.refresh, view.link_visits) = (number, 1_118_172_326);
        view
    };
    report.previous_refreshes = (1_101..1_112).map(of_number).collect();
    let like = report.turnover[0];
    let turnover = |number| {
        let mut found = like;
        (found.refresh, found.previous) = (number, number - 1);
        (found.kept, found.gained, found.lost) = (12_345, 120, 120);
        found
    };
    report.turnover = (1_101..=1_112).map(turnover).collect();
    let crawl = report.crawl.as_mut().unwrap();
    let last = crawl.depths.last_mut().unwrap();
    last.random.pagerank = mean(0.3, 0.3);
    last.random.pages = mean(143_000.0, 60_000.0);
    for list in &mut crawl.fetches.as_mut().unwrap().lists {
        if list.list == "common-crawl" {
            for found in [Some(&mut list.known), list.held_out.as_mut()] {
                found.unwrap().all.value = mean(1_234_567.0, 654_321.0);
            }
        }
    }
    let lists = &mut report.budget.as_mut().unwrap().lists;
    "refresh 1,111 of plan everything-of-last-week".clone_into(&mut lists[1].list.name);
    report
}

/// A report of a plan without seeds, of which nothing was measured.
pub fn of_nothing() -> Report {
    let mut report = of_cores(0);
    report.previous_refreshes.clear();
    report.turnover.clear();
    report.changes = None;
    unmeasured(report)
}

/// The same report without the experiments.
pub fn unmeasured(mut report: Report) -> Report {
    (report.crawl, report.distances) = (None, None);
    (report.coverage, report.budget) = (None, None);
    report
}

/// A report whose every text is hostile, with enough seeds to be searched.
pub fn hostile() -> Report {
    let mut report = of_cores(12);
    HOSTILE.clone_into(&mut report.bank);
    HOSTILE.clone_into(&mut report.refresh.plan);
    report.refresh.proof = Proof::NotProved;
    report.refresh.uncertified_reason = Some(HOSTILE.to_owned());
    report.skipped.push(HOSTILE.to_owned());
    for seed in &mut report.seeds {
        HOSTILE.clone_into(&mut seed.seed.url);
        HOSTILE.clone_into(&mut seed.seed.site);
    }
    "javascript:alert(1)".clone_into(&mut report.seeds[1].seed.url);
    for core in &mut report.cores {
        HOSTILE.clone_into(&mut core.seed);
        let members = core.members.iter_mut();
        let members = members.flat_map(|of| of.hubs.iter_mut().chain(&mut of.authorities));
        members.for_each(|page| HOSTILE.clone_into(&mut page.url));
        for share in core.hub_sites.iter_mut().chain(&mut core.authority_sites) {
            HOSTILE.clone_into(&mut share.site);
        }
    }
    for claim in report.crawl.iter_mut().flat_map(|crawl| &mut crawl.claims) {
        HOSTILE.clone_into(&mut claim.text);
    }
    for seed in report.changes.iter_mut().flat_map(|diff| &mut diff.seeds) {
        HOSTILE.clone_into(&mut seed.url);
        let successor = seed.successor.iter_mut();
        successor.for_each(|successor| HOSTILE.clone_into(&mut successor.url));
    }
    if let Some(changes) = &mut report.changes {
        "data:text/html,x".clone_into(&mut changes.seeds[1].url);
    }
    if let Some(budget) = &mut report.budget {
        HOSTILE.clone_into(&mut budget.lists[1].list.name);
    }
    report
}

/// One of each kind, by name.
pub fn of_every_kind() -> Vec<(&'static str, Report)> {
    vec![
        ("cores", of_cores(20)),
        ("many", of_cores(60)),
        ("cover", of_cover(12)),
        ("web", of_web(12)),
        ("long", of_long_texts()),
        ("hostile", hostile()),
    ]
}

/// What a caller may say of its commands, each of them this.
pub fn commands(all: &str) -> Commands {
    let command = || Some(all.to_owned());
    Commands {
        seeds: command(),
        cores: command(),
        refresh: command(),
        diff: command(),
        evaluate: command(),
        parameter: all.to_owned(),
    }
}
