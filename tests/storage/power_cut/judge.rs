//! What a bank must be after a power cut.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::fs;
use std::path::{Path, PathBuf};

use seedbank_store::{Key, Reader, StoreError, Table, Value, tables};

use super::disk::{self, Listing, materialise};
use crate::support::command::clean;

/// Everything that readers can see of a bank, table by table.
#[derive(Clone, PartialEq)]
pub struct Answers {
    tables: BTreeMap<&'static str, Vec<String>>,
    refreshes: u32,
}

/// All entries of a table as text.
fn entries<K: Key + Debug, V: Value + Debug>(
    reader: &Reader,
    table: &Table<K, V>,
) -> Result<(&'static str, Vec<String>), StoreError> {
    let entries = reader.scan(table)?;
    let entries: Result<_, _> = entries
        .map(|entry| entry.map(|entry| format!("{entry:?}")))
        .collect();
    Ok((table.name, entries?))
}

/// Removes the number after each of these words, since it differs between two runs.
fn without_times(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    for word in [" at: ", " seconds: "] {
        let Some((before, after)) = rest.split_once(word) else {
            continue;
        };
        kept += before;
        rest = after.trim_start_matches(|c: char| c != ',' && c != ' ');
    }
    kept + rest
}

impl Answers {
    /// What the published state holds.
    pub fn of(bank: &Path) -> Result<Self, StoreError> {
        let reader = &Reader::open(bank)?;
        Ok(Self {
            tables: BTreeMap::from([
                entries(reader, &tables::SITES)?,
                entries(reader, &tables::PAGES)?,
                entries(reader, &tables::INTRA)?,
                entries(reader, &tables::ROWS)?,
                entries(reader, &tables::ROW_MEMBERS)?,
                entries(reader, &tables::CITERS)?,
                entries(reader, &tables::BATCHES)?,
                entries(reader, &tables::PLANS)?,
                entries(reader, &tables::REFRESHES)?,
                entries(reader, &tables::CORES)?,
                entries(reader, &tables::CORE_SCORES)?,
                entries(reader, &tables::COVERS)?,
                entries(reader, &tables::PAGE_SETS)?,
                entries(reader, &tables::SEEDS)?,
                entries(reader, &tables::CORE_MEMBERS)?,
            ]),
            refreshes: reader.counters()?.refresh,
        })
    }

    /// The first table in which two runs of a command differ; `None` if they do not.
    fn differs(&self, other: &Self) -> Option<&'static str> {
        let same = |one: &[String], other: &[String]| {
            let both = one.iter().zip(other);
            let mut both = both.map(|(one, other)| (without_times(one), without_times(other)));
            one.len() == other.len() && both.all(|(one, other)| one == other)
        };
        let mut tables = self.tables.iter();
        let found = tables.find(|(table, entries)| !same(entries, &other.tables[*table]));
        found.map(|(table, _)| *table)
    }

    /// What another refresh of the same state leaves as it is, and what it finds again: pages,
    /// batches, and the seeds of the last refresh. How long they have been seeds may differ, since
    /// what was stored and not published is not built upon.
    fn lasting(&self) -> (&[String], &[String], Vec<&str>) {
        let last = format!("(({}, ", self.refreshes);
        let seeds = self.tables["seeds"].iter();
        let seeds = seeds.filter_map(|seed| seed.strip_prefix(&last)?.split(", evidence").next());
        (
            &self.tables["pages"],
            &self.tables["batches"],
            seeds.collect(),
        )
    }
}

/// Commands on one bank that were traced, one after another.
pub struct Story {
    pub name: &'static str,
    /// The bank, below the traced folder.
    pub bank: &'static str,
    pub commands: Vec<Vec<&'static str>>,
    /// What the bank answers before the first command and after each one; `None` where it is not a
    /// bank.
    pub answers: Vec<Option<Answers>>,
    /// The state of the bank before the first command.
    pub begins: Begins,
}

/// How a story begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Begins {
    /// With a sound bank, or with none.
    Sound,
    /// The first command had been cut off before: its result may come to light at any time.
    Unfinished,
    /// Damaged: until the first command has ended it answers like a sound bank, or not at all.
    Damaged,
}

/// A power cut.
pub struct Cut {
    /// How many commands had ended with status 0.
    pub acknowledged: usize,
    /// Whether the next command had begun to change anything.
    pub is_within: bool,
    /// Whether names reached the disk in the order in which they were made.
    pub in_order: bool,
    /// What is on disk.
    pub found: Listing,
}

/// The state of a bank after a power cut.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Outcome {
    /// There is no bank yet, and `init` makes one.
    NoBank,
    /// Readers see what was acknowledged.
    AsBefore,
    /// Readers see what the command that was cut off would have left.
    AsAfter,
}

/// The folder that stands for the disk, in a place where commands run.
pub const DISK: &str = "disk";

