//! Reports with made-up numbers, for tests of the page.

use seedbank::report::{
    Budget, BudgetLine, ChangedSeed, Changes, Claim, CoreLine, Cost, Coverage, CoveragePoint,
    Crawl, CrawlDepth, Distances, Mean, MethodCurve, Parameter, Reason, Report, SeedLine,
    SiteShare, Web,
};

/// A URL of somebody who wants to be more than text.
pub const HOSTILE: &str =
    "http://x.example/\"><script>alert(1)</script><img src=http://t.example/p onerror=alert(1)>";

fn mean(mean: f64, error: f64) -> Mean {
    Mean { mean, error }
}

fn shares(core: u32, name: &str, count: u32) -> Vec<SiteShare> {
    let share = |at: u32| SiteShare {
        site: format!("{name}{core}-{at}.example"),
        pages: u64::from(count - at),
    };
    (0..count).map(share).collect()
}

/// A report with `count` cores, with everything in it.
pub fn of_cores(count: u32) -> Report {
    let seed = |rank: u32| format!("http://hub{rank}.example/links/index.php?id={}", rank * 37);
    let cores = (1..=count).map(|rank| CoreLine {
        rank,
        sigma: 90.0 / f64::from(rank).sqrt(),
        density: 100.0,
        hubs: 348 / u64::from(rank) + 2,
        authorities: 20 + u64::from(rank % 7),
        hub_sites: shares(rank, "from", 2),
        authority_sites: shares(rank, "to", 5),
        best_authorities: vec![format!("http://to{rank}-0.example/")],
        seed: seed(rank),
    });
    let seeds = (1..=count).map(|rank| SeedLine {
        rank,
        url: seed(rank),
        site: format!("hub{rank}.example"),
        reason: Reason::Core {
            core: rank,
            hub_score: 0.05,
        },
        kept: Some(rank % 5 != 0),
        dead: None,
    });
    let distance = |from: u32, to: u32| match (from * 7 + to * 11) % 9 {
        _ if from == to => Some(0),
        8 => None,
        links => Some(links + 2),
    };
    Report {
        bank: "bank".to_owned(),
        plan: "default".to_owned(),
        method: "cores".to_owned(),
        parameters: vec![Parameter {
            name: "seeds".to_owned(),
            value: count.to_string(),
        }],
        refresh: 2,
        at: 1_795_060_800,
        batch: 3,
        bank_batch: 3,
        certified: true,
        doubt: None,
        web: Web {
            sites: 4321,
            crawled: 20_512,
            known: 123_456,
            gone: 83,
            intra_links: 371_000,
            inter_links: 81_000,
        },
        seeds: seeds.collect(),
        cores: cores.collect(),
        crawl: Some(crawl()),
        distances: Some(Distances {
            matrix: (0..count)
                .map(|from| (0..count).map(|to| distance(from, to)).collect())
                .collect(),
            mean: Some(5.4),
            neighbours: Some(5.9),
            unreachable: 44,
            average: Some(mean(5.1, 0.04)),
        }),
        coverage: Some(coverage()),
        budget: Some(budget()),
        left_out: Vec::new(),
        claims: vec![
            Claim {
                holds: true,
                text: "The crawl from the seeds finds more pages than random at every depth from 1 to 5."
                    .to_owned(),
            },
            Claim {
                holds: false,
                text: "Pages at depths 2 and 3 have no higher mean PageRank than from random pages."
                    .to_owned(),
            },
        ],
        changes: Some(Changes {
            refresh: 1,
            batch: 1,
            other_parameters: false,
            gained: [5, 10].map(|at| changed(&seed(at))).to_vec(),
            lost: vec![changed("http://old.example/")],
            kept: vec![seed(1)],
        }),
        costs: (1..=2)
            .map(|refresh| Cost {
                refresh,
                at: 1_795_060_800,
                batch: refresh,
                seeds: count,
                seconds: 0.63 / f64::from(refresh),
                link_visits: 18_172_326,
                page_visits: 0,
                cold: refresh == 1,
                certified: true,
            })
            .collect(),
    }
}

fn crawl() -> Crawl {
    let depth = |(depth, reached, random): (u32, u64, f64)| CrawlDepth {
        depth,
        reached,
        reached_random: mean(random, random / 12.0),
        pagerank: reached as f64 / 1_200.0,
        pagerank_random: mean(random / 1_400.0, 1.0),
        rank: Some(9.0 / f64::from(depth + 1)),
        rank_random: Some(mean(4.0 / f64::from(depth + 1), 0.4)),
        spam: Some(1.5),
        spam_random: Some(mean(3.2, 0.3)),
        value: reached as f64 * 1.4,
        value_random: mean(random * 1.2, random / 10.0),
    };
    let steps = [
        (0, 20, 20.0),
        (1, 640, 300.0),
        (2, 9_400, 4_100.0),
        (3, 41_000, 27_500.0),
        (4, 80_000, 71_000.0),
        (5, 98_000, 97_500.0),
    ];
    Crawl {
        seeds: 20,
        dead: 0,
        draws: 20,
        web: 143_968,
        depths: steps.into_iter().map(depth).collect(),
    }
}

