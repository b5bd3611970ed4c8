//! Commands to interrupt, each with the bank that it runs on and the states that it may leave.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use seedbank::synth::{SynthOptions, generate};
use seedbank::watch::Unwatched;

use super::injector::{DISK, Injector};
use super::state::State;
use crate::support::command::record;
use crate::support::folders::{copy, files};

/// What a command works on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// It changes the bank.
    Bank,
    /// It mends the bank, one of whose states is damaged.
    Mends,
    /// It makes the bank `new` of the folder named: a backup, or a bank.
    Makes(&'static str),
    /// It makes a backup of the bank.
    BacksUp,
}

/// The commands that write to a bank after the interrupted one: a further batch, or the same
/// command again.
pub const WRITERS: usize = 2;

/// The number of a state in [`Scene::states`].
pub type Number = usize;

/// A command to interrupt.
pub struct Scene {
    pub name: &'static str,
    pub kind: Kind,
    /// What is on the disk before the command.
    pub before: PathBuf,
    pub args: Vec<String>,
    /// How many calls of each kind the command makes.
    pub counts: BTreeMap<String, u64>,
    /// States that the bank may have: first the one before the command, or that of the bank that
    /// another is made of, then the one after it.
    pub states: Vec<State>,
    /// The exit status of a writer on the first two states, and the state that it leaves.
    pub next: BTreeMap<(Number, usize), (i32, Number)>,
}

/// A bulk load.
const BULK: &[&str] = &[
    "ingest",
    "disk/bank",
    "../in/large/day-001.jsonl.zst",
    "--memory",
    "1M",
];

/// A small crawl whose second day is large enough for a bulk load.
pub fn small_bulk_load() -> SynthOptions {
    SynthOptions {
        days: 1,
        rng_seed: 5,
        ..SynthOptions::new(300).with_daily_share(0.9)
    }
}

/// One more batch; its records are as of a day, so that every run leads to the same state.
const DELTA: &[&str] = &[
    "ingest",
    "disk/bank",
    "../in/further.jsonl",
    "--as-of",
    "2026-01-01",
];

fn numbered(states: &mut Vec<State>, state: State) -> Number {
    if let Some(number) = states.iter().position(|known| *known == state) {
        return number;
    }
    states.push(state);
    states.len() - 1
}

