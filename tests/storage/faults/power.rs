//! Power cuts: a command runs on a file system of its own, in an image on a loop device. At a call of one of its
//! processes all are stopped, and the image is copied: it has what reached the disk, and nothing else. The copy is
//! mounted, which replays its journal, and the bank is judged as after a kill.
//!
//! The file system writes its journal only for a sync, so whatever was not synced is lost.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

use super::injector::{DISK, Ended, Injector, Point};
use super::processes::divide;
use super::scenes::{Operation, Scene};
use super::state::State;
use crate::support::folders::copy;

/// The extension of the image beside the disk of an operation.
const IMAGE: &str = "img";

/// The size of an image, of which only what is written takes space.
const IMAGE_BYTES: u64 = 256 << 20;

/// Runs a program of the system; returns whether it succeeded.
fn system(program: &str, args: &[&str]) -> bool {
    let output = Command::new(program).args(args).output();
    output.is_ok_and(|output| output.status.success())
}

/// A file system in an image that is mounted until the value is dropped.
struct Mounted(PathBuf);

impl Mounted {
    fn new(image: &Path, folder: &Path) -> Option<Self> {
        let (image, at) = (image.to_str()?, folder.to_str()?);
        fs::create_dir_all(folder).ok()?;
        system("mount", &["-o", "loop,commit=300", image, at]).then(|| Self(folder.to_owned()))
    }

    /// Writes everything to the image.
    fn sync(&self) {
        assert!(system("sync", &["-f", self.0.to_str().unwrap()]));
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let folder = self.0.to_str().unwrap();
        // A process that was killed may still be ending.
        let is_done = (0..100).any(|_| {
            std::thread::sleep(Duration::from_millis(5));
            system("umount", &[folder])
        });
        assert!(is_done, "{folder} cannot be unmounted");
    }
}

/// Makes an image of the disk of an operation; `None` if file systems cannot be made or mounted here.
pub fn prepare(operation: &Operation) -> Option<()> {
    let folder = &operation.before;
    let image = folder.with_extension(IMAGE);
    fs::File::create(&image).ok()?.set_len(IMAGE_BYTES).ok()?;
    if !system("mkfs.ext4", &["-q", "-F", image.to_str()?]) {
        return None;
    }
    let at = folder.with_extension("mounted");
    let mounted = Mounted::new(&image, &at)?;
    // `cp -a` keeps hard links, and the folder of the file system exists.
    let from = format!("{}/.", folder.to_str()?);
    assert!(system("cp", &["-a", &from, at.to_str()?]));
    drop(mounted);
    Some(())
}

/// Whether a process is stopped, as `/proc` shows it.
fn is_stopped(child: &Child) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", child.id()));
    stat.is_ok_and(|stat| {
        stat.rsplit(") ")
            .next()
            .is_some_and(|rest| rest.starts_with('T'))
    })
}

fn copy_image(from: &Path, to: &Path) {
    let [from, to] = [from, to].map(|path| path.to_str().unwrap());
    assert!(system("cp", &["--sparse=always", from, to]));
}

/// Runs an operation on a disk that is an image, and cuts the power at the point, where a process stops, or else after
/// the command. Leaves in `place` what is on the disk then.
pub fn cut(
    injector: &Injector,
    operation: &Operation,
    place: &Path,
    (victim, point): (usize, &Point),
) -> Vec<Ended> {
    let (disk, args) = (place.join(DISK), operation.args());
    let processes = operation.scene.processes();
    let [running, after] = ["running.img", "cut.img"].map(|name| place.join(name));
    copy_image(&operation.before.with_extension(IMAGE), &running);
    let mounted = Mounted::new(&running, &disk).unwrap();
    divide(&disk, processes);
    mounted.sync();
    let mut children = injector.start(place, &args, processes, Some((victim, point)));
    while !is_stopped(&children[victim]) && children[victim].try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let is_cut = is_stopped(&children[victim]);
    // Otherwise the power is cut after all processes have ended.
    for child in &mut children {
        if !is_cut {
            child.wait().unwrap();
        } else if child.try_wait().unwrap().is_none() {
            assert!(system("kill", &["-STOP", &child.id().to_string()]));
        }
    }
    copy_image(&running, &after);
    for child in &mut children {
        // It may have ended.
        let _ = child.kill();
    }
    let ended = injector.wait(place, &args, children);
    drop(mounted);
    fs::remove_dir(&disk).unwrap();
    let at = place.join("cut");
    let mounted = Mounted::new(&after, &at).unwrap();
    fs::remove_dir(at.join("lost+found")).unwrap();
    copy(&at, &disk);
    drop(mounted);
    for path in [running, after] {
        fs::remove_file(path).unwrap();
    }
    divide(&disk, 1);
    ended
}

/// Whether a cut after a command whose syncs do nothing loses what the command acknowledged. If not, the cuts prove
/// nothing.
pub fn loses_what_is_not_synced(
    injector: &Injector,
    operations: &[Operation],
    place: &Path,
) -> bool {
    let is_it =
        |operation: &&Operation| operation.scene == Scene::Plain && operation.name == "ingest";
    let operation = operations.iter().find(is_it).unwrap();
    let point = Point {
        kind: "sync",
        number: 1,
        mode: "skip",
        error: 0,
    };
    fs::create_dir(place).unwrap();
    let ended = cut(injector, operation, place, (0, &point)).remove(0);
    assert_eq!(ended.status, Some(0), "{}", ended.describe());
    let left = State::read(&place.join(DISK).join(operation.bank()));
    left.ok().as_ref() != Some(&operation.states[1])
}
