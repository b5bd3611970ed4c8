//! Scenes, and the commands that are struck in each, with the states that they may leave.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use seedbank::synth::{SynthOptions, generate};
use seedbank::watch::Unwatched;

use super::injector::{DISK, Ended, Injector, Point};
use super::processes::{PARTS, PROCESSES, part, write_members};
use super::state::State;
use crate::support::command::record;
use crate::support::folders::{copy, files};

/// What a bank consists of, and what runs its commands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Scene {
    /// A bank in one database.
    Plain,
    /// A cluster bank, all of whose parts are in one process.
    Parts,
    /// A cluster bank, each of whose parts is in a process of its own.
    Processes,
    /// A bank in one database, and its backups in a bucket.
    Bucket,
}

impl Scene {
    /// All scenes that the build supports.
    pub fn all() -> Vec<Self> {
        let mut all = vec![Self::Plain, Self::Parts, Self::Processes];
        if cfg!(feature = "remote") {
            all.push(Self::Bucket);
        }
        all
    }

    /// The number of processes of a command that is struck.
    pub fn processes(self) -> usize {
        if self == Self::Processes {
            PROCESSES
        } else {
            1
        }
    }

    pub fn has_parts(self) -> bool {
        matches!(self, Self::Parts | Self::Processes)
    }

    /// Where backups are: as commands name it, and within [`DISK`].
    fn backups(self) -> (&'static str, &'static str) {
        match self {
            Self::Bucket => ("s3://BUCKET/b", "bucket/b"),
            _ => ("disk/b", "b"),
        }
    }

    /// Runs a command in as many processes as commands of the scene have.
    pub fn strike(
        self,
        injector: &Injector,
        place: &Path,
        args: &[&str],
        point: Option<(usize, &Point)>,
    ) -> Vec<Ended> {
        injector.strike_in(place, args, self.processes(), point)
    }
}