impl Scene {
    /// The folder of the bank that is judged, within [`DISK`].
    pub fn bank(&self) -> &'static str {
        match self.kind {
            Kind::Makes(_) => "new",
            _ => "bank",
        }
    }

    pub fn args(&self) -> Vec<&str> {
        self.args.iter().map(String::as_str).collect()
    }

    /// The commands that may write next to the bank that is judged.
    pub fn writer(&self, writer: usize) -> Vec<&str> {
        if writer == 1 && matches!(self.kind, Kind::Bank | Kind::Mends) {
            return self.args();
        }
        let mut delta = DELTA.to_vec();
        if self.bank() == "new" {
            delta[1] = "disk/new";
        }
        delta
    }

    /// Runs the command and all writers undisturbed, in copies of what is prepared, and remembers
    /// what they leave.
    fn explore(bench: &Bench<'_>, plan: &Plan<'_>) -> Self {
        let &Plan(name, kind, ref prepared, args) = plan;
        let place = bench.place.join(name.replace(' ', "-"));
        let mut scene = Self {
            name,
            kind,
            before: place.join("before"),
            args: args.iter().map(|&arg| arg.to_owned()).collect(),
            counts: BTreeMap::new(),
            states: Vec::new(),
            next: BTreeMap::new(),
        };
        fs::create_dir(&place).unwrap();
        copy(prepared, &scene.before);
        let disk = place.join(DISK);
        copy(prepared, &disk);
        // A damaged bank has one state, which the command brings back.
        let is_sound = kind != Kind::Mends;
        let first = is_sound.then(|| State::read(&disk.join("bank")).unwrap());
        let ended = bench.injector.strike(&place, args, None);
        assert_eq!(ended.status, Some(0), "{name}: {}", ended.told());
        let loads = ended
            .calls
            .iter()
            .filter(|call| call.path.starts_with("bank/loads/"));
        assert!(args != BULK || loads.count() > 10, "{name} is none");
        scene.counts = ended.counts();
        let bank = disk.join(scene.bank());
        let after = State::read(&bank).unwrap();
        scene.states = vec![first.unwrap_or_else(|| after.clone()), after];
        let done = place.join("done");
        fs::rename(&disk, &done).unwrap();
        for state in 0..2 {
            let is_there = state == 1 || kind == Kind::Bank;
            for writer in 0..WRITERS {
                if !is_there {
                    let as_after = scene.next.get(&(1, writer)).copied();
                    scene.next.extend(as_after.map(|next| ((0, writer), next)));
                    continue;
                }
                copy(if state == 0 { &scene.before } else { &done }, &disk);
                let ended = bench.injector.run(&place, &scene.writer(writer));
                let left = State::read(&bank).unwrap();
                fs::remove_dir_all(&disk).unwrap();
                let left = numbered(&mut scene.states, left);
                let status = ended.status.unwrap();
                scene.next.insert((state, writer), (status, left));
            }
        }
        // Where the two states are one, what follows on them is one too.
        for writer in 0..WRITERS {
            if kind != Kind::Bank {
                scene.next.insert((0, writer), scene.next[&(1, writer)]);
            }
        }
        fs::remove_dir_all(done).unwrap();
        scene
    }

    /// The bulk load of the second day of a crawl, after the first one.
    pub fn of_bulk_load(place: &Path, injector: &Injector, crawl: &SynthOptions) -> Self {
        let bench = Bench { place, injector };
        bench.make_inputs(crawl);
        let base = bench.bulk_base();
        Self::explore(&bench, &Plan("bulk ingest", Kind::Bank, base, BULK))
    }

    /// All scenes, made in this folder.
    pub fn all(place: &Path, injector: &Injector) -> Vec<Self> {
        let bench = Bench { place, injector };
        bench.make_inputs(&small_bulk_load());
        let (base, bulk) = (bench.base(), bench.bulk_base());
        let url = bench.seed(&base);
        let shelf = bench.with_backup(&base);
        let day = ["ingest", "disk/bank", "../in/crawl/day-002.jsonl.zst"];
        let backup = ["backup", "disk/bank", "disk/b"];
        let restore = ["restore", "disk/b", "disk/new"];
        let migrate = ["migrate", "disk/bank", "--to", "disk/new"];
        let repair = ["repair", "disk/bank"];
        let plans = [
            Plan("bulk ingest", Kind::Bank, bulk, BULK),
            Plan("ingest", Kind::Bank, base.clone(), &day),
            Plan(
                "refresh",
                Kind::Bank,
                base.clone(),
                &["refresh", "disk/bank", "--method", "cores", "--within", "0"],
            ),
            Plan("undo", Kind::Bank, base.clone(), &["undo", "disk/bank"]),
            Plan(
                "forget",
                Kind::Bank,
                base.clone(),
                &["forget", "disk/bank", &url],
            ),
            Plan(
                "compact",
                Kind::Bank,
                base.clone(),
                &["compact", "disk/bank"],
            ),
            Plan("backup", Kind::BacksUp, shelf.clone(), &backup),
            Plan("restore", Kind::Makes("b"), shelf, &restore),
            Plan("migrate to", Kind::Makes("bank"), base.clone(), &migrate),
            Plan(
                "repair live",
                Kind::Mends,
                bench.damaged(&base, "live"),
                &repair,
            ),
            Plan(
                "repair published",
                Kind::Mends,
                bench.damaged(&base, "published"),
                &repair,
            ),
        ];
        let explore = |plan: &Plan<'_>| Self::explore(&bench, plan);
        std::thread::scope(|scope| {
            let (first, second) = plans.split_at(plans.len() / 2);
            let second = scope.spawn(|| second.iter().map(explore).collect::<Vec<_>>());
            let mut scenes: Vec<Self> = first.iter().map(explore).collect();
            scenes.extend(second.join().unwrap());
            scenes
        })
    }
}

