//! Refresh over the whole web that follows the last one: on webs large enough for it, day by day, the
//! list is that of a run from scratch, with all that is told of it, and takes less.
//!
//! - `every_kind_of_change`: pages that come, go, come back, become aliases, change links, values and
//!   whether they may be seeds; a share of distinct digests that changes the values of a whole site.
//!   Catches what an earlier state was taken for and was not.
//! - `several_batches_at_a_time`: where it is not known what links were.
//! - `a_day_takes_a_small_part`: the visits beside those of a run from scratch.

use std::fmt::Write;

use crate::support::banks::TestBank;
use crate::support::over_web::over_web;
use seedbank::engine::{CoverMethod, PlanOptions, Value};
use seedbank::synth::{SynthOptions, day_text};

/// The pages of the web; on every twelfth site.
const PAGES: u32 = 400;

struct Draw(u32);

impl Draw {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) % bound
    }

    fn url(&mut self) -> String {
        let page = self.below(PAGES);
        // Some pages are linked to by many.
        url(if self.below(3) == 0 { page / 20 } else { page })
    }

    fn links(&mut self) -> String {
        let links: Vec<String> = (0..self.below(9)).map(|_| self.url()).collect();
        format!(r#""outlinks":["{}"]"#, links.join(r#"",""#)).replace(r#"[""]"#, "[]")
    }

    /// What a record says of a page beside its URL.
    fn fields(&mut self) -> String {
        match self.below(12) {
            0 => r#""gone":true"#.to_owned(),
            1 => format!(r#""redirect":"{}""#, self.url()),
            2 => format!(r#""canonical":"{}",{}"#, self.url(), self.links()),
            3 => format!(r#""spam":{}"#, self.below(2) == 0),
            4 => format!(r#""clicks":{}"#, self.below(3)),
            5 => format!(r#""quality":0.{}"#, self.below(10)),
            6 => format!(r#""uncrawled_outlinks":{}"#, self.below(9)),
            7 => format!(r#""digest":"d{}""#, self.below(6)),
            _ => format!(r#"{},"digest":"d{}""#, self.links(), self.below(60)),
        }
    }

    fn day(&mut self, records: u32) -> String {
        let mut text = String::new();
        for _ in 0..records {
            let page = self.below(PAGES);
            writeln!(text, r#"{{"url":"{}",{}}}"#, url(page), self.fields()).unwrap();
        }
        text
    }
}

fn url(page: u32) -> String {
    format!("http://s{}.example/p{page}", page % 12)
}

/// The web on its first day.
fn first_day(draw: &mut Draw) -> String {
    let mut text = String::new();
    for page in (0..PAGES).filter(|page| page % 4 > 0) {
        let links = draw.links();
        writeln!(
            text,
            r#"{{"url":"{}",{links},"digest":"d{page}"}}"#,
            url(page)
        )
        .unwrap();
    }
    text
}

fn plan(hops: u32, p_uniq: Option<i64>) -> PlanOptions {
    PlanOptions {
        hops: Some(hops),
        fetch_cost: Some(Value(330_000)),
        value_quality: Some(Value(500_000)),
        p_uniq: p_uniq.map(Value),
        ..over_web(CoverMethod::Greedy, 12)
    }
}

/// Refreshes each plan and compares it with a run from scratch; returns how many were followed.
fn compare(bank: &TestBank, plans: &[(String, PlanOptions)]) -> u32 {
    let mut followed = 0;
    for (name, plan) in plans {
        let report = bank.refresh(name, plan, false);
        let cold = format!("cold-{name}");
        bank.refresh(&cold, plan, true);
        assert_eq!(bank.bare_seeds(name), bank.bare_seeds(&cold), "{name}");
        followed += u32::from(!report.view.cold);
    }
    followed
}

fn plans() -> Vec<(String, PlanOptions)> {
    let of_hops = (0..4).flat_map(|hops| [(hops, Some(0)), (hops, Some(300_000)), (hops, None)]);
    let named = of_hops.map(|(hops, p_uniq)| {
        let share = p_uniq.map_or("digests".to_owned(), |share| share.to_string());
        (format!("{hops}-{share}"), plan(hops, p_uniq))
    });
    named.collect()
}

#[test]
fn every_kind_of_change() {
    let mut draw = Draw(7);
    let bank = TestBank::new();
    bank.delta(&first_day(&mut draw));
    compare(&bank, &plans());
    let mut followed = 0;
    for day in 1..=12 {
        bank.delta(&draw.day(day % 7 + 1));
        followed += compare(&bank, &plans());
    }
    bank.is_sound();
    assert!(followed > 70, "{followed} of 144 refreshes were followed");
}

#[test]
fn several_batches_at_a_time() {
    let mut draw = Draw(8);
    let bank = TestBank::new();
    bank.delta(&first_day(&mut draw));
    let plans: Vec<(String, PlanOptions)> = plans().into_iter().step_by(2).collect();
    compare(&bank, &plans);
    let mut followed = 0;
    for _ in 0..6 {
        bank.delta(&draw.day(1));
        bank.delta(&draw.day(2));
        followed += compare(&bank, &plans);
    }
    assert!(followed > 10, "{followed} of 36 refreshes were followed");
}

#[test]
fn a_day_takes_a_small_part() {
    let crawl = SynthOptions {
        days: 3,
        rng_seed: 3,
        ..SynthOptions::new(6_000)
    };
    let crawl = crawl.with_daily_share(0.01);
    let bank = TestBank::new();
    bank.delta(&day_text(&crawl, 0).unwrap());
    let plan = |hops| PlanOptions {
        value_spam: Some(Value(0)),
        value_clicked: Some(Value(1_000_000)),
        seeds: Some(40),
        ..plan(hops, Some(0))
    };
    for hops in 1..=3 {
        bank.refresh(&format!("{hops}"), &plan(hops), false);
    }
    for day in 1..=3 {
        bank.delta(&day_text(&crawl, day).unwrap());
        for (hops, percent) in [(1, 25), (2, 25), (3, 50)] {
            let name = format!("{hops}");
            let report = bank.refresh(&name, &plan(hops), false);
            let cold = bank.refresh("cold", &plan(hops), true);
            assert_eq!(bank.bare_seeds(&name), bank.bare_seeds("cold"));
            let (visits, of_cold) = (report.view.page_visits, cold.view.page_visits);
            assert!(
                !report.view.cold && visits * 100 <= of_cold * percent,
                "day {day}: {visits} page visits at {hops} hops, {of_cold} from scratch"
            );
        }
    }
}
