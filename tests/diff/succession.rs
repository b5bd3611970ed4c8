//! Successors of dead seeds, checked against the records alone, on generated and on real days; and
//! `--succeed`, which uses them to keep the seed list stable.
//!
//! `cargo nextest run --test diff succession:: --no-capture` prints the tables.

use std::collections::{BTreeMap, BTreeSet};

use crate::support;
use crate::support::banks::TestBank;
use crate::support::days::{Day, Life, Printed, friendlinks, host, options};
use crate::support::model::assert_clean;
use crate::support::plans::exact_cores;
use seedbank::engine::query::{Cause, Change, DiffRequest, SuccessorView};
use seedbank::engine::{Bank, PlanOptions, RefreshRequest};
use seedbank::synth::{SynthOptions, day_text};
use seedbank_algorithms::cores::Pick;

/// The inter-site targets of a page.
fn row<'a>(day: &'a Day, url: &str) -> BTreeSet<&'a str> {
    let links = day.pages.get(url).map(|page| &page.links);
    let targets = links.into_iter().flatten().map(String::as_str);
    targets.filter(|to| host(to) != host(url)).collect()
}

fn jaccard(a: &BTreeSet<&str>, b: &BTreeSet<&str>) -> f64 {
    a.intersection(b).count() as f64 / a.union(b).count().max(1) as f64
}

/// The successor of a seed of `old` that is dead on the last of these days.
fn judge(days: &[Day], url: &str, old: &Printed) -> Option<SuccessorView> {
    let today = days.last().unwrap();
    let mut last = days.iter().rev().map(|day| row(day, url));
    let last = last.find(|row| !row.is_empty()).unwrap_or_default();
    let core = old.cores.iter().find(|core| core.seed == url).unwrap();
    let scored = core.hubs.iter().zip(&core.hub_scores);
    let alive: Vec<(&String, f64)> = scored
        .filter(|(hub, _)| {
            let mut authorities = core.authorities.iter();
            *hub != url && authorities.any(|to| today.has_link(hub, to))
        })
        .map(|(hub, score)| (hub, *score))
        .collect();
    let best = alive.iter().map(|hub| hub.1).fold(0.0, f64::max);
    let tied = alive.iter().filter(|hub| hub.1 >= best * (1.0 - 1e-9));
    if let Some((hub, _)) = tied.min_by_key(|hub| hub.0) {
        return Some(SuccessorView {
            url: (*hub).clone(),
            same_core: true,
            similarity: jaccard(&last, &row(today, hub)),
        });
    }
    let mut similar: Option<(f64, &String)> = None;
    for page in today.pages.keys() {
        if page == url || !today.takes_part(page) {
            continue;
        }
        let similarity = jaccard(&last, &row(today, page));
        // They come in URL order, so the first of equal ones stays.
        if similarity > similar.map_or(0.0, |best| best.0 + 1e-12) {
            similar = Some((similarity, page));
        }
    }
    similar.map(|(similarity, page)| SuccessorView {
        url: page.clone(),
        same_core: false,
        similarity,
    })
}

/// Who succeeded the seeds that died.
#[derive(Default)]
struct Deaths {
    died: u32,
    same_core: u32,
    similar: u32,
    similarity: f64,
}

impl Deaths {
    fn add(&mut self, successor: Option<&SuccessorView>) {
        self.died += 1;
        if let Some(successor) = successor {
            self.same_core += u32::from(successor.same_core);
            self.similar += u32::from(!successor.same_core);
            self.similarity += successor.similarity;
        }
    }

    fn print(&self, name: &str) {
        let followed = self.same_core + self.similar;
        println!(
            "| {name} | {} | {} | {} | {} | {:.2} |",
            self.died,
            self.same_core,
            self.similar,
            self.died - followed,
            self.similarity / f64::from(followed.max(1))
        );
    }
}

