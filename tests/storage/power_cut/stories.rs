//! What is done to banks while the power may be cut.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use seedbank::synth::{SynthOptions, generate};
use seedbank::watch::Unwatched;

use super::disk::{Disk, Kept, Listed, Listing, listing, materialise};
use super::judge::{Answers, Begins, DISK, Story, command};
use super::trace::{Event, Tracer};
use crate::support::command::{TWO_CORES, record};

/// A story with the trace of its commands.
pub struct Traced {
    pub story: Story,
    /// What was on the disk at the beginning.
    pub disk: Disk,
    pub events: Vec<Event>,
}

const BULK: &[&str] = &["ingest", "../days/day-000.jsonl.zst", "--memory", "1M"];

/// The disk before the bulk load, what the load does to it, and the bank's answers before it.
fn bulk_load(traced: &Traced) -> (Disk, &[Event], Vec<Option<Answers>>) {
    let mut commands = traced.story.commands.iter();
    let load = commands.position(|args| args == BULK).unwrap();
    let mut parts = traced
        .events
        .split(|event| matches!(event, Event::Acknowledged));
    let mut disk = traced.disk.clone();
    for event in parts.by_ref().take(load).flatten() {
        disk.apply(event);
    }
    let answers = vec![traced.story.answers[load].clone()];
    (disk, parts.next().unwrap(), answers)
}

