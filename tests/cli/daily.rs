//! The script of the guide's page on the daily job, as cron runs it: over generated days, with the
//! running command killed (SIGKILL) on every third day, alone or with the script, and the script run
//! again. Every day its list equals, byte for byte, that of a bank that was never killed.
//!
//! Bug classes: a batch that is ingested twice or not at all, a lock that outlives its holder, a list
//! of another day or a partial one, a progress bar in a log. `make test-long [LONG_DAILY=30]` runs
//! more days on a larger crawl, and prints the sizes of the folders.

use std::fs;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use crate::support::command::{Ended, Place, clean, names, record};
use crate::support::skipped::skipped;
use crate::support::{real_days, scratch, shared};
use seedbank::engine::Bank;
use seedbank::synth::{SynthOptions, generate};
use seedbank::watch::Unwatched;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/daily.sh");

/// A bank with what is around it, and the job that it is called by.
struct Life {
    folder: PathBuf,
    /// How many refreshes the job keeps; all where empty.
    keep: &'static str,
}

impl Life {
    /// A bank with a snapshot and a plan.
    fn new(folder: PathBuf, keep: &'static str, snapshot: &Path) -> Self {
        let snapshot = snapshot.to_str().unwrap();
        Self::with_first(folder, keep, &["--snapshot", snapshot])
    }

