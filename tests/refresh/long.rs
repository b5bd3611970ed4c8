//! A crawl over many days: after each a refresh by cores gives what the same plan gives from
//! scratch, evidence included. Catches what needs size or time to go wrong: components that merge
//! and split while others stay, evidence kept over many refreshes, sigmas that come near each other.
//!
//! Besides the generated crawl, nearly all of which is connected and changes every day, there are
//! clubs that no link connects with it, and of which one or two change each day. So there is always
//! something to take over and something to compute, and their cores come between those of the
//! crawl.
//!
//! And the days of a real crawl, `friendlinks`, on some of which half of the pages come or go.
//!
//! Small by default; `make test-long [LONG_PAGES=200000] [LONG_DAYS=30]` takes long. Each day's
//! figures are printed. Where a run could not be certified, the two are compared all the same.

use std::fmt::Write;
use std::io::Read;
use std::time::Instant;

use crate::support::banks::TestBank;
use crate::support::days::friendlinks;
use crate::support::plans::exact_cores;
use crate::support::refreshes::came_to_the_same;
use crate::support::shared;
use seedbank::engine::{PlanOptions, RefreshReport, RefreshRequest};
use seedbank::synth::{SynthOptions, Web};

const CLUBS: u32 = 30;

fn number(name: &str, default: u32) -> u32 {
    std::env::var(name).map_or(default, |text| text.parse().expect(name))
}

/// How many pages of a club link to others: some of the clubs are as dense as the densest places of
/// a crawl with this many pages.
fn hubs(club: u32, pages: u32) -> u32 {
    (20 + club * club / 2) * (pages / 20_000).max(1)
}

/// The record of a page of a club: links to most of what the club is about, and further ones.
fn record(club: u32, hub: u32, version: u32, further: &[String]) -> String {
    let mut links: Vec<String> = (0..6 + club % 13)
        .filter(|to| !(31 * (hub / 3) + 17 * to + 7 * version + club).is_multiple_of(5))
        .map(|to| format!("http://about{to}.club{club}.test/"))
        .collect();
    links.extend_from_slice(further);
    format!(
        "{{\"url\":\"http://fan{}.club{club}.test/{hub}\",\"outlinks\":{links:?}}}\n",
        hub % 5
    )
}

/// What changes in the clubs on a day. Every third day a link joins two of them, for one day.
fn clubs(day: u32, pages: u32) -> String {
    let mut text = String::new();
    if day == 0 {
        for club in 0..CLUBS {
            for hub in 0..hubs(club, pages) {
                text += &record(club, hub, 0, &[]);
            }
        }
        return text;
    }
    let club = 7 * day % CLUBS;
    text += &record(club, 1 + day % 10, day, &[]);
    let joined = day / 3 % CLUBS;
    let to = format!("http://about0.club{}.test/", (joined + 1) % CLUBS);
    match day % 3 {
        1 => text += &record(joined, 0, 0, &[to]),
        2 => text += &record(joined, 0, 0, &[]),
        _ => writeln!(
            text,
            r#"{{"url":"http://fan1.club{club}.test/1","clicks":{day}}}"#
        )
        .unwrap(),
    }
    text
}

fn refresh(bank: &TestBank, plan: &str, seeds: u32, cold: bool) -> RefreshReport {
    let request = RefreshRequest {
        plan: Some(format!("{plan}-{seeds}")),
        options: exact_cores(PlanOptions {
            seeds: Some(seeds),
            ..PlanOptions::default()
        }),
        cold,
        // Two, so that evidence is kept over refreshes but the bank does not grow with the days.
        keep: Some(2),
        ..RefreshRequest::default()
    };
    bank.bank.refresh(&request).unwrap()
}

#[test]
fn days_of_a_crawl() {
    let (days, pages) = (number("LONG_DAYS", 4), number("LONG_PAGES", 1_000));
    let crawl = SynthOptions {
        days,
        rng_seed: 1,
        ..SynthOptions::new(u64::from(pages))
    };
    let web = Web::new(&crawl).unwrap();
    let bank = TestBank::new();
    let yes = |is| if is { "yes" } else { "no" };
    let mut reused = 0;
    println!(
        "day  seeds  reused   verified of  certified, cold  million visits, cold  seconds, cold"
    );
    for day in 0..=days {
        let mut text = clubs(day, pages);
        web.day(day).unwrap().read_to_string(&mut text).unwrap();
        bank.delta(&text);
        drop(text);
        let is_long = day % 10 == 0 || day == days;
        for &seeds in if is_long { &[10, 100][..] } else { &[10] } {
            let ours = refresh(&bank, "again", seeds, false);
            let cold = refresh(&bank, "cold", seeds, true);
            assert_eq!((cold.view.cold, cold.view.steps_reused), (true, 0));
            assert_eq!(ours.components, cold.components);
            reused += ours.view.steps_reused;
            let begun = Instant::now();
            came_to_the_same(&bank.bank, ours.view.refresh, cold.view.refresh);
            println!(
                "{day:3} {seeds:6} {:7} {:8} {:5} {:>10}, {:4} {:12.2} {:7.2} {:9.2} {:5.2}  compared in {:.2} s {}",
                ours.view.steps_reused,
                ours.components_verified,
                ours.components,
                yes(ours.view.uncertified_reason.is_none()),
                yes(cold.view.uncertified_reason.is_none()),
                ours.view.link_visits as f64 / 1e6,
                cold.view.link_visits as f64 / 1e6,
                ours.view.seconds,
                cold.view.seconds,
                begun.elapsed().as_secs_f64(),
                ours.view.uncertified_reason.unwrap_or_default()
            );
        }
    }
    assert!(reused > 0, "nothing was ever taken over");
    bank.is_sound();
}

#[test]
fn days_of_a_real_crawl() {
    let Some(shared) = shared("days_of_a_real_crawl") else {
        return;
    };
    let seeds = number("LONG_SEEDS", 10);
    let bank = TestBank::new();
    for day in friendlinks(&shared, 3) {
        bank.day(&day);
        let ours = refresh(&bank, "again", seeds, false);
        let cold = refresh(&bank, "cold", seeds, true);
        assert_eq!(ours.view.uncertified_reason, None);
        assert_eq!(cold.view.uncertified_reason, None);
        came_to_the_same(&bank.bank, ours.view.refresh, cold.view.refresh);
    }
    bank.is_sound();
}
