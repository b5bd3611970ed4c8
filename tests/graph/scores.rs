//! Scores of pages, compared with a plain recount and with the output of other commands.

use std::collections::BTreeMap;

use seedbank::answers::{ScoreFormat, ScoreWriter, SeedFormat, write_seeds};
use seedbank::engine::query::{Evidence, PageLimits, SiteSeed, Why};
use seedbank::engine::scores::{PageScore, ScoresRequest};
use seedbank::engine::{Bank, EngineError};
use seedbank::synth::{SynthOptions, day_text};

use super::judge::Graph;
use crate::support::banks::{TestBank, seeds_of};
use crate::support::histories::for_each_history;
use crate::support::plans::plan;

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
    for_each_history(12, 0, |bank, _| {
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
fn crawled() -> (TestBank, [&'static str; 3]) {
    let bank = TestBank::new();
    bank.delta(&day_text(&SynthOptions::new(300), 0).unwrap());
    for (name, parameters) in [
        ("cores", "seeds=8"),
        ("cover", "method=max-weight per-site=2"),
        ("web", "method=greedy scope=web seeds=8"),
    ] {
        bank.refresh(name, &plan(parameters), false);
    }
    (bank, ["cores", "cover", "web"])
}

#[test]
fn scores_of_a_plan_agree_with_explain() {
    let (bank, plans) = crawled();
    let bank = &bank.bank.pinned().unwrap();
    for plan in plans {
        let seeds = seeds_of(bank, plan);
        let ranks: BTreeMap<&str, u32> = seeds.iter().map(|seed| (&*seed.url, seed.rank)).collect();
        let (mut in_cores, mut covered) = (0, 0);
        let found = scores(bank, Some(plan));
        for (at, score) in found.iter().enumerate() {
            assert_eq!(score.seed_rank, ranks.get(&*score.url).copied(), "{plan}");
            // A query for each page takes a while.
            if at % 11 > 0 && score.seed_rank.is_none() && score.core.is_none() {
                continue;
            }
            let facts = bank.page(&score.url, PageLimits::default()).unwrap();
            assert_eq!(facts.state, score.state);
            assert_eq!(facts.inlinks.pages, score.in_degree);
            assert_eq!(facts.outlinks.pages, score.out_degree);
            let of_plan = facts.plans.iter().find(|of| of.run.plan == plan).unwrap();
            let covering = (score.covered_by.as_deref(), score.covered_at);
            let itself = (Some(&*score.url), Some(0));
            let by = |by: &Option<(SiteSeed, u32)>| match by {
                Some((by, hop)) => assert_eq!(covering, (Some(&*by.url), Some(*hop))),
                None => assert_eq!(covering, itself),
            };
            match &of_plan.why {
                Why::CoreSeed(_) | Why::CoreMember(_) => {
                    in_cores += 1;
                    assert!(score.core.is_some(), "{score:?}");
                    assert!(score.hub_score.is_some() || score.authority_score.is_some());
                }
                Why::Covered { by, hop } | Why::Reached { by, hop } => {
                    covered += 1;
                    assert_eq!(covering, (Some(&*by.url), Some(*hop)));
                }
                Why::CoverSeed(seed) => by(&seed.covered_by),
                Why::WebSeed(seed) => by(&seed.reached_by),
                _ => assert_eq!((covering, score.core), ((None, None), None), "{score:?}"),
            }
        }
        assert!(in_cores > 0 || covered > 2, "{plan}: {in_cores}, {covered}");
        // The seeds of cores have the score of the list.
        for seed in &seeds {
            if let Evidence::Core {
                core, hub_score, ..
            } = seed.evidence
            {
                let score = found.iter().find(|score| score.url == seed.url).unwrap();
                assert_eq!((score.core, score.hub_score), (Some(core), Some(hub_score)));
            }
        }
    }
}

/// The rows of a CSV file, each with the text of its columns.
fn csv_rows(text: &[u8]) -> Vec<BTreeMap<String, String>> {
    let rows = csv::Reader::from_reader(text).into_deserialize();
    rows.map(Result::unwrap).collect()
}

#[test]
fn all_formats_have_the_same_values() {
    let (bank, plans) = crawled();
    let found = scores(&bank.bank, Some("cover"));
    let written = |format| {
        let mut writer = ScoreWriter::new(Vec::new(), format).unwrap();
        for score in &found {
            writer.page(score).unwrap();
        }
        writer.finish().unwrap()
    };
    let lines = String::from_utf8(written(ScoreFormat::Jsonl)).unwrap();
    let lines = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    assert_eq!(lines.collect::<Vec<PageScore>>(), found);
    let csv = csv_rows(&written(ScoreFormat::Csv));
    assert_eq!(csv.len(), found.len());
    for (row, score) in csv.iter().zip(&found) {
        assert_eq!(row["url"], score.url);
        assert_eq!(row["pagerank"].parse(), Ok(score.pagerank));
        assert_eq!(row["harmonic"].parse(), Ok(score.harmonic));
        assert_eq!(
            row["covered_by"],
            score.covered_by.clone().unwrap_or_default()
        );
    }
    #[cfg(feature = "parquet")]
    {
        let folder = crate::support::scratch();
        let table = |bytes: Vec<u8>| {
            let file = folder.path().join("table.parquet");
            std::fs::write(&file, bytes).unwrap();
            super::judge::table(&file)
        };
        assert!(table(written(ScoreFormat::Parquet)) == csv);
        for plan in plans {
            let seeds = seeds_of(&bank.bank, plan);
            let written = |format| {
                let mut list = Vec::new();
                write_seeds(&mut list, &seeds, seeds.len(), format).unwrap();
                list
            };
            assert!(SeedFormat::Parquet.is_there());
            let csv = csv_rows(&written(SeedFormat::Csv));
            assert_eq!(table(written(SeedFormat::Parquet)), csv, "{plan}");
        }
    }
}