/// A command that runs in a place, with the bank as first argument.
pub fn command(place: &Path, bank: &str, args: &[&str]) -> std::process::Command {
    let mut command = clean(env!("CARGO_BIN_EXE_seedbank"));
    command.current_dir(place).arg(args[0]);
    command.arg(Path::new(DISK).join(bank)).args(&args[1..]);
    command
}

fn run(place: &Path, bank: &str, args: &[&str]) -> Result<(), String> {
    let ended = command(place, bank, args).output().unwrap();
    let (out, err) = (
        String::from_utf8_lossy(&ended.stdout),
        String::from_utf8_lossy(&ended.stderr),
    );
    if ended.status.success() && !err.contains("panicked") {
        return Ok(());
    }
    Err(format!(
        "{args:?} then ends with {}: {out}{err}",
        ended.status
    ))
}

/// Whether a database names a MANIFEST that is not there: RocksDB renames the file that names it
/// into its place before the name of the MANIFEST is synced, and so relies on the order of names.
/// `repair` then takes what is published, which is everything that was acknowledged.
fn is_misled(live: &Path) -> bool {
    let current = fs::read_to_string(live.join("CURRENT"));
    current.is_ok_and(|name| !live.join(name.trim_end()).exists())
}

impl Story {
    /// Recreates the disk in `place` and looks at the bank; the error says what is wrong.
    pub fn judge(&self, cut: &Cut, place: &Path) -> Result<Outcome, String> {
        let disk = place.join(DISK);
        if disk.exists() {
            fs::remove_dir_all(&disk).unwrap();
        }
        materialise(&cut.found, &disk);
        let bank: PathBuf = disk.join(self.bank);
        let next = self.commands.get(cut.acknowledged);
        let before = &self.answers[cut.acknowledged];
        let begins = match cut.acknowledged {
            0 => self.begins,
            _ => Begins::Sound,
        };
        let is_open = cut.is_within || begins == Begins::Unfinished;
        let after = self.answers.get(cut.acknowledged + 1).filter(|_| is_open);

        if before.is_none() && !bank.join("SEEDBANK").exists() {
            run(place, self.bank, &["init"])?;
            run(place, self.bank, &["check"])?;
            let made = Answers::of(&bank).map_err(|e| format!("what init made: {e}"))?;
            return match &self.answers[1] {
                Some(bank) if bank.differs(&made).is_none() => Ok(Outcome::NoBank),
                _ => Err("what init made is not an empty bank".to_owned()),
            };
        }
        if let (Begins::Damaged, Some(args)) = (begins, next) {
            if Answers::of(&bank).is_ok_and(|read| Some(&read) != before.as_ref()) {
                return Err("a reader sees what never was acknowledged".to_owned());
            }
            self.again(cut.acknowledged, args, place)?;
            return Ok(Outcome::AsBefore);
        }
        let look = |when: &str| {
            let read = Answers::of(&bank).map_err(|e| format!("a reader {when}: {e}"))?;
            if Some(&read) == before.as_ref() {
                return Ok(Outcome::AsBefore);
            }
            if after.is_some_and(|after| Some(&read) == after.as_ref()) {
                return Ok(Outcome::AsAfter);
            }
            Err(format!("a reader {when} sees what never was acknowledged"))
        };
        let outcome = look("at first")?;
        if !cut.in_order && is_misled(&bank.join("live")) {
            run(place, self.bank, &["repair"])?;
        }
        let published = disk::listing(&bank.join("published"));
        run(place, self.bank, &["check"])?;
        if disk::listing(&bank.join("published")) != published && look("after check")? < outcome {
            return Err("a reader sees less after check".to_owned());
        }
        if let Some(args) = next.filter(|args| args[0] != "init") {
            self.again(cut.acknowledged, args, place)?;
        }
        Ok(outcome)
    }

    /// Runs the command that was cut off again; it must end like an undisturbed one.
    fn again(&self, acknowledged: usize, args: &[&str], place: &Path) -> Result<(), String> {
        run(place, self.bank, args)?;
        run(place, self.bank, &["check"])?;
        let bank = place.join(DISK).join(self.bank);
        let read = Answers::of(&bank).map_err(|e| format!("a reader of the second run: {e}"))?;
        let Some(expected) = &self.answers[acknowledged + 1] else {
            return Ok(());
        };
        if args[0] == "refresh" && read.refreshes != expected.refreshes {
            // The first run had been stored, so this one is another refresh of the same state.
            let same = read.lasting() == expected.lasting();
            return same
                .then_some(())
                .ok_or_else(|| "a further refresh differs".to_owned());
        }
        match read.differs(expected) {
            None => Ok(()),
            Some(table) => Err(format!(
                "{args:?} leaves other {table} than an undisturbed run"
            )),
        }
    }
}