    /// A bank with a first batch, ingested with these arguments, and a plan.
    fn with_first(folder: PathBuf, keep: &'static str, first: &[&str]) -> Self {
        let life = Self { folder, keep };
        fs::create_dir_all(life.path("inbox")).unwrap();
        life.by_hand(&["init", "bank"]);
        life.by_hand(&[&["ingest", "bank"], first].concat());
        life.by_hand(&[
            "refresh", "bank", "--method", "cores", "--within", "0", "--seeds", "20",
        ]);
        life
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn by_hand(&self, args: &[&str]) {
        let mut command = clean(env!("CARGO_BIN_EXE_seedbank"));
        let ended = command.args(args).current_dir(&self.folder).output();
        let ended = ended.unwrap();
        assert!(ended.status.success(), "{args:?}: {ended:?}");
    }

    /// The crawler moves a complete file to the inbox.
    fn arrives(&self, file: &Path) {
        let name = file.file_name().unwrap().to_str().unwrap();
        self.arrives_as(file, name, SystemTime::now());
    }

    /// As [`Self::arrives`], under a name and with a time of completion.
    fn arrives_as(&self, file: &Path, name: &str, completed: SystemTime) {
        let arriving = self.path("arriving");
        fs::copy(file, &arriving).unwrap();
        let open = fs::File::options().append(true).open(&arriving).unwrap();
        open.set_modified(completed).unwrap();
        fs::rename(arriving, self.path("inbox").join(name)).unwrap();
    }

    fn job(&self) -> Command {
        let bin = Path::new(env!("CARGO_BIN_EXE_seedbank")).parent().unwrap();
        let path = std::env::var("PATH").unwrap();
        let mut job = clean("sh");
        job.arg(SCRIPT)
            .env("PATH", format!("{}:{path}", bin.display()))
            .env("KEEP", self.keep)
            .env("LIMIT", "1h")
            .current_dir(&self.folder);
        for (name, value) in [
            ("BANK", "bank"),
            ("INBOX", "inbox"),
            ("SEEDS", "seeds.txt"),
            ("METRICS", "bank.prom"),
        ] {
            job.env(name, value);
        }
        job
    }

    /// Runs the job to its end.
    fn runs(&self) -> Ended {
        let output = self.job().stdin(Stdio::null()).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Ended {
            status: output.status.code(),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }

    /// Starts the job, and kills the command that it runs so long after the command has begun; with
    /// `all` the script too. Returns whether it came in time.
    fn is_killed(&self, command: &str, delay: Duration, all: bool) -> bool {
        let mut job = self.job();
        job.stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0);
        let mut script = job.spawn().unwrap();
        let Some(running) = wait_for(&mut script, command) else {
            return false;
        };
        sleep(delay);
        // A negative number is the script's group: by now it may run another command.
        let who = if all {
            format!("-{}", script.id())
        } else {
            running.to_string()
        };
        // It may have ended by itself.
        let kill = Command::new("kill")
            .args(["-9", "--", &who])
            .stderr(Stdio::null())
            .status();
        kill.unwrap();
        let status = script.wait().unwrap();
        // A killed process goes a moment after its parent, and holds the lock until then.
        let lock = fs::File::open(self.path("bank.daily-lock")).unwrap();
        lock.lock().unwrap();
        status.signal() == Some(9) || status.code() == Some(128 + 9)
    }

    fn seeds(&self) -> String {
        fs::read_to_string(self.path("seeds.txt")).unwrap()
    }

    fn metrics(&self) -> String {
        fs::read_to_string(self.path("bank.prom")).unwrap()
    }

    fn batches(&self) -> u32 {
        Bank::at(self.path("bank"))
            .status()
            .unwrap()
            .counters
            .batches
    }

    /// KiB on disk.
    fn du(&self) -> u64 {
        let du = Command::new("du")
            .arg("-sk")
            .arg(self.path("bank"))
            .output();
        let du = String::from_utf8(du.unwrap().stdout).unwrap();
        du.split_whitespace().next().unwrap().parse().unwrap()
    }
}

/// A process's parent; `None` where it has gone.
fn parent(process: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    fields.nth(1)?.parse().ok()
}

/// Waits until a script runs this command of ours; `None` where it ended before.
fn wait_for(script: &mut Child, command: &str) -> Option<u32> {
    loop {
        for name in names(Path::new("/proc")) {
            let Ok(process) = name.parse() else { continue };
            if parent(process) != Some(script.id()) {
                continue;
            }
            let line = fs::read_to_string(format!("/proc/{name}/cmdline")).unwrap_or_default();
            let mut words = line.split('\0');
            let is_ours = words.next().is_some_and(|word| word.ends_with("seedbank"));
            if is_ours && words.any(|word| word == command) {
                return Some(process);
            }
        }
        if script.try_wait().unwrap().is_some() {
            return None;
        }
    }
}

#[test]
fn a_bank_that_is_killed_comes_to_the_same_lists() {
    let long = std::env::var("LONG_DAILY").ok();
    let days: u32 = long.as_ref().map_or(6, |text| text.parse().unwrap());
    let folder = scratch();
    let options = SynthOptions {
        pages: if long.is_some() { 20_000 } else { 1_500 },
        days,
        ..SynthOptions::default()
    };
    let crawl = folder.path().join("crawl");
    generate(&crawl, &options, &Unwatched).unwrap();
    let day = |day: u32| crawl.join(format!("day-{day:03}.jsonl.zst"));
    let whole = Life::new(folder.path().join("whole"), "", &day(0));
    let killed = Life::new(folder.path().join("killed"), "7", &day(0));
    // In turn, so that every command is killed alone and with the script.
    let commands = ["ingest", "refresh", "seeds"];
    let (mut tries, mut hits) = (0, 0);
    let mut lists = 0;
    for today in 1..=days {
        whole.arrives(&day(today));
        killed.arrives(&day(today));
        let begun = Instant::now();
        let ended = whole.runs();
        let run = begun.elapsed();
        // cron mails a warning, and a progress bar fills the log.
        assert_eq!((ended.status, &*ended.err), (Some(0), ""), "{ended:?}");
        assert!(!ended.out.contains(['\r', '\x1b']), "{ended:?}");
        lists += u32::from(ended.out.contains("seeds.txt has another list"));
        if today % 3 == 0 {
            let command = commands[tries as usize % 3];
            // Multiples of the golden ratio fill the range evenly; the first comes at once.
            let part = (f64::from(tries) * 0.618_033_988_749_895).fract();
            let all = tries % 2 == 1;
            hits += u32::from(killed.is_killed(command, run.mul_f64(part / 5.0), all));
            tries += 1;
        }
        let ended = killed.runs();
        assert_eq!(ended.status, Some(0), "day {today}: {ended:?}");
        assert_eq!(killed.seeds(), whole.seeds(), "day {today}");
    }
    assert!(2 * hits >= tries, "{hits} of {tries} kills came in time");
    assert!(lists > 1, "the list hardly changed");
    for life in [&whole, &killed] {
        assert_eq!(life.batches(), days + 1);
        assert_eq!(names(&life.path("inbox")), ["done"]);
        assert_eq!(names(&life.path("inbox/done")).len(), days as usize);
        life.by_hand(&["check", "bank"]);
        let metrics = fs::read_to_string(life.path("bank.prom")).unwrap();
        let batches = format!("\nseedbank_batches_total {}\n", days + 1);
        assert!(metrics.contains(&batches), "{metrics}");
    }
    eprintln!(
        "{days} days, {hits} of {tries} kills: {} KiB with all refreshes, {} KiB with the last 7, \
         {lists} lists",
        whole.du(),
        killed.du()
    );
}

#[test]
fn the_status_reports_failures() {
    let place = Place::new();
    let day0 = place.write("day0.jsonl", crate::support::command::TWO_CORES);
    let folder = scratch();
    let life = Life::new(folder.path().join("life"), "3", &day0);
    assert_eq!(life.runs().status, Some(0));
    let list = life.seeds();
    // The job stops at a refused batch, and the ones after it wait.
    life.arrives(&place.write("a.jsonl", "no records\n"));
    let gone = "{\"url\": \"http://h1.example/\", \"gone\": true}\n";
    life.arrives(&place.write("b.jsonl", gone));
    let ended = life.runs();
    assert_eq!(ended.status, Some(3), "{ended:?}");
    for words in [
        "the batch was rejected",
        "daily.sh: inbox/a.jsonl was refused.",
        "remove the file",
    ] {
        assert!(ended.err.contains(words), "{words}: {ended:?}");
    }
    assert_eq!(names(&life.path("inbox")), ["a.jsonl", "b.jsonl", "done"]);
    assert_eq!((life.seeds(), life.batches()), (list.clone(), 1));
    assert!(life.metrics().contains("\nseedbank_refused_batch 1\n"));
    // Without it the job goes on.
    fs::remove_file(life.path("inbox/a.jsonl")).unwrap();
    let ended = life.runs();
    assert_eq!((ended.status, &*ended.err), (Some(0), ""), "{ended:?}");
    assert_eq!(names(&life.path("inbox/done")), ["b.jsonl"]);
    assert_ne!(life.seeds(), list);
    assert_eq!(life.batches(), 2);
    assert!(life.metrics().contains("\nseedbank_refused_batch 0\n"));
    // One run at a time.
    let lock = fs::File::create(life.path("bank.daily-lock")).unwrap();
    lock.lock().unwrap();
    assert_eq!(life.runs().status, Some(75));
    drop(lock);
    // Where nothing can be selected the old list stays.
    let list = life.seeds();
    let all: String = ["h2", "h3", "k2"]
        .map(|hub| format!("{{\"url\": \"http://{hub}.example/\", \"gone\": true}}\n"))
        .concat();
    let rest = record("http://k1.example/x,y", &[]);
    life.arrives(&place.write("c.jsonl", all + &rest));
    let ended = life.runs();
    assert_eq!(ended.status, Some(5), "{ended:?}");
    assert_eq!(life.seeds(), list);
    let metrics = fs::read_to_string(life.path("bank.prom")).unwrap();
    assert!(
        metrics.contains("\nseedbank_batches_total 3\n"),
        "{metrics}"
    );
    // A missing setting is wrong usage; the command reports a missing bank.
    let mut job = life.job();
    assert!(!job.env_remove("SEEDS").output().unwrap().status.success());
    fs::rename(life.path("bank"), life.path("moved")).unwrap();
    assert_eq!(life.runs().status, Some(4));
}

/// Lives of a bank over the days of a real crawl: one file a run in the order of the dates, and two files a run with
/// names in the wrong order. Of the first, only the day on which the bank shrank is refused.
#[test]
fn days_of_a_real_crawl() {
    let Some(shared) = shared("days_of_a_real_crawl") else {
        return;
    };
    let days = real_days(&shared, 9);
    let ((_, first), later) = days.split_first().unwrap();
    // Completed on days of their own, after the first.
    let completed = |date: &str| {
        let number = days.iter().position(|(other, _)| other == date).unwrap();
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_780_000_000 + 86_400 * number as u64)
    };
    let folder = scratch();
    let begin = |name: &str| {
        let first = [first.to_str().unwrap(), "--as-of", "2026-01-01"];
        Life::with_first(folder.path().join(name), "3", &first)
    };
    let in_order = begin("in-order");
    let mut refused = Vec::new();
    for (date, file) in later {
        in_order.arrives_as(file, &format!("{date}.jsonl.gz"), completed(date));
        let ended = in_order.runs();
        if ended.status == Some(3) {
            refused.push(date);
            let ended = in_order.job().env("SEEDBANK_MAX_LOSS", "22").output();
            assert!(ended.unwrap().status.success());
        } else {
            assert_eq!(ended.status, Some(0), "{ended:?}");
        }
    }
    // More than a fifth of the crawled pages are gone on that day.
    let shrinks = later.iter().filter(|(date, _)| date == "2026-07-04");
    assert!(refused.into_iter().eq(shrinks.map(|(date, _)| date)));
    assert_eq!(in_order.batches() as usize, days.len());
    let in_pairs = begin("in-pairs");
    for pair in later.chunks(2) {
        for (number, (date, file)) in pair.iter().rev().enumerate() {
            in_pairs.arrives_as(file, &format!("{number}.jsonl.gz"), completed(date));
        }
        let ended = in_pairs.job().env("SEEDBANK_MAX_LOSS", "100").output();
        assert!(ended.unwrap().status.success());
    }
    assert_eq!(in_pairs.batches() as usize, days.len());
    assert_eq!(in_pairs.seeds(), in_order.seeds());
}

