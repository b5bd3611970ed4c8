//! Generated days: lines are records, days follow from one another, bytes are reproducible.
//!
//! Catches state that leaks between days or threads, records of pages that do not exist, rates that
//! differ from those asked for, and files left behind.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};

use proptest::prelude::*;
use seedbank::synth::{SynthError, SynthOptions, day_text, generate};
use seedbank::watch::{Unwatched, Watch};
use serde_json::Value;

const FIELDS: [&str; 8] = [
    "url",
    "outlinks",
    "spam",
    "clicks",
    "uncrawled_outlinks",
    "digest",
    "fetched",
    "gone",
];

fn records(options: &SynthOptions, day: u32) -> Vec<Value> {
    let text = day_text(options, day).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'));
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Checks one line against `src/guide/formats.md`, *Records*.
fn check_record(record: &Value) {
    let url = record["url"].as_str().unwrap();
    assert_eq!(url::Url::parse(url).unwrap().as_str(), url);
    for (field, value) in record.as_object().unwrap() {
        assert!(FIELDS.contains(&field.as_str()), "{field}");
        match field.as_str() {
            "url" | "digest" => assert!(!value.as_str().unwrap().is_empty()),
            "fetched" => {
                let time = value.as_str().unwrap();
                assert!(time.len() == 20 && time.ends_with('Z'), "{time}");
            }
            "spam" | "gone" => assert!(value.is_boolean()),
            "clicks" => assert!(value.is_u64()),
            "uncrawled_outlinks" => assert!(value.as_u64().unwrap() <= 1_000_000),
            _ => {
                let links: Vec<&str> = value
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|link| link.as_str().unwrap())
                    .collect();
                let distinct: HashSet<&&str> = links.iter().collect();
                assert_eq!(distinct.len(), links.len(), "{url}");
                for link in links {
                    assert_ne!(link, url);
                    assert_eq!(url::Url::parse(link).unwrap().as_str(), link);
                }
            }
        }
    }
}

#[test]
fn every_line_is_a_record() {
    let options = SynthOptions::new(1_000);
    for day in 0..=2 {
        let records = records(&options, day);
        records.iter().for_each(check_record);
        if day == 0 {
            assert_eq!(records.len(), 1_000);
            for field in ["spam", "clicks", "uncrawled_outlinks"] {
                let with = records.iter().filter(|r| !r[field].is_null()).count();
                assert!(with > 0 && with < 500, "{field}: {with}");
            }
        }
    }
}

/// Walks the days with a set of live pages; returns born, changed, gone and live pages per day.
fn walk(options: &SynthOptions) -> Vec<[usize; 4]> {
    // Digest and whether the page is there; a gone page stays in the map.
    let mut pages: HashMap<String, bool> = HashMap::new();
    let mut days = Vec::new();
    for day in 0..=options.days {
        let mut seen = HashSet::new();
        let (mut born, mut changed, mut gone) = (0, 0, 0);
        for record in records(options, day) {
            let url = record["url"].as_str().unwrap().to_owned();
            assert!(seen.insert(url.clone()), "two records for {url}");
            let was = pages.get(&url).copied();
            if record["gone"] == true {
                assert_eq!(was, Some(true), "{url} was not there");
                pages.insert(url, false);
                gone += 1;
            } else if record["digest"].is_string() {
                assert!(record["outlinks"].is_array() && record["fetched"].is_string());
                if was == Some(true) {
                    changed += 1;
                } else {
                    born += 1;
                }
                pages.insert(url, true);
            } else {
                assert_eq!(was, Some(true), "clicks on {url}, which is not there");
            }
        }
        let live = pages.values().filter(|&&live| live).count();
        days.push([born, changed, gone, live]);
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
                "{found} against {expected}"
            );
        };
        for pair in days.windows(2) {
            let ([.., live], [born, changed, gone, _]) = (pair[0], pair[1]);
            near(born, 20_000.0 * options.born_per_day);
            near(changed, live as f64 * rate);
            // Home and section pages, about a fifth of all, stay.
            assert!(gone as f64 > 0.5 * options.gone_per_day * live as f64);
            assert!((gone as f64) < 1.2 * options.gone_per_day * live as f64 + 10.0);
        }
    }
}

#[test]
fn pages_return() {
    let options = SynthOptions {
        days: 40,
        gone_per_day: 0.05,
        born_per_day: 0.0,
        ..SynthOptions::new(1_000)
    };
    let returned: usize = walk(&options)[1..].iter().map(|day| day[0]).sum();
    assert!(returned > 3, "{returned}");
}

