//! Small banks to damage: as users leave them, with copies of every earlier state, and with the
//! answers that must be given from then on.

use std::fs;
use std::path::{Path, PathBuf};

use seedbank::engine::plan::{CoverMethod, Method};
use seedbank::engine::{Bank, EngineError, IngestRequest, PlanOptions, RefreshRequest, Which};
use seedbank::ingest::{Input, SiteMode, UrlRules};
use seedbank::synth::{SynthOptions, generate};
use seedbank::watch::Unwatched;
use seedbank_store::{Reader, Writer};

use crate::support::asking::{self, Answers, FIRST, ask};
use crate::support::banks::seeds_of;
use crate::support::folders::copy;
use crate::support::plans::exact_cores;

/// One step in the life of a bank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    /// A day of the crawl goes in.
    Day(u32),
    /// A day goes in as a bulk load.
    Bulk(u32),
    Cores,
    Cover,
}

/// What each bank is made of. Where the flag is set, the last step is stored but could not be
/// published.
const LIVES: [(&str, &[Step], bool); 5] = [
    (
        "batches",
        &[Step::Day(0), Step::Day(1), Step::Day(2)],
        false,
    ),
    (
        "refreshes",
        &[
            Step::Day(0),
            Step::Cores,
            Step::Cover,
            Step::Day(1),
            Step::Cover,
            Step::Cores,
        ],
        false,
    ),
    (
        "bulk loads",
        &[Step::Bulk(0), Step::Cores, Step::Bulk(1)],
        false,
    ),
    (
        "a batch to be published",
        &[Step::Day(0), Step::Cores, Step::Day(1)],
        true,
    ),
    (
        "a refresh to be published",
        &[Step::Day(0), Step::Cover, Step::Day(1), Step::Cores],
        true,
    ),
];

/// A bank to damage.
pub struct Subject {
    pub name: &'static str,
    /// Its folder; copies of it are damaged.
    pub folder: PathBuf,
    /// Copies of it after each step before the last, the empty bank first.
    pub earlier: Vec<PathBuf>,
    /// Whether the last step is stored but not published, so that readers see the state before it.
    pub unpublished: bool,
    /// What to ask; the first questions are asked in every case.
    pub questions: Vec<String>,
    /// What each of its states answers: the empty bank first, then up to what was acknowledged, and
    /// last the state with one more batch.
    states: Vec<Answers>,
    /// One more batch.
    pub next: PathBuf,
}

fn take(bank: &Bank, step: Step, crawl: &Path) -> Result<(), EngineError> {
    match step {
        Step::Day(day) | Step::Bulk(day) => {
            let file = crawl.join(format!("day-{day:03}.jsonl.zst"));
            let request = IngestRequest {
                inputs: vec![Input::named(file)],
                memory: if matches!(step, Step::Bulk(_)) {
                    0
                } else {
                    64 << 20
                },
                ..IngestRequest::default()
            };
            bank.ingest(&request).map(drop)
        }
        Step::Cores | Step::Cover => {
            let (plan, options) = if step == Step::Cores {
                let options = PlanOptions {
                    seeds: Some(5),
                    ..PlanOptions::default()
                };
                ("default", options)
            } else {
                let options = PlanOptions {
                    method: Some(Method::Cover(CoverMethod::MaxWeight)),
                    per_site: Some(2),
                    ..PlanOptions::default()
                };
                ("sites", options)
            };
            let request = RefreshRequest {
                plan: Some(plan.to_owned()),
                options: exact_cores(options),
                ..RefreshRequest::default()
            };
            bank.refresh(&request).map(drop)
        }
    }
}

/// Takes a step that is stored but cannot be published: something is in the place of its state.
fn take_unpublished(bank: &Bank, step: Step, crawl: &Path) {
    let epoch = Reader::open(bank.path()).unwrap().epoch();
    let in_the_way = bank.path().join(format!("published/{}", epoch + 1));
    fs::write(&in_the_way, "").unwrap();
    let error = take(bank, step, crawl).unwrap_err();
    assert!(
        error.to_string().contains("the change is stored"),
        "{error}"
    );
    fs::remove_file(in_the_way).unwrap();
}

/// What to ask of a bank in its last state.
fn questions(bank: &Bank, depth: Depth) -> Vec<String> {
    let mut urls = Vec::new();
    bank.pages::<EngineError>(|page| {
        urls.push(page.url);
        Ok(())
    })
    .unwrap();
    let refreshes = bank.status().unwrap().counters.refreshes;
    let mut named = vec![urls[urls.len() / 2].clone()];
    if refreshes > 0 {
        let which = Which {
            plan: None,
            refresh: Some(refreshes),
        };
        named.push(seeds_of(bank, &which)[0].url.clone());
    }
    let mut questions = asking::questions(refreshes, &named);
    if depth == Depth::Sample {
        questions.truncate(FIRST);
    }
    questions
}

/// How much is done in each case.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Depth {
    /// One of three: only read, or written to, or repaired; the first questions.
    Sample,
    /// All three, and some of all questions.
    Whole,
}

/// Opens a bank for writing, which completes what is unfinished.
pub fn finish(bank: &Path) {
    drop(Writer::open(bank, false, &Unwatched).unwrap());
}

impl Subject {
    fn new(place: &Path, crawl: &Path, depth: Depth, kind: (&'static str, &[Step], bool)) -> Self {
        let (name, steps, unpublished) = kind;
        let place = place.join(name.replace(' ', "-"));
        fs::create_dir(&place).unwrap();
        let folder = place.join("bank");
        let bank = Bank::create(&folder, SiteMode::Host.with(UrlRules::Whatwg)).unwrap();
        let mut earlier = Vec::new();
        for (number, &step) in steps.iter().enumerate() {
            let kept = place.join(format!("after-{number}"));
            copy(&folder, &kept);
            earlier.push(kept);
            if unpublished && number + 1 == steps.len() {
                take_unpublished(&bank, step, crawl);
            } else {
                take(&bank, step, crawl).unwrap();
            }
        }
        let whole = place.join("whole");
        copy(&folder, &whole);
        finish(&whole);
        let questions = questions(&Bank::at(&whole), depth);
        let mut states: Vec<Answers> = earlier.iter().map(|bank| ask(bank, &questions)).collect();
        states.push(ask(&whole, &questions));
        // A day that no step has taken.
        take(&Bank::at(&whole), Step::Day(3), crawl).unwrap();
        states.push(ask(&whole, &questions));
        Self {
            name,
            next: crawl.join("day-003.jsonl.zst"),
            folder,
            earlier,
            unpublished,
            questions,
            states,
        }
    }

    /// What each state answers, up to all that was acknowledged.
    pub fn acknowledged(&self) -> &[Answers] {
        &self.states[..self.states.len() - 1]
    }

    /// The same with one more batch.
    pub fn after(&self) -> &[Answers] {
        &self.states
    }

    /// All banks to damage, made in this folder.
    pub fn all(place: &Path, depth: Depth) -> Vec<Self> {
        let crawl = place.join("crawl");
        let options = SynthOptions {
            days: 3,
            rng_seed: 15,
            sites: Some(12),
            links: 6.0,
            inter_site_links: 3.0,
            changed_per_day: 0.1,
            ..SynthOptions::new(150)
        };
        generate(&crawl, &options, &Unwatched).unwrap();
        let made = |life| Self::new(place, &crawl, depth, life);
        std::thread::scope(|scope| {
            let threads: Vec<_> = LIVES.map(|life| scope.spawn(move || made(life))).into();
            threads.into_iter().map(|t| t.join().unwrap()).collect()
        })
    }
}