/// Days of other formats, and one that loses too much: accepted by the command that the job prints.
#[test]
fn a_refused_day_is_accepted_by_hand_and_days_have_any_format() {
    let place = Place::new();
    let pages = || (0..300).map(|page| format!("http://s{}.example/{page}", page % 7));
    let day0: String = pages().map(|url| record(&url, &[])).collect();
    let cores = crate::support::command::TWO_CORES;
    let day0 = place.write("day0.jsonl", cores.to_owned() + &day0);
    let folder = scratch();
    let life = Life::new(folder.path().join("life"), "3", &day0);
    let gone = |url| format!("{{\"url\": \"{url}\", \"gone\": true}}\n");
    life.arrives(&place.write("day1.csv", "url,clicks\nhttp://h1.example/,3\n"));
    life.arrives(&place.write("day2 'x'.jsonl", pages().map(gone).collect::<String>()));
    life.arrives(&place.write("day3.txt", "http://new.example/\n"));
    let ended = life.runs();
    assert_eq!(ended.status, Some(3), "{ended:?}");
    let inbox = life.path("inbox");
    assert_eq!(names(&inbox), ["day2 'x'.jsonl", "day3.txt", "done"]);
    assert_eq!(names(&life.path("inbox/done")), ["day1.csv"]);
    // Each run stops there again.
    assert_eq!(life.runs().status, Some(3));
    assert_eq!(life.batches(), 2);
    let hint = ended.err.split("use --max-loss ").nth(1).unwrap();
    let least = hint.split_whitespace().next().unwrap();
    let mut lines = ended.err.lines();
    let printed = lines.find(|line| line.contains("seedbank ingest")).unwrap();
    let typed = printed.replace("--max-loss N", &format!("--max-loss {least}"));
    let bin = Path::new(env!("CARGO_BIN_EXE_seedbank")).parent().unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let mut shell = clean("sh");
    shell.args(["-c", &typed]).env("PATH", path);
    let accepted = shell.current_dir(&life.folder).output().unwrap();
    assert!(accepted.status.success(), "{typed}: {accepted:?}");
    let ended = life.runs();
    assert_eq!((ended.status, &*ended.err), (Some(0), ""), "{ended:?}");
    assert_eq!(names(&inbox), ["done"]);
    // The day that was accepted by hand is not ingested twice.
    assert_eq!(life.batches(), 4);
    // A format that cannot be detected.
    life.arrives(&place.write("day4.tsv", "http://h1.example/\thttp://new.example/x\n"));
    let ended = life.job().env("SEEDBANK_INPUT", "links").output().unwrap();
    assert!(ended.status.success(), "{ended:?}");
    assert_eq!(life.batches(), 5);
}

#[test]
fn the_script_is_sound() {
    let checked = Command::new("shellcheck").arg(SCRIPT).output();
    let Ok(checked) = checked else {
        let advice = "apt-get install shellcheck";
        skipped("the_script_is_sound", "shellcheck", advice);
        return;
    };
    assert!(checked.status.success(), "{checked:?}");
}