fn coverage() -> Coverage {
    let names = [
        ("random", None, 0.0),
        ("pagerank", None, -6.0),
        ("out-degree", None, 9.0),
        ("max-out", None, 11.0),
        ("max-weight", Some(2), 47.0),
        ("max-scc", Some(2), 38.0),
        ("root-scc", Some(2), 45.0),
        ("greedy", Some(5), 49.0),
    ];
    let curves = |points: u32, by_seeds: bool| {
        let curve = |(method, depth, most): (&str, Option<u32>, f64)| MethodCurve {
            method: method.to_owned(),
            depth,
            points: (1..=points)
                .map(|at| {
                    let base = 50.0 + 3.0 * f64::from(at);
                    let more = (method != "random")
                        .then(|| mean(most * (1.2 - 0.08 * f64::from(at)), 3.1));
                    CoveragePoint {
                        per_site: if by_seeds { at } else { 5 },
                        hops: if by_seeds { 5 } else { at },
                        pages: mean(base, 2.0),
                        value: mean(base, 2.5),
                        more_pages: more,
                        more_value: more,
                    }
                })
                .collect(),
        };
        names.into_iter().map(curve).collect()
    };
    Coverage {
        sites: 120,
        sites_all: 356,
        min_pages: 10,
        hops: 5,
        per_site: 5,
        draws: 10,
        by_seeds: curves(10, true),
        by_hops: curves(5, false),
    }
}

/// A report of a cover plan.
pub fn of_cover(count: u32) -> Report {
    let mut report = of_cores(0);
    "sites".clone_into(&mut report.plan);
    "max-weight".clone_into(&mut report.method);
    report.distances = None;
    report.changes = None;
    report.seeds = (1..=count)
        .map(|rank| SeedLine {
            rank,
            url: format!("https://host{rank}.example/p{rank}"),
            site: format!("host{rank}.example"),
            reason: Reason::Cover {
                gain: Some(1_139.697_349 / f64::from(rank)),
                covered_pages: 417 / u64::from(rank) + 1,
                covered_value: 1_510.130_593 / f64::from(rank),
                pick: 1,
                since: 1,
            },
            kept: None,
            dead: None,
        })
        .collect();
    report
}

/// A report whose every text is hostile.
pub fn hostile() -> Report {
    let mut report = of_cores(3);
    HOSTILE.clone_into(&mut report.bank);
    HOSTILE.clone_into(&mut report.plan);
    report.certified = false;
    report.doubt = Some(HOSTILE.to_owned());
    for seed in &mut report.seeds {
        HOSTILE.clone_into(&mut seed.url);
        HOSTILE.clone_into(&mut seed.site);
    }
    "javascript:alert(1)".clone_into(&mut report.seeds[1].url);
    for core in &mut report.cores {
        HOSTILE.clone_into(&mut core.seed);
        for share in core.hub_sites.iter_mut().chain(&mut core.authority_sites) {
            HOSTILE.clone_into(&mut share.site);
        }
    }
    for claim in &mut report.claims {
        HOSTILE.clone_into(&mut claim.text);
    }
    if let Some(changes) = &mut report.changes {
        changes.gained = [HOSTILE, "data:text/html,x"].map(changed).to_vec();
        for seed in changes.gained.iter_mut().chain(&mut changes.lost) {
            HOSTILE.clone_into(&mut seed.because);
            seed.successor = Some(HOSTILE.to_owned());
        }
    }
    if let Some(budget) = &mut report.budget {
        HOSTILE.clone_into(&mut budget.lists[1].name);
    }
    if let Some(coverage) = &mut report.coverage {
        for curve in coverage.by_seeds.iter_mut().chain(&mut coverage.by_hops) {
            HOSTILE.clone_into(&mut curve.method);
        }
    }
    HOSTILE.clone_into(&mut report.parameters[0].value);
    report
}

fn changed(url: &str) -> ChangedSeed {
    ChangedSeed {
        url: url.to_owned(),
        because: "the page is gone".to_owned(),
        batch: Some(2),
        successor: Some("http://next.example/".to_owned()),
    }
}

fn budget() -> Budget {
    let names = ["refresh 2 of plan default", "refresh 3 of plan sites"];
    Budget {
        pages: 7_132,
        lists: names.map(spent).to_vec(),
    }
}

fn spent(name: &str) -> BudgetLine {
    BudgetLine {
        name: name.to_owned(),
        pages: 7_132,
        value: 22_870.6,
        clicks: 222_224,
        spam: 45,
        pagerank: 9.645,
    }
}
