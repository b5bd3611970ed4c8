//! A month of a large crawl: after each day a refresh by cores gives what the same plan gives from
//! scratch, evidence included. Catches what needs size or time to go wrong: many components that
//! merge and split, evidence kept over many refreshes, sigmas that come near each other.
//!
//! `make test-long [LONG_PAGES=200000] [LONG_DAYS=30]`, which is no part of `make test`: on 200,000
//! pages it takes hours of one core. Refreshes with 10 seeds every day and with 100 every
//! tenth; each day's figures are printed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::io::Read;
use std::time::Instant;

use seedbank::engine::{PlanOptions, RefreshReport, RefreshRequest};
use seedbank::synth::{SynthOptions, Web};
use seedbank::watch::Unwatched;
use support::banks::TestBank;
use support::refreshes::came_to_the_same;

fn number(name: &str, default: u32) -> u32 {
    std::env::var(name).map_or(default, |text| text.parse().expect(name))
}

fn refresh(bank: &TestBank, plan: &str, seeds: u32, cold: bool) -> RefreshReport {
    let request = RefreshRequest {
        plan: Some(format!("{plan}-{seeds}")),
        options: PlanOptions {
            seeds: Some(seeds),
            ..PlanOptions::default()
        },
        cold,
        // Two, so that evidence is kept over refreshes, and the bank does not grow with the days.
        keep: Some(2),
        ..RefreshRequest::default()
    };
    bank.bank.refresh(&request, &Unwatched).unwrap()
}

#[test]
fn days_of_a_large_crawl() {
    let days = number("LONG_DAYS", 30);
    let crawl = SynthOptions {
        days,
        rng_seed: 1,
        ..SynthOptions::new(u64::from(number("LONG_PAGES", 200_000)))
    };
    let web = Web::new(&crawl).unwrap();
    let bank = TestBank::new();
    println!("day  seeds  reused  verified  certified  million visits, cold  seconds, cold");
    for day in 0..=days {
        let mut text = String::new();
        web.day(day).unwrap().read_to_string(&mut text).unwrap();
        bank.delta(&text);
        drop(text);
        let counts: &[u32] = if day % 10 == 0 { &[10, 100] } else { &[10] };
        for &seeds in counts {
            let ours = refresh(&bank, "again", seeds, false);
            let cold = refresh(&bank, "cold", seeds, true);
            assert_eq!((cold.cold, cold.steps_reused), (true, 0));
            assert!(ours.certified && cold.certified, "{ours:?} {cold:?}");
            assert_eq!(ours.cold, day == 0);
            let begun = Instant::now();
            came_to_the_same(&bank.bank, ours.refresh, cold.refresh);
            println!(
                "{day:3} {seeds:6} {:7} {:5} of {:5} {:>5} {:9.2} {:9.2} {:8.2} {:6.2}  compared in {:.2} s",
                ours.steps_reused,
                ours.components_verified,
                ours.components,
                ours.certified,
                ours.link_visits as f64 / 1e6,
                cold.link_visits as f64 / 1e6,
                ours.seconds,
                cold.seconds,
                begun.elapsed().as_secs_f64()
            );
        }
    }
    bank.is_sound();
}
