//! One case: a command is interrupted at a call, a file that it left is damaged, and the bank is
//! judged.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::damage;
use super::findings::Findings;
use super::injector::{DISK, Ended, Injector, Point};
use super::judge::Judged;
use super::scenes::{Kind, Scene, WRITERS};
use super::state::State;
use crate::support::folders::copy;

/// The kinds of calls.
pub const KINDS: [&str; 7] = [
    "write", "sync", "rename", "link", "unlink", "create", "size",
];

/// Kinds by which a bulk load comes to be: every call of them is struck.
const DENSE: [&str; 4] = ["sync", "rename", "link", "unlink"];

const EIO: i32 = 5;
const ENOSPC: i32 = 28;
const EDQUOT: i32 = 122;

/// The result of a case.
pub struct Case {
    pub number: u64,
    pub scene: &'static str,
    pub point: Point,
    /// The call that was struck, and its path; `None` where it did not come to that.
    pub struck: Option<String>,
    /// The damage that was done; `None` where nothing was damaged.
    pub damage: Option<String>,
    /// How the interrupted command ended.
    pub ended: String,
    pub found: Findings,
}

impl Case {
    /// What the case is, for people.
    pub fn told(&self) -> String {
        format!(
            "case {}: {}: {} ({}), {}; damage: {}",
            self.number,
            self.scene,
            self.point,
            self.struck.as_deref().unwrap_or("it did not come to that"),
            self.ended,
            self.damage.as_deref().unwrap_or("none"),
        )
    }

    /// Prints what must not happen, with the case.
    pub fn tell(&self) {
        for (class, what) in &self.found.0 {
            let begin: String = what.chars().take(600).collect();
            eprintln!("{}\n  {class}: {begin}", self.told());
        }
    }
}

/// The scene and the point of the case of this number: two of five are of the first scene, whose
/// calls are struck one after another.
fn drawn<'a>(scenes: &'a [Scene], number: u64, rng: &mut Pcg64Mcg) -> (&'a Scene, Point) {
    let (round, turn) = (number / 5, number % 5);
    let scene = if turn < 2 {
        &scenes[0]
    } else {
        let others = scenes.len() as u64 - 1;
        &scenes[1 + usize::try_from((3 * round + turn - 2) % others).unwrap()]
    };
    let count = |kind: &str| scene.counts.get(kind).copied().unwrap_or(0);
    if turn == 0 {
        return (scene, dense(scene, round));
    }
    let there: Vec<&'static str> = KINDS.into_iter().filter(|kind| count(kind) > 0).collect();
    let kind = there[rng.random_range(0..there.len())];
    let number = rng.random_range(1..=count(kind));
    let modes: &[&str] = match kind {
        "write" => &["kill", "once", "later", "short"],
        _ => &["kill", "once", "later"],
    };
    let mode = modes[rng.random_range(0..modes.len())];
    let error = match kind {
        "sync" | "unlink" if rng.random_bool(0.8) => EIO,
        _ => [EIO, ENOSPC, EDQUOT][rng.random_range(0..3)],
    };
    let point = Point {
        kind,
        number,
        mode,
        error,
    };
    (scene, point)
}

/// The calls of the scene that are struck one after another, in steps that spread over all of them.
fn dense(scene: &Scene, round: u64) -> Point {
    let mut all = Vec::new();
    for kind in DENSE {
        for number in 1..=scene.counts.get(kind).copied().unwrap_or(0) {
            for mode in ["kill", "once", "later"] {
                all.push(Point {
                    kind,
                    number,
                    mode,
                    error: EIO,
                });
            }
        }
    }
    // A step that has no divisor in common with the count comes by every one.
    let count = all.len() as u64;
    let gcd = |mut a: u64, mut b: u64| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let step = (count * 618 / 1000..count)
        .find(|step| gcd(*step, count) == 1)
        .unwrap();
    all.swap_remove(usize::try_from(round * step % count).unwrap())
}

struct Run<'a> {
    injector: &'a Injector,
    scene: &'a Scene,
    place: &'a Path,
    rng: Pcg64Mcg,
    damage: Option<String>,
}

impl<'a> Run<'a> {
    /// Damages a file with one of these paths, but for one case in ten; returns whether it did.
    fn damage(&mut self, open: impl Fn(&str) -> bool) -> bool {
        if self.rng.random_bool(0.1) {
            return false;
        }
        let disk = self.place.join(DISK);
        let mut strike = || damage::strike(&mut self.rng, &disk, &self.scene.before, &open);
        // What was drawn may change nothing.
        let done = (0..10).find_map(|_| strike());
        self.damage = done.map(|(path, done)| format!("{} {done}", path.display()));
        self.damage.is_some()
    }