/// Each begins with the folders that commands run in, beside their inputs.
pub struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    pub fn new() -> Self {
        let memory = Path::new("/dev/shm");
        let folder = tempfile::tempdir_in(memory).or_else(|_| tempfile::tempdir());
        let place = Self {
            folder: folder.unwrap(),
        };
        let write = |name: &str, text: &str| fs::write(place.path().join(name), text).unwrap();
        write("snapshot.jsonl", TWO_CORES);
        let delta = |day: u32| {
            let page = |n: u32| format!("http://h{n}.day{day}.example/");
            (1..4)
                .map(|n| {
                    record(
                        &page(n),
                        &["http://a1.example/", &page(n + 1), &page(n + 2)],
                    )
                })
                .collect::<String>()
        };
        write("delta-1.jsonl", &delta(1));
        write("delta-2.jsonl", &(delta(2) + "not a record\n"));
        place
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The traced stories; `None` where there is no C compiler.
    pub fn tell(&self, long: bool) -> Option<Vec<Traced>> {
        let first: &[&[&str]] = &[
            &["init"],
            // As of a day, so that every run leads to the same state.
            &[
                "ingest",
                "../snapshot.jsonl",
                "--snapshot",
                "--as-of",
                "2026-01-01",
            ],
            &["ingest", "../delta-1.jsonl", "--as-of", "2026-01-02"],
            &[
                "refresh", "--method", "cores", "--within", "0", "--seeds", "3",
            ],
        ];
        let nothing = Listing::new();
        let there = Listing::from([("bank".to_owned(), Listed::Folder)]);
        let in_place = "a bank in a folder that was there";
        if !long {
            return Some(vec![
                self.run("a new bank", "bank", &nothing, first)?,
                self.run(in_place, "bank", &there, &first[..1])?,
            ]);
        }
        let options = SynthOptions {
            days: 1,
            rng_seed: 5,
            // Many, so that the delta is large enough for a bulk load.
            changed_per_day: 0.4,
            ..SynthOptions::new(500)
        };
        generate(&self.path().join("days"), &options, &Unwatched).unwrap();
        let further: &[&[&str]] = &[
            &[
                "ingest",
                "../delta-2.jsonl",
                "--as-of",
                "2026-01-03",
                "--max-rejects",
                "50",
            ],
            &[
                "refresh", "--plan", "sites", "--method", "greedy", "--keep", "1",
            ],
            BULK,
            &["refresh", "--keep", "1"],
            &["ingest", "../days/day-001.jsonl.zst", "--memory", "1M"],
            &["refresh", "--plan", "sites", "--keep", "1"],
        ];
        let commands = [first, further].concat();
        let mut all = vec![self.run("a new bank", "bank", &nothing, &commands)?];
        all.push(self.run(in_place, "bank", &there, &first[..2])?);
        let made = "a bank in folders that are made for it";
        all.push(self.run(made, "year/month/bank", &nothing, &first[..2])?);
        all.push(self.copied(&all[0])?);
        all.push(self.recovery(&all[0])?);
        all.push(self.repair(&all[0])?);
        Some(all)
    }

    /// A bank from its creation on.
    fn run(
        &self,
        name: &'static str,
        bank: &'static str,
        base: &Listing,
        commands: &[&[&'static str]],
    ) -> Option<Traced> {
        let story = Story {
            name,
            bank,
            commands: commands.iter().map(|args| args.to_vec()).collect(),
            answers: vec![None],
            begins: Begins::Sound,
        };
        self.trace(story, base)
    }

    /// The live database has lost the end of its MANIFEST, and is rebuilt from what is published.
    fn repair(&self, traced: &Traced) -> Option<Traced> {
        let mut disk = traced.disk.clone();
        for event in &traced.events {
            disk.apply(event);
        }
        let mut base = disk.after_crash(Kept::Everything);
        let manifest = base
            .iter_mut()
            .find(|(path, _)| path.starts_with("bank/live/MANIFEST-"));
        let Some((_, Listed::File { bytes, .. })) = manifest else {
            panic!("no MANIFEST");
        };
        bytes.truncate(bytes.len() - 1000);
        let story = Story {
            name: "a repair",
            bank: "bank",
            commands: vec![vec!["repair"]],
            answers: vec![traced.story.answers.last().cloned().flatten()],
            begins: Begins::Damaged,
        };
        self.trace(story, &base)
    }

    /// A bulk load into a bank that was copied without its empty folders.
    fn copied(&self, traced: &Traced) -> Option<Traced> {
        let (disk, _, answers) = bulk_load(traced);
        let mut base = disk.after_crash(Kept::Everything);
        let above = |path: &String| Some(path.rsplit_once('/')?.0.to_owned());
        let full: HashSet<String> = base.keys().filter_map(above).collect();
        base.retain(|path, listed| *listed != Listed::Folder || full.contains(path));
        assert!(!base.contains_key("bank/loads"));
        let story = Story {
            name: "a copied bank",
            bank: "bank",
            commands: vec![BULK.to_vec()],
            answers,
            begins: Begins::Sound,
        };
        self.trace(story, &base)
    }

    /// The next command after a bulk load that was cut off when part of it had been taken in: it
    /// finishes the load.
    fn recovery(&self, traced: &Traced) -> Option<Traced> {
        let (mut disk, events, answers) = bulk_load(traced);
        let mut left = 3;
        for event in events {
            disk.apply(event);
            if let Event::Remove { path } = event {
                let is_table = Path::new(path).extension().is_some_and(|end| end == "sst");
                left -= u32::from(is_table && path.contains("/loads/"));
            }
            if left == 0 {
                break;
            }
        }
        assert_eq!(left, 0, "no bulk load");
        let story = Story {
            name: "a bulk load that is finished later",
            bank: "bank",
            commands: vec![BULK.to_vec()],
            answers,
            begins: Begins::Unfinished,
        };
        self.trace(story, &disk.after_crash(Kept::Everything))
    }

    /// Runs the commands on a disk that has `base` on it.
    fn trace(&self, mut story: Story, base: &Listing) -> Option<Traced> {
        let place = self.path().join("traced");
        let folder = place.join(DISK);
        if place.exists() {
            fs::remove_dir_all(&place).unwrap();
        }
        materialise(base, &folder);
        let tracer = Tracer::build(&place, &folder)?;
        let disk = Disk::of(&folder);
        let bank = folder.join(story.bank);
        let mut listings = Vec::new();
        for args in &story.commands {
            let mut command = command(&place, story.bank, args);
            tracer.follow(&mut command);
            let ended = command.output().unwrap();
            assert!(ended.status.success(), "{args:?}: {ended:?}");
            tracer.acknowledge();
            listings.push(listing(&folder));
            story.answers.push(Some(Answers::of(&bank).unwrap()));
        }
        let events = tracer.events();
        assert!(events.len() > 10 * listings.len(), "nothing is traced");
        let mut again = disk.clone();
        let mut listings = listings.iter();
        for event in &events {
            again.apply(event);
            if matches!(event, Event::Acknowledged) {
                again.assert_is(listings.next().unwrap());
            }
        }
        eprintln!("{}: {} changes of the disk", story.name, events.len());
        Some(Traced {
            story,
            disk,
            events,
        })
    }
}
