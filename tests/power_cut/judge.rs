//! What a bank must be after a power cut.

use std::fs;
use std::path::{Path, PathBuf};

use seedbank::engine::{Bank, EngineError, Which};
use serde_json::{Value, json};

use super::command::clean;
use super::disk::{Listing, materialise};

/// All that a bank tells of itself, but for what its tables take on disk.
#[derive(Clone, PartialEq, Debug)]
pub struct Answers {
    told: Value,
    /// The same without times, and in the order of refreshes the URLs of their seeds.
    seeds: Vec<Value>,
}

impl Answers {
    pub fn of(bank: &Path) -> Result<Self, EngineError> {
        let bank = Bank::at(bank);
        let mut status = serde_json::to_value(bank.status()?).unwrap();
        for on_disk in ["tables", "compacted", "link_bits"] {
            status.as_object_mut().unwrap().remove(on_disk);
        }
        let mut pages = Vec::new();
        bank.pages(|page| {
            pages.push(page);
            Ok::<_, EngineError>(())
        })?;
        let history = bank.history()?;
        let mut evidence = Vec::new();
        let mut urls = Vec::new();
        for refresh in &history.refreshes {
            let which = Which {
                plan: None,
                refresh: Some(refresh.refresh),
            };
            let seeds = bank.seeds(&which)?;
            urls.push(seeds.iter().map(|seed| seed.url.clone()).collect());
            let mut cores = Vec::new();
            bank.cores(&which, |core| {
                cores.push(core);
                Ok::<_, EngineError>(())
            })?;
            evidence.push(json!([seeds, cores]));
        }
        Ok(Self {
            told: json!({"status": status, "pages": pages, "history": history, "evidence": evidence}),
            seeds: urls,
        })
    }

    /// The same without what differs between two runs of a command.
    fn without_times(&self) -> Value {
        fn strip(value: &mut Value) {
            match value {
                Value::Object(object) => {
                    for time in ["at", "seconds"] {
                        object.remove(time);
                    }
                    object.values_mut().for_each(strip);
                }
                Value::Array(array) => array.iter_mut().for_each(strip),
                _ => {}
            }
        }
        let mut told = self.told.clone();
        strip(&mut told);
        told
    }

    fn refreshes(&self) -> &Value {
        &self.told["status"]["refreshes"]
    }
}

/// Commands on one bank that were traced, one after another.
pub struct Story {
    pub name: &'static str,
    /// The bank, below the folder that was traced.
    pub bank: &'static str,
    pub commands: Vec<Vec<&'static str>>,
    /// What the bank answers before the first command and after each; `None` where it is no bank.
    pub answers: Vec<Option<Answers>>,
    /// Before the first command the bank may answer as after it: it was cut off before.
    pub is_recovery: bool,
}

/// A power cut.
pub struct Cut {
    /// So many commands had ended with status 0.
    pub acknowledged: usize,
    /// Whether the next one had begun to change anything.
    pub is_within: bool,
    /// What is on disk.
    pub found: Listing,
}

/// How a bank came out of a power cut.
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

impl Story {
    /// Brings the disk to life in `place` and looks at the bank; what is wrong is the error.
    pub fn judge(&self, cut: &Cut, place: &Path) -> Result<Outcome, String> {
        let disk = place.join(DISK);
        if disk.exists() {
            fs::remove_dir_all(&disk).unwrap();
        }
        materialise(&cut.found, &disk);
        let bank: PathBuf = disk.join(self.bank);
        let next = self.commands.get(cut.acknowledged);
        let before = &self.answers[cut.acknowledged];
        let is_open = cut.is_within || self.is_recovery && cut.acknowledged == 0;
        let after = self.answers.get(cut.acknowledged + 1).filter(|_| is_open);

        if before.is_none() && !bank.join("SEEDBANK").exists() {
            run(place, self.bank, &["init"])?;
            run(place, self.bank, &["check"])?;
            let made = Answers::of(&bank).map_err(|e| format!("what init made: {e}"))?;
            return match &self.answers[1] {
                Some(bank) if bank.without_times() == made.without_times() => Ok(Outcome::NoBank),
                _ => Err("what init made is not an empty bank".to_owned()),
            };
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
        run(place, self.bank, &["check"])?;
        let checked = look("after check")?;
        if checked < outcome {
            return Err("a reader sees less after check".to_owned());
        }
        if let Some(args) = next.filter(|args| args[0] != "init") {
            self.again(cut.acknowledged, args, place)?;
        }
        Ok(outcome)
    }

    /// Runs the command that was cut off again; it must end as an undisturbed one.
    fn again(&self, acknowledged: usize, args: &[&str], place: &Path) -> Result<(), String> {
        run(place, self.bank, args)?;
        run(place, self.bank, &["check"])?;
        let bank = place.join(DISK).join(self.bank);
        let read = Answers::of(&bank).map_err(|e| format!("a reader of the second run: {e}"))?;
        let Some(expected) = &self.answers[acknowledged + 1] else {
            return Ok(());
        };
        let is_repeated = args[0] == "refresh" && read.refreshes() != expected.refreshes();
        if is_repeated {
            // The first run had been stored: this one is a further refresh, with the same seeds.
            let same = read.seeds.last() == expected.seeds.last()
                && read.told["pages"] == expected.told["pages"];
            return same.then_some(()).ok_or_else(|| "other seeds".to_owned());
        }
        if read.without_times() == expected.without_times() {
            return Ok(());
        }
        Err(format!("{args:?} does not end as an undisturbed run"))
    }
}
