//! Scores of pages, compared with a plain recount and with the output of other commands.

use std::collections::BTreeMap;

use seedbank::engine::plan::{CoverMethod, Method};
use seedbank::engine::query::{PageLimits, Why};
use seedbank::engine::scores::{PageScore, ScoresRequest};
use seedbank::engine::{Bank, EngineError, PlanOptions, RefreshRequest, Which};
use seedbank::render::{ScoreFormat, ScoreWriter, SeedFormat, write_seeds};
use seedbank::synth::{SynthOptions, day_text};

use super::judge::Graph;
use crate::support::banks::TestBank;
use crate::support::banks::seeds_of;
use crate::support::histories::for_each_history;
use crate::support::over_web::over_web;
use crate::support::plans::exact_cores;

fn scores(bank: &Bank, plan: Option<&str>) -> Vec<PageScore> {
    let request = ScoresRequest {
        plan: plan.map(ToOwned::to_owned),
        rng_seed: 0,
    };
    let mut scores = Vec::new();
    let each = |score| -> Result<(), EngineError> {
        scores.push(score);
        Ok(())
    };
    let report = bank.scores(&request, each).unwrap();
    assert!(report.harmonic_is_exact);
    assert_eq!(report.pages, scores.len() as u64);
    scores
}

/// PageRank and harmonic centrality by their definitions.
fn recounted(graph: &Graph) -> BTreeMap<&str, (f64, f64)> {
    let pages: Vec<&str> = graph.nodes.iter().map(String::as_str).collect();
    let number = |url: &str| pages.binary_search(&url).unwrap();
    let mut to: Vec<Vec<usize>> = vec![Vec::new(); pages.len()];
    for (from, target) in graph.links.keys() {
        to[number(from)].push(number(target));
    }
    let count = pages.len() as f64;
    let mut rank = vec![1.0 / count; pages.len()];
    for _ in 0..300 {
        let dangling: f64 = (0..pages.len())
            .filter(|&at| to[at].is_empty())
            .map(|at| rank[at])
            .sum();
        let mut next = vec![(0.15 + 0.85 * dangling) / count; pages.len()];
        for (at, targets) in to.iter().enumerate() {
            for target in targets {
                next[*target] += 0.85 * rank[at] / targets.len() as f64;
            }
        }
        rank = next;
    }
    let mut harmonic = vec![0.0; pages.len()];
    for from in 0..pages.len() {
        let mut distance = vec![None; pages.len()];
        distance[from] = Some(0_u32);
        let mut level = vec![from];
        for hops in 1.. {
            let mut next = Vec::new();
            for target in level.iter().flat_map(|at| &to[*at]) {
                if distance[*target].is_none() {
                    distance[*target] = Some(hops);
                    harmonic[*target] += 1.0 / f64::from(hops);
                    next.push(*target);
                }
            }
            if next.is_empty() {
                break;
            }
            level = next;
        }
    }
    let scores = rank.into_iter().zip(harmonic);
    pages.into_iter().zip(scores).collect()
}

#[test]
fn degrees_and_centralities_are_those_of_a_recount() {
    for_each_history(24, 0, |bank, _| {
        let graph = Graph::of_pages(bank);
        let recounted = recounted(&graph);
        let found = scores(bank, None);
        assert_eq!(found.len(), graph.nodes.len());
        for score in &found {
            let links = graph.links.keys();
            let inward = links.clone().filter(|(_, to)| *to == score.url).count();
            let outward = links.filter(|(from, _)| *from == score.url).count();
            assert_eq!(
                (score.in_degree, score.out_degree),
                (inward as u64, outward as u64)
            );
            let (rank, harmonic) = recounted[&*score.url];
            assert!((score.pagerank - rank).abs() < 1e-10, "{score:?}: {rank}");
            assert!(
                (score.harmonic - harmonic).abs() < 1e-8,
                "{score:?}: {harmonic}"
            );
            assert_eq!(
                (score.seed_rank, score.core, &score.covered_by),
                (None, None, &None)
            );
        }
    });
}

/// A crawl with plans of every kind.
fn crawled() -> (TestBank, Vec<&'static str>) {
    let bank = TestBank::new();
    bank.delta(&day_text(&SynthOptions::new(400), 0).unwrap());
    let cover = PlanOptions {
        method: Some(Method::Cover(CoverMethod::MaxWeight)),
        per_site: Some(2),
        ..PlanOptions::default()
    };
    let cores = PlanOptions {
        seeds: Some(8),
        ..PlanOptions::default()
    };
    let web = over_web(CoverMethod::Greedy, 8);
    let mut names = Vec::new();
    for (name, options) in [("cores", cores), ("cover", cover), ("web", web)] {
        let request = RefreshRequest {
            plan: Some(name.to_owned()),
            options: exact_cores(options),
            ..RefreshRequest::default()
        };
        bank.bank.refresh(&request).unwrap();
        names.push(name);
    }
    (bank, names)
}