    /// Judges the bank as it was left, with what the command that ended so may have come to.
    fn judged(&self, ended: &Ended, found: Findings) -> Judged<'a> {
        let is_new = matches!(self.scene.kind, Kind::Makes(_));
        // What could not be acknowledged may be lost, and no reader knows of it.
        let said = |disk: &Path| fs::read(disk.join(self.scene.bank()).join("ACKNOWLEDGED")).ok();
        let is_acknowledged = said(&self.place.join(DISK)) != said(&self.scene.before);
        let is_told = ended.err.contains("the change is stored") && is_acknowledged;
        let is_stored = ended.status == Some(0) || is_told;
        Judged {
            injector: self.injector,
            scene: self.scene,
            place: self.place,
            now: BTreeSet::from(if is_stored || is_new { [1, 1] } else { [0, 1] }),
            is_damaged: false,
            may_be_older: false,
            is_sound: self.scene.kind != Kind::Mends
                && (ended.was_killed() || ended.status == Some(0)),
            found,
        }
    }

    fn bank(&mut self, ended: &Ended, found: Findings) -> Findings {
        let mut judged = self.judged(ended, found);
        judged.look("before any damage");
        judged.is_damaged = self.damage(|path| path.starts_with("bank/"));
        // Then only the live database knows of what was stored and not published, as after a kill
        // before it was acknowledged.
        let damage = self.damage.as_deref().unwrap_or_default();
        judged.may_be_older = damage == "bank/ACKNOWLEDGED as before the command";
        judged.go_on(self.rng.random_range(0..WRITERS));
        judged.found
    }

    /// A new bank is whole or not there; the same command finishes it, or says what is in the way.
    fn made(&mut self, source: &str, ended: &Ended, found: Findings) -> Findings {
        let new = self.place.join(DISK).join("new");
        let mut judged = self.judged(ended, found);
        let is_there = || new.join("SEEDBANK").is_file();
        if is_there() || ended.status == Some(0) {
            judged.look("before any damage");
        }
        let of_source = self.rng.random_bool(0.2);
        let within = format!("{source}/");
        let is_damaged = self.damage(|path| path.starts_with(&within) == of_source);
        judged.is_damaged = is_damaged && !of_source;
        if is_there() {
            judged.go_on(0);
        } else {
            let again = self.injector.run(self.place, &self.scene.args());
            let allowed: &[i32] = if is_damaged { &[0, 2, 4] } else { &[0] };
            judged
                .found
                .status("the same command ended badly", &again, allowed);
            if again.status == Some(0) {
                judged.look("after the same command");
            }
        }
        let mut other = self.scene.args();
        for arg in &mut other {
            if *arg == "disk/new" {
                *arg = "disk/other";
            }
        }
        let ended = self.injector.run(self.place, &other);
        // A new bank has links to the tables of the one that it is made of.
        let bank = State::read(&self.place.join(DISK).join("bank"));
        let is_bank = bank.is_ok_and(|state| state == self.scene.states[0]);
        let is_source_damaged = is_damaged && of_source || !is_bank;
        let allowed: &[i32] = if is_source_damaged { &[0, 4] } else { &[0] };
        let class = "the source cannot be used any more";
        judged.found.status(class, &ended, allowed);
        if ended.status == Some(0) {
            let made = State::read(&self.place.join(DISK).join("other"));
            if is_bank && made.as_ref().ok() != Some(&self.scene.states[1]) {
                judged
                    .found
                    .find("another state is made", format!("{made:?}"));
            }
        }
        judged.found
    }

    /// Backups that are there stay, the bank is not touched, and the next backup is whole.
    fn backed_up(&mut self, mut found: Findings) -> Findings {
        let is_damaged = self.damage(|path| path.starts_with("b/"));
        let again = self.injector.run(self.place, &self.scene.args());
        // A folder without its marker is none of backups.
        let allowed: &[i32] = if is_damaged { &[0, 2, 4] } else { &[0] };
        found.status("the next backup ended badly", &again, allowed);
        let restored = self
            .injector
            .run(self.place, &["restore", "disk/b", "disk/new"]);
        found.status("`restore` ended badly", &restored, allowed);
        for (ended, bank) in [(Some(0), "bank"), (restored.status, "new")] {
            let state = State::read(&self.place.join(DISK).join(bank));
            if ended == Some(0) && state.as_ref().ok() != Some(&self.scene.states[1]) {
                found.find("another state", format!("{bank}: {state:?}"));
            }
        }
        found
    }
}

/// Runs the case of this number in a folder that is made for it.
pub fn run(injector: &Injector, scenes: &[Scene], number: u64, place: &Path) -> Case {
    let mut rng = Pcg64Mcg::seed_from_u64(number);
    let (scene, point) = drawn(scenes, number, &mut rng);
    fs::create_dir(place).unwrap();
    copy(&scene.before, &place.join(DISK));
    let ended = injector.strike(place, &scene.args(), Some(&point));
    let mut found = Findings::default();
    let was_killed = point.mode == "kill" && ended.was_killed();
    if !was_killed {
        found.status("the command ended badly", &ended, &[0, 1, 4]);
    }
    let mut run = Run {
        injector,
        scene,
        place,
        rng,
        damage: None,
    };
    let found = match scene.kind {
        Kind::Bank | Kind::Mends => run.bank(&ended, found),
        Kind::Makes(source) => run.made(source, &ended, found),
        Kind::BacksUp => run.backed_up(found),
    };
    let struck = ended.struck();
    Case {
        number,
        scene: scene.name,
        struck: struck.map(|call| call.path.clone()),
        damage: run.damage,
        ended: match ended.status {
            Some(status) => format!("status {status}"),
            None => "killed".to_owned(),
        },
        point,
        found,
    }
}