/// What a command works on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// It changes the bank.
    Changes,
    /// It repairs the bank, one of whose states is damaged.
    Repairs,
    /// It makes the bank `new` from the folder named: a backup, or a bank.
    Makes(&'static str),
    /// It makes a backup of the bank in the folder named.
    BacksUp(&'static str),
}

/// The number of commands that may write to a bank after the struck one: a further batch, or the same command again.
pub const WRITERS: usize = 2;

/// The number of a state in [`Operation::states`].
pub type Number = usize;

/// A command to strike.
pub struct Operation {
    pub scene: Scene,
    pub name: &'static str,
    pub kind: Kind,
    /// What is on the disk before the command.
    pub before: PathBuf,
    pub args: Vec<String>,
    /// How many calls of each kind each process makes.
    pub counts: Vec<BTreeMap<String, u64>>,
    /// The states that the bank may have: first the one before the command, or that of the bank that another is made
    /// of, then the one after it.
    pub states: Vec<State>,
    /// The exit status of a writer on the first two states, and the state that it leaves.
    pub next: BTreeMap<(Number, usize), (i32, Number)>,
}

/// The name of a site that is forgotten. No part of it repeats, so compression leaves it as it is.
pub const FORGOTTEN: &str = "zq8x7kf3wv.example";

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

fn number_of(states: &mut Vec<State>, state: State) -> Number {
    if let Some(number) = states.iter().position(|known| *known == state) {
        return number;
    }
    states.push(state);
    states.len() - 1
}

impl Operation {
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

    /// The command that restores the bank `new` from the backups.
    pub fn restore(&self) -> [&str; 3] {
        ["restore", self.scene.backups().0, "disk/new"]
    }

    /// The commands that may write next to the bank that is judged.
    pub fn writer(&self, writer: usize) -> Vec<&str> {
        if writer == 1 && matches!(self.kind, Kind::Changes | Kind::Repairs) {
            return self.args();
        }
        let mut delta = DELTA.to_vec();
        if self.bank() == "new" {
            delta[1] = "disk/new";
        }
        delta
    }

    /// Whether a state is one that the command leads to, and not one without it.
    pub fn follows(&self, state: Number) -> bool {
        let without = |writer| self.next.get(&(0, writer)).map(|next| next.1);
        state != 0 && (state == 1 || without(0) != Some(state))
    }

    /// Runs the command and all writers undisturbed, in copies of what is prepared, and records what they leave.
    fn explore(bench: &Bench<'_>, plan: &Plan<'_>) -> Self {
        let &Plan(name, kind, ref prepared, args) = plan;
        let place = bench.place.join(name.replace(' ', "-"));
        let mut operation = Self {
            scene: bench.scene,
            name,
            kind,
            before: place.join("before"),
            args: args.iter().map(|&arg| arg.to_owned()).collect(),
            counts: Vec::new(),
            states: Vec::new(),
            next: BTreeMap::new(),
        };
        fs::create_dir(&place).unwrap();
        write_members(&place);
        copy(prepared, &operation.before);
        let disk = place.join(DISK);
        copy(prepared, &disk);
        // A damaged bank has one state, which the command restores.
        let is_sound = kind != Kind::Repairs;
        let first = is_sound.then(|| State::read(&disk.join("bank")).unwrap());
        let ended = bench.scene.strike(bench.injector, &place, args, None);
        for ended in &ended {
            assert_eq!(ended.status, Some(0), "{name}: {}", ended.describe());
        }
        let is_of_load = |path: &str| path.contains("/loads/");
        let calls = ended.iter().flat_map(|ended| &ended.calls);
        let loads = calls.filter(|call| is_of_load(&call.path));
        assert!(args != BULK || loads.count() > 10, "{name} is no bulk load");
        operation.counts = ended.iter().map(Ended::counts).collect();
        let bank = disk.join(operation.bank());
        let after = State::read(&bank).unwrap();
        operation.states = vec![first.unwrap_or_else(|| after.clone()), after];
        let done = place.join("done");
        fs::rename(&disk, &done).unwrap();
        for state in 0..2 {
            let exists = state == 1 || kind == Kind::Changes;
            for writer in 0..WRITERS {
                if !exists {
                    let as_after = operation.next.get(&(1, writer)).copied();
                    let next = as_after.map(|next| ((0, writer), next));
                    operation.next.extend(next);
                    continue;
                }
                copy(if state == 0 { &operation.before } else { &done }, &disk);
                let ended = bench.injector.run(&place, &operation.writer(writer));
                let left = State::read(&bank).unwrap();
                fs::remove_dir_all(&disk).unwrap();
                let left = number_of(&mut operation.states, left);
                let status = ended.status.unwrap();
                operation.next.insert((state, writer), (status, left));
            }
        }
        // Where the two states are one, what follows on them is one too.
        for writer in 0..WRITERS {
            if kind != Kind::Changes {
                let next = operation.next[&(1, writer)];
                operation.next.insert((0, writer), next);
            }
        }
        fs::remove_dir_all(done).unwrap();
        operation
    }

    /// The bulk load of the second day of a crawl into a bank in one database, after the first one.
    pub fn of_bulk_load(place: &Path, injector: &Injector, crawl: &SynthOptions) -> Self {
        make_inputs(place, crawl);
        let bench = Bench {
            scene: Scene::Plain,
            place,
            injector,
        };
        let base = bench.bulk_base();
        Self::explore(&bench, &Plan("bulk ingest", Kind::Changes, base, BULK))
    }

    /// The commands of all scenes, prepared in this folder.
    pub fn all(place: &Path, injector: &Injector) -> Vec<Self> {
        make_inputs(place, &small_bulk_load());
        let explored = Scene::all().into_iter().map(|scene| {
            move || {
                // Each place has the inputs in the folder beside it.
                let inputs = place.join("in");
                let place = place.join(format!("{scene:?}").to_lowercase());
                fs::create_dir(&place).unwrap();
                std::os::unix::fs::symlink(inputs, place.join("in")).unwrap();
                let bench = Bench {
                    scene,
                    place: &place,
                    injector,
                };
                bench.operations()
            }
        });
        std::thread::scope(|scope| {
            let threads: Vec<_> = explored.map(|explore| scope.spawn(explore)).collect();
            let explored = threads.into_iter().map(|thread| thread.join().unwrap());
            explored.flatten().collect()
        })
    }
}

/// A command to explore: its name and kind, what is on the disk before it, and its arguments.
struct Plan<'a>(&'static str, Kind, PathBuf, &'a [&'a str]);

/// Where the commands of a scene are prepared.
struct Bench<'a> {
    scene: Scene,
    place: &'a Path,
    injector: &'a Injector,
}

/// Makes what commands read.
pub fn make_inputs(place: &Path, large: &SynthOptions) {
    let folder = place.join("in");
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
    let pages = ["a", "b"].map(|page| format!("http://{FORGOTTEN}/{page}"));
    let lines = record(&pages[0], &[&pages[1], further[0]]) + &record(further[0], &[&pages[0]]);
    fs::write(folder.join("forgotten.jsonl"), lines).unwrap();
}