#[test]
fn what_a_plan_knows_is_what_explain_says() {
    let (bank, plans) = crawled();
    let bank = &bank.bank.pinned().unwrap();
    for plan in plans {
        let which = Which {
            plan: Some(plan.to_owned()),
            refresh: None,
        };
        let seeds = seeds_of(bank, &which);
        let ranks: BTreeMap<&str, u32> = seeds.iter().map(|seed| (&*seed.url, seed.rank)).collect();
        let (mut in_cores, mut covered) = (0, 0);
        let found = scores(bank, Some(plan));
        for (at, score) in found.iter().enumerate() {
            assert_eq!(score.seed_rank, ranks.get(&*score.url).copied(), "{plan}");
            // Pages are asked for one by one, which takes a while.
            if at % 11 > 0 && score.seed_rank.is_none() && score.core.is_none() {
                continue;
            }
            let facts = bank.page(&score.url, PageLimits::default()).unwrap();
            assert_eq!(facts.state, score.state);
            assert_eq!(facts.inlinks.pages, score.in_degree);
            assert_eq!(facts.outlinks.pages, score.out_degree);
            let of_plan = facts.plans.iter().find(|of| of.run.plan == plan).unwrap();
            let told = (score.covered_by.as_deref(), score.covered_at);
            match &of_plan.why {
                Why::CoreSeed(_) | Why::CoreMember(_) => {
                    in_cores += 1;
                    assert!(score.core.is_some(), "{score:?}");
                    assert!(score.hub_score.is_some() || score.authority_score.is_some());
                }
                Why::Covered { by, hop } | Why::Reached { by, hop } => {
                    covered += 1;
                    assert_eq!(told, (Some(&*by.url), Some(*hop)));
                }
                Why::CoverSeed(seed) => match &seed.covered_by {
                    Some((by, hop)) => assert_eq!(told, (Some(&*by.url), Some(*hop))),
                    None => assert_eq!(told, (Some(&*score.url), Some(0))),
                },
                Why::WebSeed(seed) => match &seed.reached_by {
                    Some((by, hop)) => assert_eq!(told, (Some(&*by.url), Some(*hop))),
                    None => assert_eq!(told, (Some(&*score.url), Some(0))),
                },
                _ => assert_eq!((told, score.core), ((None, None), None), "{plan} {score:?}"),
            }
        }
        assert!(in_cores > 0 || covered > 2, "{plan}: {in_cores}, {covered}");
        // The seeds of cores have the score that the list tells.
        for seed in &seeds {
            if let seedbank::engine::query::Evidence::Core {
                core, hub_score, ..
            } = seed.evidence
            {
                let score = found.iter().find(|score| score.url == seed.url).unwrap();
                assert_eq!((score.core, score.hub_score), (Some(core), Some(hub_score)));
            }
        }
    }
}

#[test]
fn all_formats_say_the_same() {
    let (bank, _) = crawled();
    let found = scores(&bank.bank, Some("cover"));
    let written = |format| {
        let mut writer = ScoreWriter::new(Vec::new(), format).unwrap();
        for score in &found {
            writer.page(score).unwrap();
        }
        writer.finish().unwrap()
    };
    let lines = String::from_utf8(written(ScoreFormat::Jsonl)).unwrap();
    let read: Vec<PageScore> = lines
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    assert_eq!(read, found);
    let text = written(ScoreFormat::Csv);
    let mut csv = csv::Reader::from_reader(&*text);
    let names = csv.headers().unwrap().clone();
    let csv: Vec<csv::StringRecord> = csv.records().map(Result::unwrap).collect();
    assert_eq!(csv.len(), found.len());
    let column = |row: &csv::StringRecord, name: &str| {
        let at = names.iter().position(|other| other == name).unwrap();
        row[at].to_owned()
    };
    for (row, score) in csv.iter().zip(&found) {
        assert_eq!(column(row, "url"), score.url);
        assert_eq!(column(row, "pagerank").parse(), Ok(score.pagerank));
        assert_eq!(column(row, "harmonic").parse(), Ok(score.harmonic));
        assert_eq!(
            column(row, "covered_by"),
            score.covered_by.clone().unwrap_or_default()
        );
    }
    #[cfg(feature = "parquet")]
    {
        let folder = crate::support::scratch();
        let file = folder.path().join("scores.parquet");
        std::fs::write(&file, written(ScoreFormat::Parquet)).unwrap();
        let rows = super::judge::table(&file);
        assert_eq!(rows.len(), csv.len());
        for (parquet, row) in rows.iter().zip(&csv) {
            for name in &names {
                assert_eq!(parquet[name], column(row, name), "{name}");
            }
        }
    }
}

#[cfg(feature = "parquet")]
#[test]
fn seeds_as_parquet_are_those_of_csv() {
    let (bank, plans) = crawled();
    let folder = crate::support::scratch();
    for plan in plans {
        let seeds = seeds_of(&bank.bank, plan);
        let written = |format| {
            let mut list = Vec::new();
            write_seeds(&mut list, &seeds, seeds.len(), format).unwrap();
            list
        };
        assert!(SeedFormat::Parquet.is_there());
        let file = folder.path().join(format!("{plan}.parquet"));
        std::fs::write(&file, written(SeedFormat::Parquet)).unwrap();
        let rows = super::judge::table(&file);
        let text = written(SeedFormat::Csv);
        let mut csv = csv::Reader::from_reader(&*text);
        let names = csv.headers().unwrap().clone();
        let csv: Vec<csv::StringRecord> = csv.records().map(Result::unwrap).collect();
        assert_eq!((rows.len(), rows[0].len()), (csv.len(), names.len()));
        for (parquet, row) in rows.iter().zip(&csv) {
            for (name, value) in names.iter().zip(row) {
                assert_eq!(parquet[name], value, "{plan} {name}");
            }
        }
    }
}
