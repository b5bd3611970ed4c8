//! Generated days of a crawl and generated graphs of hosts: the layout, the rates asked for, reproducible bytes.
//!
//! Catches state that leaks between days or threads, records of pages that do not exist, rates other than those asked
//! for, lists of a graph that do not fit each other, and files that are left behind.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use proptest::prelude::*;
use seedbank::engine::ingest::Format;
use seedbank::engine::{Bank, IngestRequest};
use seedbank::ingest::{Input, Naming};
use seedbank::synth::hosts::{self, HostsList, HostsOptions, HostsSummary};
use seedbank::synth::{SynthError, SynthOptions, day_text, generate};
use seedbank::watch::{Unwatched, Watch};
use serde_json::Value;

use crate::support;

fn records(options: &SynthOptions, day: u32) -> Vec<Value> {
    let text = day_text(options, day).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'));
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Checks one line against `src/guide/formats.md`, *Records*.
fn check_record(record: &Value) {
    let is_normal = |url: &Value| {
        let url = url.as_str().unwrap();
        assert_eq!(url::Url::parse(url).unwrap().as_str(), url);
    };
    let url = &record["url"];
    is_normal(url);
    for (field, value) in record.as_object().unwrap() {
        match field.as_str() {
            "url" | "digest" => assert!(!value.as_str().unwrap().is_empty()),
            "fetched" => {
                let time = value.as_str().unwrap();
                assert!(time.len() == 20 && time.ends_with('Z'), "{time}");
            }
            "spam" | "gone" => assert!(value.is_boolean()),
            "clicks" => assert!(value.is_u64()),
            "uncrawled_outlinks" => assert!(value.as_u64().unwrap() <= 1_000_000),
            "outlinks" => {
                let links = value.as_array().unwrap();
                let distinct: HashSet<&Value> = links.iter().collect();
                assert!(
                    distinct.len() == links.len() && !links.contains(url),
                    "{record}"
                );
                links.iter().for_each(is_normal);
            }
            _ => panic!("{field}"),
        }
    }
}

/// Walks the days with a set of live pages; returns new, changed, gone and live pages per day.
fn walk(options: &SynthOptions) -> Vec<[usize; 4]> {
    // Whether each page is there; a gone page stays in the map.
    let mut pages: HashMap<String, bool> = HashMap::new();
    let mut days = Vec::new();
    for day in 0..=options.days {
        let mut seen = HashSet::new();
        let (mut new, mut changed, mut gone) = (0, 0, 0);
        for record in records(options, day) {
            // Large crawls are walked for their rates.
            if options.pages <= 1_000 {
                check_record(&record);
            }
            let url = record["url"].as_str().unwrap().to_owned();
            assert!(seen.insert(url.clone()), "two records for {url}");
            let was_there = pages.get(&url) == Some(&true);
            if record["gone"] == true {
                assert!(was_there, "{url} was not there");
                pages.insert(url, false);
                gone += 1;
            } else if record["digest"].is_string() {
                assert!(record["outlinks"].is_array() && record["fetched"].is_string());
                *if was_there { &mut changed } else { &mut new } += 1;
                pages.insert(url, true);
            } else {
                assert!(was_there, "clicks on {url}, which is not there");
            }
        }
        let live = pages.values().filter(|live| **live).count();
        days.push([new, changed, gone, live]);
    }
    days
}

#[test]
fn days_follow_from_one_another_at_the_rates_asked_for() {
    for rate in [0.01, 0.0001, 0.10] {
        let options = SynthOptions {
            days: 4,
            changed_per_day: rate,
            rng_seed: 3,
            ..SynthOptions::new(20_000)
        };
        let days = walk(&options);
        assert_eq!(days[0], [20_000, 0, 0, 20_000]);
        let near = |found: usize, expected: f64| {
            let error = 5.0 * expected.sqrt() + 2.0;
            assert!(
                (found as f64 - expected).abs() < error,
                "found {found}, expected {expected}"
            );
        };
        for pair in days.windows(2) {
            let ([.., live], [new, changed, gone, _]) = (pair[0], pair[1]);
            near(new, 20_000.0 * options.born_per_day);
            near(changed, live as f64 * rate);
            // Home and section pages, about a fifth of all, stay.
            let expected = options.gone_per_day * live as f64;
            let range = 0.5 * expected..1.2 * expected + 10.0;
            assert!(range.contains(&(gone as f64)), "{gone} of {expected}");
        }
        let first = records(&options, 0);
        for field in ["spam", "clicks", "uncrawled_outlinks"] {
            let with = first
                .iter()
                .filter(|record| !record[field].is_null())
                .count();
            assert!(with > 0 && with < 10_000, "{field}: {with}");
        }
    }
}

#[test]
fn pages_return_and_a_web_without_changes_has_empty_days() {
    let options = SynthOptions {
        days: 40,
        gone_per_day: 0.05,
        born_per_day: 0.0,
        ..SynthOptions::new(1_000)
    };
    let returned: usize = walk(&options)[1..].iter().map(|day| day[0]).sum();
    assert!(returned > 3, "{returned}");
    let still = SynthOptions {
        changed_per_day: 0.0,
        gone_per_day: 0.0,
        clicked_per_day: 0.0,
        ..options
    };
    assert_eq!(day_text(&still, 3).unwrap(), "");
}

/// Runs something on so many threads.
fn on_threads<T: Send>(threads: usize, run: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    pool.build().unwrap().install(run)
}

#[test]
fn bytes_depend_on_the_options_alone() {
    let options = SynthOptions {
        days: 3,
        ..SynthOptions::new(4_000)
    };
    let with = |threads: usize, days: u32, rng_seed: u64| {
        let dir = tempfile::tempdir().unwrap();
        let options = SynthOptions {
            days,
            rng_seed,
            ..options.clone()
        };
        let summary = on_threads(threads, || generate(dir.path(), &options, &Unwatched)).unwrap();
        let files = summary
            .files
            .iter()
            .map(|file| fs::read(&file.path).unwrap());
        files.collect::<Vec<Vec<u8>>>()
    };
    let one = with(1, 3, 0);
    assert_eq!(one, with(4, 3, 0));
    assert_eq!(one[..], with(2, 20, 0)[..4]);
    assert_ne!(one[0], with(2, 3, 1)[0]);
    for (day, file) in (0..).zip(&one) {
        let text = String::from_utf8(zstd::decode_all(&file[..]).unwrap()).unwrap();
        assert!(text == day_text(&options, day).unwrap(), "day {day}");
    }
    let graph = |threads: usize, rng_seed: u64| {
        let dir = tempfile::tempdir().unwrap();
        let options = HostsOptions {
            rng_seed,
            ..HostsOptions::new(9_000)
        };
        let summary = on_threads(threads, || {
            hosts::generate(dir.path(), &options, &Unwatched)
        });
        let files = summary.unwrap().files;
        files
            .iter()
            .map(|file| fs::read(&file.path).unwrap())
            .collect::<Vec<_>>()
    };
    let one = graph(1, 0);
    assert!(one == graph(4, 0) && one != graph(2, 1));
}

/// Stops after some calls of `stopped`.
struct StopAfter(AtomicU64);

impl Watch for StopAfter {
    fn stopped(&self) -> bool {
        self.0.fetch_sub(1, Ordering::Relaxed) <= 1
    }
}

/// Both generators fill only a new or empty folder, and leave nothing if they are stopped.
#[test]
fn only_an_empty_folder_is_filled_and_nothing_is_left_of_a_stopped_run() {
    type Generate = fn(&Path, &dyn Watch) -> Result<(), SynthError>;
    let days: Generate = |dir, watch| generate(dir, &SynthOptions::new(500), watch).map(drop);
    let graph: Generate =
        |dir, watch| hosts::generate(dir, &HostsOptions::new(500), watch).map(drop);
    for generate in [days, graph] {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("new/crawl");
        for calls in 1..4 {
            let stopped = generate(&folder, &StopAfter(AtomicU64::new(calls)));
            assert!(
                matches!(stopped, Err(SynthError::Interrupted)),
                "{stopped:?}"
            );
            assert!(!folder.exists());
            // A folder that existed before stays, empty.
            fs::create_dir_all(&folder).unwrap();
            generate(&folder, &StopAfter(AtomicU64::new(calls))).unwrap_err();
            assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
            fs::remove_dir(&folder).unwrap();
        }
        generate(&folder, &Unwatched).unwrap();
        let again = generate(&folder, &Unwatched);
        assert!(matches!(again, Err(SynthError::NotEmpty(_))), "{again:?}");
        let file = dir.path().join("file");
        fs::write(&file, "x").unwrap();
        let error = generate(&file, &Unwatched);
        assert!(
            matches!(error, Err(SynthError::NotADirectory(_))),
            "{error:?}"
        );
    }
}

#[test]
fn options_out_of_range_are_refused_by_name() {
    let default = SynthOptions::default;
    for (options, name) in [
        (SynthOptions::new(0), "pages"),
        (
            SynthOptions {
                sites: Some(0),
                ..default()
            },
            "sites",
        ),
        (
            SynthOptions {
                sites: Some(10_001),
                ..default()
            },
            "sites",
        ),
        (
            SynthOptions {
                born_per_day: f64::NAN,
                ..default()
            },
            "born_per_day",
        ),
        (
            SynthOptions {
                gone_per_day: 1.0,
                ..default()
            },
            "gone_per_day",
        ),
        (
            SynthOptions {
                links: 1.0,
                ..default()
            },
            "links",
        ),
    ] {
        let error = day_text(&options, 0).unwrap_err().to_string();
        assert!(error.starts_with(name), "{error}");
    }
    assert!(matches!(
        day_text(&default(), 8),
        Err(SynthError::Day { day: 8, days: 7 })
    ));
    let dir = tempfile::tempdir().unwrap();
    let nine = || HostsOptions::new(9);
    for (options, name) in [
        (HostsOptions::new(0), "hosts"),
        (
            HostsOptions {
                links: f64::NAN,
                ..nine()
            },
            "links",
        ),
        (
            HostsOptions {
                dangling: 1.5,
                ..nine()
            },
            "dangling",
        ),
    ] {
        let error = hosts::generate(&dir.path().join("none"), &options, &Unwatched).unwrap_err();
        assert!(error.to_string().starts_with(name), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Any allowed options give valid records, and as many as asked for.
    #[test]
    fn any_options_give_records(
        pages in 1_u64..300,
        share in 0.0_f64..=1.0,
        rng_seed: u64,
        rates in prop::array::uniform3(0.0_f64..=0.9),
        inter_site_links in 0.0_f64..8.0,
        frontier_links in 0.0_f64..0.9,
    ) {
        let [born_per_day, changed_per_day, gone_per_day] = rates;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 300")]
        let sites = Some((pages as f64 * share).max(1.0) as u32);
        let options = SynthOptions {
            pages, sites, days: 3, rng_seed, born_per_day, changed_per_day, gone_per_day,
            inter_site_links, frontier_links, ..SynthOptions::default()
        };
        prop_assert_eq!(walk(&options)[0][0] as u64, pages);
    }
}

/// The lines of a list of a graph, over its parts.
fn lines(summary: &HostsSummary, list: HostsList) -> Vec<String> {
    let mut all = Vec::new();
    for file in summary.files.iter().filter(|file| file.list == list) {
        let text = support::gunzip(&file.path);
        assert_eq!(text.len() as u64, file.text_bytes);
        assert_eq!(fs::metadata(&file.path).unwrap().len(), file.file_bytes);
        assert_eq!(text.lines().count() as u64, file.lines);
        all.extend(text.lines().map(str::to_owned));
    }
    all
}

#[test]
fn a_graph_of_hosts_has_the_published_layout_and_a_bank_takes_it_whole() {
    for (hosts, rng_seed, parts) in [(1, 0, 1), (2, 1, 1), (300, 2, 1), (9_000, 3, 3)] {
        let dir = support::scratch();
        let options = HostsOptions {
            rng_seed,
            ..HostsOptions::new(hosts)
        };
        let summary = hosts::generate(&dir.path().join("graph"), &options, &Unwatched).unwrap();
        let inputs = |list| {
            let files = summary.files.iter().filter(|file| file.list == list);
            files
                .map(|file| Input::File(file.path.clone()))
                .collect::<Vec<_>>()
        };
        assert_eq!(inputs(HostsList::Vertices).len(), parts);
        assert_eq!(inputs(HostsList::Edges).len(), parts);
        let pair = |line: &String| {
            let (id, rest) = line.split_once('\t').unwrap();
            (id.parse::<u64>().unwrap(), rest.to_owned())
        };
        let vertices: Vec<_> = lines(&summary, HostsList::Vertices)
            .iter()
            .map(pair)
            .collect();
        assert!((0..hosts).eq(vertices.iter().map(|(id, _)| *id)));
        assert!(vertices.is_sorted_by(|(_, a), (_, b)| a < b));
        let edges = lines(&summary, HostsList::Edges);
        let edges = edges
            .iter()
            .map(pair)
            .map(|(from, to)| (from, to.parse().unwrap()));
        let edges: Vec<(u64, u64)> = edges.collect();
        assert!(edges.is_sorted_by(|a, b| a < b));
        assert!(
            edges
                .iter()
                .all(|(a, b)| *a < hosts && *b < hosts && a != b)
        );
        let linking: HashSet<u64> = edges.iter().map(|(from, _)| *from).collect();
        assert_eq!(edges.len() as u64, summary.links);
        assert_eq!(hosts - linking.len() as u64, summary.dangling);
        let ranks = lines(&summary, HostsList::Ranks);
        assert!(
            ranks[0].starts_with("#harmonicc_pos\t#harmonicc_val\t#pr_pos\t#pr_val\t#host_rev")
        );
        let mut unranked: HashSet<&str> = vertices.iter().map(|(_, name)| name.as_str()).collect();
        for (position, row) in (1_u64..).zip(&ranks[1..]) {
            let columns: Vec<&str> = row.split('\t').collect();
            assert_eq!(columns[0], position.to_string());
            assert!(unranked.remove(columns[4]), "{row}");
        }
        assert!(unranked.is_empty());
        let bank = Bank::create(dir.path().join("bank"), Naming::default()).unwrap();
        let request = IngestRequest {
            format: Format::CcGraph {
                vertices: inputs(HostsList::Vertices),
                ranks: inputs(HostsList::Ranks),
            },
            inputs: inputs(HostsList::Edges),
            ..IngestRequest::default()
        };
        let counts = bank.ingest(&request).unwrap().counts;
        let counts = (counts.rejected, counts.became_crawled, counts.links_added);
        assert_eq!(counts, (0, hosts, summary.links));
    }
}