impl Bench<'_> {
    fn operations(&self) -> Vec<Operation> {
        let (backups, backup_folder) = self.scene.backups();
        let base = self.base();
        let stored = self.with_backup(&base);
        let cores = ["refresh", "disk/bank", "--method", "cores", "--within", "0"];
        let web = [
            "refresh",
            "disk/bank",
            "--plan",
            "web",
            "--goal",
            "coverage",
            "--seeds",
            "4",
            "--budget",
            "20",
        ];
        let sites = ["refresh", "disk/bank", "--plan", "sites", "--goal", "sites"];
        let day = ["ingest", "disk/bank", "../in/crawl/day-002.jsonl.zst"];
        let backup = ["backup", "disk/bank", backups];
        let restore = ["restore", backups, "disk/new"];
        let undo = ["undo", "disk/bank"];
        let forget = ["forget", "disk/bank", FORGOTTEN];
        let compact = ["compact", "disk/bank"];
        let repair = ["repair", "disk/bank"];
        let (makes, backs_up) = (Kind::Makes(backup_folder), Kind::BacksUp(backup_folder));
        let mut plans = vec![
            Plan("backup", backs_up, stored.clone(), &backup),
            Plan("restore", makes, stored, &restore),
        ];
        let empty = self.begin("empty");
        self.init(&empty);
        let init = ["init", "disk/new"];
        let parts = PARTS.to_string();
        let init_parts = ["cluster", "init", "disk/new", "--banks", &parts];
        let init: &[&str] = if self.scene.has_parts() {
            &init_parts
        } else {
            &init
        };
        if self.scene != Scene::Bucket {
            let bulk = self.bulk_base();
            let mut change = |name, args| {
                plans.push(Plan(name, Kind::Changes, base.clone(), args));
            };
            change("ingest", &day);
            change("refresh cores", &cores);
            change("refresh web", &web);
            change("refresh sites", &sites);
            change("undo", &undo);
            change("forget", &forget);
            plans.push(Plan("bulk ingest", Kind::Changes, bulk, BULK));
        }
        if self.scene == Scene::Processes {
            // The others have no form for several processes.
            plans.retain(|plan| plan.1 == Kind::Changes);
        } else if self.scene != Scene::Bucket {
            plans.push(Plan("init", Kind::Makes("bank"), empty.join(DISK), init));
            plans.push(Plan("compact", Kind::Changes, base.clone(), &compact));
            for (name, state) in [("repair live", "live"), ("repair published", "published")] {
                let damaged = self.damaged(&base, state);
                plans.push(Plan(name, Kind::Repairs, damaged, &repair));
            }
        }
        let explore = |plan: &Plan<'_>| Operation::explore(self, plan);
        plans.iter().map(explore).collect()
    }

    /// A place with an empty disk.
    fn begin(&self, name: &str) -> PathBuf {
        let place = self.place.join(name);
        fs::create_dir_all(place.join(DISK)).unwrap();
        place
    }

    fn run(&self, place: &Path, args: &[&str]) {
        let ended = self.injector.run(place, args);
        assert_eq!(ended.status, Some(0), "{args:?}: {}", ended.describe());
    }

    fn init(&self, place: &Path) {
        if self.scene.has_parts() {
            let parts = PARTS.to_string();
            self.run(place, &["cluster", "init", "disk/bank", "--banks", &parts]);
        } else {
            self.run(place, &["init", "disk/bank"]);
        }
    }

    /// A disk with a bank of three small batches and a refresh after the first one.
    fn base(&self) -> PathBuf {
        let place = self.begin("base");
        let ingest = |file: &str| {
            let file = format!("../in/{file}");
            self.run(
                &place,
                &["ingest", "disk/bank", &file, "--as-of", "2026-01-01"],
            );
        };
        self.init(&place);
        ingest("crawl/day-000.jsonl.zst");
        let refresh = [
            "refresh",
            "disk/bank",
            "--method",
            "cores",
            "--within",
            "0",
            "--seeds",
            "5",
        ];
        self.run(&place, &refresh);
        ingest("forgotten.jsonl");
        ingest("crawl/day-001.jsonl.zst");
        place.join(DISK)
    }

    fn bulk_base(&self) -> PathBuf {
        let place = self.begin("bulk-base");
        self.init(&place);
        let day = "../in/large/day-000.jsonl.zst";
        self.run(&place, &["ingest", "disk/bank", day]);
        place.join(DISK)
    }

    /// The same disk with a backup of the bank.
    fn with_backup(&self, base: &Path) -> PathBuf {
        let place = self.place.join("stored");
        fs::create_dir(&place).unwrap();
        copy(base, &place.join(DISK));
        self.run(&place, &["backup", "disk/bank", self.scene.backups().0]);
        place.join(DISK)
    }

    /// The same disk with one state of the bank, or of its last part, damaged.
    fn damaged(&self, base: &Path, state: &str) -> PathBuf {
        let place = self.place.join(format!("damaged-{state}"));
        fs::create_dir(&place).unwrap();
        copy(base, &place.join(DISK));
        let mut bank = place.join(DISK).join("bank");
        if self.scene.has_parts() {
            bank = part(&bank, PARTS - 1);
        }
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