#[test]
fn a_still_web_has_empty_days() {
    let options = SynthOptions {
        born_per_day: 0.0,
        changed_per_day: 0.0,
        gone_per_day: 0.0,
        clicked_per_day: 0.0,
        ..SynthOptions::new(1_000)
    };
    assert_eq!(day_text(&options, 3).unwrap(), "");
}

#[test]
fn days_do_not_depend_on_threads_nor_on_how_many_are_asked_for() {
    let options = SynthOptions {
        days: 3,
        ..SynthOptions::new(8_000)
    };
    let longer = SynthOptions {
        days: 30,
        ..options.clone()
    };
    let other = SynthOptions {
        rng_seed: 1,
        ..options.clone()
    };
    let with = |threads: usize, options: &SynthOptions| {
        let dir = tempfile::tempdir().unwrap();
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let summary = pool
            .install(|| generate(dir.path(), options, &Unwatched))
            .unwrap();
        let files: Vec<Vec<u8>> = summary
            .files
            .iter()
            .map(|file| fs::read(&file.path).unwrap())
            .collect();
        files
    };
    let one = with(1, &options);
    assert_eq!(one, with(4, &options));
    assert_eq!(one[..], with(2, &longer)[..4]);
    assert_ne!(one[0], with(2, &other)[0]);
    for (day, file) in (0..).zip(&one) {
        let text = String::from_utf8(zstd::decode_all(&file[..]).unwrap()).unwrap();
        assert!(text == day_text(&options, day).unwrap(), "day {day}");
    }
}

#[test]
fn only_an_empty_directory_is_filled() {
    let dir = tempfile::tempdir().unwrap();
    let options = SynthOptions {
        days: 1,
        ..SynthOptions::new(100)
    };
    let summary = generate(&dir.path().join("new/crawl"), &options, &Unwatched).unwrap();
    assert_eq!(summary.files[0].counts.records, 100);
    let length = fs::metadata(&summary.files[1].path).unwrap().len();
    assert_eq!(summary.files[1].file_bytes, length);
    let full = generate(&dir.path().join("new"), &options, &Unwatched);
    assert!(matches!(full, Err(SynthError::NotEmpty(_))));
    let file = dir.path().join("file");
    fs::write(&file, "x").unwrap();
    let refused = generate(&file, &options, &Unwatched);
    assert!(
        matches!(refused, Err(SynthError::NotADirectory(_))),
        "{refused:?}"
    );
}

/// Stops after some calls of `stopped`.
struct StopAfter(AtomicU64);

impl Watch for StopAfter {
    fn stopped(&self) -> bool {
        self.0.fetch_sub(1, Ordering::Relaxed) <= 1
    }
}

#[test]
fn an_interrupted_run_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let options = SynthOptions::new(500);
    for calls in 1..4 {
        let crawl = dir.path().join("crawl");
        let stopped = generate(&crawl, &options, &StopAfter(AtomicU64::new(calls)));
        assert!(
            matches!(stopped, Err(SynthError::Interrupted)),
            "{stopped:?}"
        );
        assert!(!crawl.exists());
        // A directory that existed before stays, empty.
        fs::create_dir(&crawl).unwrap();
        generate(&crawl, &options, &StopAfter(AtomicU64::new(calls))).unwrap_err();
        assert_eq!(fs::read_dir(&crawl).unwrap().count(), 0);
        fs::remove_dir(&crawl).unwrap();
    }
}

#[test]
fn senseless_options_are_refused_by_name() {
    let refused = |options: SynthOptions, name: &str| {
        let error = day_text(&options, 0).unwrap_err().to_string();
        assert!(error.starts_with(name), "{error}");
    };
    let default = SynthOptions::default;
    refused(SynthOptions::new(0), "pages");
    refused(
        SynthOptions {
            sites: Some(0),
            ..default()
        },
        "sites",
    );
    refused(
        SynthOptions {
            sites: Some(10_001),
            ..default()
        },
        "sites",
    );
    refused(
        SynthOptions {
            born_per_day: f64::NAN,
            ..default()
        },
        "born_per_day",
    );
    refused(
        SynthOptions {
            gone_per_day: 1.0,
            ..default()
        },
        "gone_per_day",
    );
    refused(
        SynthOptions {
            links: 1.0,
            ..default()
        },
        "links",
    );
    assert!(matches!(
        day_text(&default(), 8),
        Err(SynthError::Day { day: 8, days: 7 })
    ));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Any allowed options give records, and as many as asked for.
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
        for day in 0..=3 {
            records(&options, day).iter().for_each(check_record);
        }
    }
}