/// A scene to be explored: its name and kind, what is on the disk before, and the command.
struct Plan<'a>(&'static str, Kind, PathBuf, &'a [&'a str]);

/// Where scenes are prepared.
struct Bench<'a> {
    place: &'a Path,
    injector: &'a Injector,
}

impl Bench<'_> {
    fn make_inputs(&self, large: &SynthOptions) {
        let folder = self.place.join("in");
        let small = SynthOptions {
            days: 2,
            rng_seed: 15,
            sites: Some(12),
            links: 6.0,
            inter_site_links: 3.0,
            changed_per_day: 0.1,
            ..SynthOptions::new(150)
        };
        generate(&folder.join("crawl"), &small, &Unwatched).unwrap();
        generate(&folder.join("large"), large, &Unwatched).unwrap();
        let further = ["http://further.example/a", "http://further.example/b"];
        let lines = record(further[0], &[further[1], "http://elsewhere.example/"]);
        fs::write(folder.join("further.jsonl"), lines).unwrap();
    }

    /// A place with an empty disk.
    fn begin(&self, name: &str) -> PathBuf {
        let place = self.place.join(name);
        fs::create_dir_all(place.join(DISK)).unwrap();
        place
    }

    fn run(&self, place: &Path, args: &[&str]) -> String {
        let ended = self.injector.run(place, args);
        assert_eq!(ended.status, Some(0), "{args:?}: {}", ended.told());
        ended.out
    }

    /// A disk with a bank of two small batches and a refresh between them.
    fn base(&self) -> PathBuf {
        let place = self.begin("base");
        let day = |day: u32| format!("../in/crawl/day-{day:03}.jsonl.zst");
        self.run(&place, &["init", "disk/bank"]);
        self.run(&place, &["ingest", "disk/bank", &day(0)]);
        self.run(
            &place,
            &[
                "refresh",
                "disk/bank",
                "--method",
                "cores",
                "--within",
                "0",
                "--seeds",
                "5",
            ],
        );
        self.run(&place, &["ingest", "disk/bank", &day(1)]);
        place.join(DISK)
    }

    fn bulk_base(&self) -> PathBuf {
        let place = self.begin("bulk-base");
        self.run(&place, &["init", "disk/bank"]);
        let day = "../in/large/day-000.jsonl.zst";
        self.run(&place, &["ingest", "disk/bank", day]);
        place.join(DISK)
    }

    /// The URL of a seed of a bank.
    fn seed(&self, disk: &Path) -> String {
        let seeds = self.run(disk.parent().unwrap(), &["seeds", "disk/bank"]);
        seeds.lines().next().unwrap().to_owned()
    }

    /// The same disk with a backup of the bank.
    fn with_backup(&self, base: &Path) -> PathBuf {
        let place = self.place.join("shelf");
        fs::create_dir(&place).unwrap();
        copy(base, &place.join(DISK));
        self.run(&place, &["backup", "disk/bank", "disk/b"]);
        place.join(DISK)
    }

    /// The same disk with one state of the bank damaged.
    fn damaged(&self, base: &Path, state: &str) -> PathBuf {
        let place = self.place.join(format!("damaged-{state}"));
        fs::create_dir(&place).unwrap();
        copy(base, &place.join(DISK));
        let bank = place.join(DISK).join("bank");
        if state == "published" {
            fs::write(bank.join("published/CURRENT"), "").unwrap();
        } else {
            let all = files(&bank);
            let is_manifest = |path: &&PathBuf| path.to_str().unwrap().starts_with("live/MANIFEST");
            let manifest = bank.join(all.iter().find(is_manifest).unwrap());
            let bytes = fs::read(&manifest).unwrap();
            fs::write(&manifest, &bytes[..bytes.len() - 20]).unwrap();
        }
        place.join(DISK)
    }
}
