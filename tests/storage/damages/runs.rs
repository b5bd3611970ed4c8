//! Runs the questions to a damaged bank in processes of their own, each with a time limit: an abort
//! or a hang ends only that process, and is seen.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::asking::{self, Answers};
use crate::support::command::clean;

/// How long a process may take, in seconds, before it counts as hanging.
const BOUND: &str = "100";

/// How a process ended.
#[derive(Debug)]
pub struct Ended {
    /// Its exit status; `None` where a signal ended it, or where it hung.
    pub status: Option<i32>,
    pub out: String,
    pub err: String,
}

fn bounded(program: &Path) -> Command {
    let mut command = clean("timeout");
    command.args(["-s", "KILL", BOUND]).arg(program);
    command
}

fn run(command: &mut Command) -> Ended {
    let output = command.output().expect("`timeout` is there");
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    let err = text(&output.stderr);
    // `timeout` reports a signal with the status that a shell would give.
    let status = output
        .status
        .code()
        .filter(|status| *status < 132 && !err.contains("panicked"));
    Ended {
        status,
        out: text(&output.stdout),
        err,
    }
}

/// The command, in this folder.
pub fn seedbank<S: AsRef<std::ffi::OsStr>>(place: &Path, args: &[S]) -> Ended {
    let mut command = bounded(Path::new(env!("CARGO_BIN_EXE_seedbank")));
    run(command.args(args).arg("--threads=1").current_dir(place))
}

/// The name, within this program, of the test that [`answer`]s.
const ANSWERS: &str = "damages::answers";

/// Tells that test that it was started to [`answer`].
const ASKED: &str = "DAMAGES_ASKED";

/// Asks a bank everything through the library, in a process of its own; where there are no answers,
/// the error says how that process ended.
pub fn ask(bank: &Path, questions: &[String]) -> Result<Answers, String> {
    let paper = bank.with_extension("questions");
    fs::write(&paper, serde_json::to_string(&(bank, questions)).unwrap()).unwrap();
    let mut command = bounded(&std::env::current_exe().unwrap());
    command
        .args(["--exact", ANSWERS, "--nocapture"])
        .env(ASKED, &paper);
    let ended = run(&mut command);
    let answers = fs::read_to_string(&paper).unwrap();
    fs::remove_file(paper).unwrap();
    match (ended.status, serde_json::from_str(&answers)) {
        (Some(0), Ok(answers)) => Ok(answers),
        _ => Err(format!("{:?}: {}", ended.status, ended.err)),
    }
}

/// Answers [`ask`], if that started this process.
pub fn answer() {
    let Some(paper) = std::env::var_os(ASKED) else {
        return;
    };
    let text = fs::read_to_string(&paper).unwrap();
    let (bank, questions): (std::path::PathBuf, Vec<String>) = serde_json::from_str(&text).unwrap();
    let answers = asking::ask(&bank, &questions);
    fs::write(&paper, serde_json::to_string(&answers).unwrap()).unwrap();
}