/// Compares each refresh with the previous one on that same day, which is when its successors are
/// asked for, and judges them.
fn follow(
    texts: impl Iterator<Item = String>,
    plans: &[(&'static str, PlanOptions)],
    seeds: u32,
) -> (Life, Deaths) {
    let mut deaths = Deaths::default();
    let life = Life::lived(texts, plans, |life| {
        let numbers = &life.refreshes[plans[0].0];
        let [.., before, _] = numbers.as_slice() else {
            return;
        };
        let request = DiffRequest {
            plan: Some(plans[0].0.to_owned()),
            ..DiffRequest::default()
        };
        let diff = life.bank.diff(&request).unwrap();
        let day = life.days.len() - 2;
        let old = Printed::of(&life.bank, *before, day, seeds as usize);
        let today = life.days.last().unwrap();
        for seed in diff.seeds.iter().filter(|s| s.change == Change::Lost) {
            if today.takes_part(&seed.url) && today.is_hub(&seed.url) {
                assert_eq!(seed.successor, None, "{seed:?}");
                continue;
            }
            let judged = judge(&life.days, &seed.url, &old);
            let both = [&seed.successor, &judged];
            let views = both.map(|s| s.as_ref().map(|s| (s.url.clone(), s.same_core)));
            assert_eq!(views[0], views[1], "{seed:?} {judged:?}");
            let [found, judged] = both.map(|s| s.as_ref().map_or(0.0, |s| s.similarity));
            assert!((found - judged).abs() < 1e-9, "{seed:?} {judged}");
            deaths.add(seed.successor.as_ref());
        }
    });
    (life, deaths)
}

/// How many of a plan's seeds stay from one refresh to the next, in per cent.
fn stability(life: &Life, plan: &str) -> f64 {
    let numbers = &life.refreshes[plan];
    let (mut kept, mut all) = (0, 0);
    for pair in numbers.windows(2) {
        let request = DiffRequest {
            refreshes: pair.to_vec(),
            ..DiffRequest::default()
        };
        let summary = life.bank.diff(&request).unwrap().summary;
        kept += summary.kept;
        all += summary.from.seeds;
    }
    100.0 * f64::from(kept) / f64::from(all)
}

#[test]
fn seeds_that_died_have_the_right_successors() {
    let crawl = SynthOptions {
        days: 12,
        ..SynthOptions::new(600)
    };
    let succeed = PlanOptions {
        succeed: Some(true),
        ..options(15)
    };
    let plans = [("best", options(15)), ("succeed", succeed)];
    let texts = (0..=12).map(|day| day_text(&crawl, day).unwrap());
    let (life, deaths) = follow(texts, &plans, 15);
    println!("| crawl | died | same core | similar row | none | mean similarity |");
    deaths.print("12 generated days");
    assert!(deaths.died > 1, "{}", deaths.died);
    for plan in ["best", "succeed"] {
        println!("{plan}: {:.1} % of the seeds stay", stability(&life, plan));
    }
    assert!(stability(&life, "succeed") >= stability(&life, "best"));
    assert_clean(&life.bank);
}

#[test]
fn seeds_that_died_on_real_days_have_the_right_successors() {
    let name = "seeds_that_died_on_real_days_have_the_right_successors";
    let Some(shared) = support::shared(name) else {
        return;
    };
    let (life, deaths) = follow(friendlinks(&shared, 11), &[("p", options(10))], 10);
    println!("| crawl | died | same core | similar row | none | mean similarity |");
    deaths.print("11 days of friendlinks");
    assert!(deaths.died > 2, "{}", deaths.died);
    assert_clean(&life.bank);
}

/// The stored list of seeds is an input: a refresh from scratch uses it too.
#[test]
fn a_cold_refresh_has_the_same_list() {
    let crawl = SynthOptions {
        days: 4,
        ..SynthOptions::new(300)
    };
    let plan = PlanOptions {
        succeed: Some(true),
        ..options(10)
    };
    let lists = [false, true].map(|cold| {
        let bank = TestBank::new();
        let mut lists = Vec::new();
        for day in 0..=4 {
            bank.delta(&day_text(&crawl, day).unwrap());
            bank.refresh("p", &plan, cold);
            lists.push(bank.seeds("p"));
        }
        lists
    });
    assert_eq!(lists[0], lists[1]);
}

#[test]
fn a_rule_for_picking_sets_aside_the_other() {
    let of = |pick, succeed| PlanOptions {
        pick,
        succeed,
        ..PlanOptions::default()
    };
    let stays = of(None, Some(true)).merged_over(&of(Some(Pick::Best), None));
    assert_eq!((stays.pick, stays.succeed), (None, Some(true)));
    let best = of(Some(Pick::Best), None).merged_over(&of(None, Some(true)));
    assert_eq!((best.pick, best.succeed), (Some(Pick::Best), None));
    assert!(of(Some(Pick::Best), Some(true)).resolve().is_err());
    assert!(of(Some(Pick::Stable), Some(true)).resolve().is_ok());
}

/// Former pages are stored as long as a refresh may need them.
#[test]
fn former_pages_are_deleted_with_the_refreshes_that_need_them() {
    let bank = TestBank::new();
    let page = |name: &str, to: &[&str]| {
        let url = |name: &str| format!("https://{name}.example/");
        let to: Vec<String> = to.iter().map(|to| url(to)).collect();
        serde_json::json!({"url": url(name), "outlinks": to}).to_string() + "\n"
    };
    let gone = |name: &str| {
        serde_json::json!({"url": format!("https://{name}.example/"), "gone": true}).to_string()
            + "\n"
    };
    let hubs = ["h2", "h3", "h4", "h5"].map(|hub| page(hub, &["a1", "a2", "a3", "a4"]));
    let first = hubs.concat() + &page("k1", &["b1", "b2"]) + &page("k2", &["b1", "b2"]);
    let days = [first, gone("h5"), gone("h4"), gone("h2") + &gone("k2")];
    for (day, lines) in days.iter().enumerate() {
        bank.delta(lines);
        let request = RefreshRequest {
            plan: Some("p".to_owned()),
            options: exact_cores(options(2)),
            keep: (day == 3).then_some(2),
            ..RefreshRequest::default()
        };
        bank.bank.refresh(&request).unwrap();
        bank.is_sound();
    }
    let diff = |refreshes: &[u32]| {
        let request = DiffRequest {
            plan: Some("p".to_owned()),
            refreshes: refreshes.to_vec(),
            ..DiffRequest::default()
        };
        bank.bank.diff(&request)
    };
    let error = diff(&[1, 4]).unwrap_err().to_string();
    assert!(error.contains("refresh 1 was deleted"), "{error}");
    let seeds = diff(&[3, 4]).unwrap().seeds;
    let lost = seeds
        .iter()
        .find(|seed| seed.url == "https://h2.example/")
        .unwrap();
    assert_eq!((lost.cause, lost.batch), (Some(Cause::Gone), Some(4)));
    let left = former(&bank.bank);
    assert_eq!(left.keys().copied().collect::<Vec<_>>(), [4]);
    assert_eq!(left[&4], 2);
}

/// How many former pages each batch has.
fn former(bank: &Bank) -> BTreeMap<u32, u32> {
    let reader = seedbank_store::Reader::open(bank.path()).unwrap();
    let mut former = BTreeMap::new();
    let pages = &seedbank_store::tables::PAGE_HISTORY;
    for entry in reader.scan(pages).unwrap() {
        *former.entry(entry.unwrap().0.0).or_default() += 1;
    }
    former
}
