//! Ingest of a crawl, compared with `sort -u` of the same links on the same disk, and with DuckDB if Python
//! has it; then a delta of 1 %, a scan and lookups.
//!
//! `cargo bench --bench ingest [-- --pages 50000,150000,450000] [--like uk-2002|ku-2017-webir]
//! [--memory 512M] [--folder DIR]`. The crawls have the proportions of UK-2002, where most pages
//! linked to are crawled, or those of a crawl with a wide frontier.
//!
//! The programs run one after another with the same memory. Links per second are the
//! bank's distinct links over the time from start to end of the process. Time depends on the
//! machine, so compare the ratios, and the growth from one size to the next.
//!
//! * `sort -u`: GNU sort, `LC_ALL=C`, two threads, of the links as TSV: once in the order of the
//!   crawl, which is nearly sorted, and once in random order.
//! * `duckdb`: `benches/duckdb_links.py`; numbers distinct URLs and stores distinct links as pairs.
//! * `jsonl`, `links`: `seedbank ingest --snapshot` of the crawl's records (zstd), and of the TSV
//!   in the order of the crawl. The bank also stores the reverse links, attributes and digests.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_precision_loss,
    reason = "a bench may stop where something is wrong"
)]

mod load;

use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use load::{Took, folder_bytes, run};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use seedbank::synth::{SynthOptions, generate};
use seedbank::watch::Unwatched;
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_store::{Reader, tables};

const LOOKUPS: usize = 20_000;

fn argument(name: &str, default: &str) -> String {
    let mut args = std::env::args().skip_while(|a| a != name).skip(1);
    args.next().unwrap_or_else(|| default.to_owned())
}

/// The results for one size.
struct Bench {
    folder: PathBuf,
    memory: String,
    threads: String,
    /// Number of distinct links.
    links: u64,
}

/// The figures that are compared between sizes.
struct Outcome {
    pages: u64,
    memory: u64,
    delta: Took,
    delta_written: f64,
    lookup: f64,
}

impl Bench {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn seedbank(&self, args: &[&str]) -> Took {
        let mut command = Command::new(env!("CARGO_BIN_EXE_seedbank"));
        run(command.args(args).current_dir(&self.folder))
    }

    fn ingest(&self, bank: &str, args: &[&str]) -> Took {
        self.seedbank(&["init", bank]);
        let memory = ["--memory", &self.memory, "--threads", &self.threads];
        self.seedbank(&[&["ingest", bank, "--snapshot"], args, &memory].concat())
    }

    fn sort(&self, links: &str) -> Took {
        let threads = format!("--parallel={}", self.threads);
        let mut command = Command::new("sort");
        command.args([
            "-u",
            &threads,
            "-S",
            &self.memory,
            "-T",
            ".",
            "-o",
            "sorted.tsv",
            links,
        ]);
        let took = run(command.env("LC_ALL", "C").current_dir(&self.folder));
        fs::remove_file(self.path("sorted.tsv")).unwrap();
        took
    }

    /// `None` if Python has no `duckdb`.
    fn duckdb(&self, memory: &str) -> Option<Took> {
        let found = Command::new("python3")
            .args(["-c", "import duckdb"])
            .output();
        if !found.is_ok_and(|found| found.status.success()) {
            return None;
        }
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/duckdb_links.py");
        let mut command = Command::new("python3");
        command
            .arg(script)
            .args(["links.tsv", "duck.db", memory, &self.threads]);
        let took = run(command.current_dir(&self.folder));
        fs::remove_file(self.path("duck.db")).unwrap();
        Some(took)
    }

    fn line(&self, what: &str, took: Took, base: &[Took]) {
        let rate = self.links as f64 / took.seconds;
        print!(
            "{what:<22} {:>7.2} s {:>7.2} s CPU {:>6.0}k links/s {:>5} MiB",
            took.seconds,
            took.cpu,
            rate / 1e3,
            took.memory >> 20
        );
        for base in base {
            let [time, cpu] = [base.seconds / took.seconds, base.cpu / took.cpu];
            print!("  {time:>5.2} ({cpu:.2})");
        }
        println!();
    }
}

/// Writes the links of a crawl as TSV, in the order of its records; returns their number.
fn write_links(crawl: &Path, to: &Path) -> u64 {
    let text = zstd::Decoder::new(File::open(crawl).unwrap()).unwrap();
    let mut out = BufWriter::new(File::create(to).unwrap());
    let mut links = 0;
    for line in BufReader::new(text).lines() {
        let record: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
        let url = record["url"].as_str().unwrap();
        for target in record["outlinks"].as_array().into_iter().flatten() {
            writeln!(out, "{url}\t{}", target.as_str().unwrap()).unwrap();
            links += 1;
        }
    }
    out.flush().unwrap();
    links
}

/// Measures a scan of all records in pages per second, and a lookup of a record by URL in seconds.
fn reading(bank: &Path) -> (f64, f64) {
    let reader = Reader::open(bank).unwrap();
    let begun = Instant::now();
    let pages = reader.scan(&tables::PAGES).unwrap();
    let pages = pages
        .filter(|entry| entry.as_ref().unwrap().1.first_seen > 0)
        .count();
    let scanned = pages as f64 / begun.elapsed().as_secs_f64();
    let urls = reader.scan(&tables::PAGE_IDS).unwrap().step_by(7);
    let urls: Vec<(SiteId, String)> = urls.map(|entry| entry.unwrap().0).collect();
    let mut rng = Pcg64::seed_from_u64(1);
    let begun = Instant::now();
    for _ in 0..LOOKUPS {
        let url = &urls[rng.random_range(0..urls.len())];
        let index = reader.need(&tables::PAGE_IDS, url).unwrap();
        let page = PageId::new(url.0, index);
        reader.need(&tables::PAGES, &page).unwrap();
    }
    let lookup = begun.elapsed().as_secs_f64() / LOOKUPS as f64;
    (scanned, lookup)
}

fn bench(pages: u64, like: &str, folder: &Path, memory: &str) -> Outcome {
    let folder = tempfile::tempdir_in(folder).unwrap();
    let mut bench = Bench {
        folder: folder.path().to_path_buf(),
        memory: memory.to_owned(),
        threads: "2".to_owned(),
        links: 0,
    };
    // One page in a hundred has a record on the following day.
    let options = SynthOptions {
        days: 1,
        rng_seed: 1,
        born_per_day: 0.002,
        changed_per_day: 0.006,
        gone_per_day: 0.001,
        clicked_per_day: 0.001,
        ..match like {
            "uk-2002" => SynthOptions::uk_2002(pages),
            "ku-2017-webir" => SynthOptions::new(pages),
            other => panic!("--like uk-2002 or ku-2017-webir, not {other}"),
        }
    };
    let crawl = generate(&bench.path("crawl"), &options, &Unwatched).unwrap();
    let [day_0, day_1] = ["crawl/day-000.jsonl.zst", "crawl/day-001.jsonl.zst"];
    bench.links = write_links(&bench.path(day_0), &bench.path("links.tsv"));
    let links_bytes = fs::metadata(bench.path("links.tsv")).unwrap().len();
    println!(
        "\n{pages} pages like {like}, {} links, {} MiB as TSV, memory {memory}; ratios to sort, sort of random \
         order and duckdb: by time (by CPU time), above 1 is faster",
        bench.links,
        links_bytes >> 20
    );
    let sort = bench.sort("links.tsv");
    bench.line("sort -u", sort, &[]);
    let mut shuffle = Command::new("shuf");
    shuffle.args(["--random-source=links.tsv", "links.tsv", "-o", "random.tsv"]);
    run(shuffle.current_dir(&bench.folder));
    let sort_random = bench.sort("random.tsv");
    fs::remove_file(bench.path("random.tsv")).unwrap();
    bench.line("sort -u, random order", sort_random, &[sort]);
    let mut bases = vec![sort, sort_random];
    match bench.duckdb(&memory.replace('M', "MB").replace('G', "GB")) {
        Some(took) => {
            bench.line("duckdb", took, &bases);
            bases.push(took);
        }
        None => println!("duckdb                 skipped: Python has no module duckdb"),
    }
    let of_links = bench.ingest("links-bank", &["--input", "links", "links.tsv"]);
    bench.line("ingest links", of_links, &bases);
    fs::remove_dir_all(bench.path("links-bank")).unwrap();
    let ingest = bench.ingest("bank", &[day_0]);
    bench.line("ingest jsonl", ingest, &bases);
    let kept = folder_bytes(&bench.path("bank/live"));
    println!(
        "kept {:.1} MiB, {:.1} bits a link; written {:.1} bytes per byte kept",
        kept as f64 / 1_048_576.0,
        kept as f64 * 8.0 / bench.links as f64,
        ingest.written as f64 / kept as f64
    );
    let (scan, lookup) = reading(&bench.path("bank"));
    println!(
        "scan {:.0}k pages/s, {:.2} times the lines/s of sort -u; lookup of a page by URL {:.1} us",
        scan / 1e3,
        scan * sort.seconds / bench.links as f64,
        lookup * 1e6
    );
    let delta = bench.seedbank(&[
        "ingest",
        "bank",
        day_1,
        "--memory",
        memory,
        "--threads",
        "2",
    ]);
    let text = crawl.files[1].counts.bytes;
    let delta_written = delta.written as f64 / text as f64;
    println!(
        "delta of {} records, {:.2} MiB of text: {:.2} s, {:.2} s CPU, written {delta_written:.1} bytes per byte",
        crawl.files[1].counts.records,
        text as f64 / 1_048_576.0,
        delta.seconds,
        delta.cpu
    );
    Outcome {
        pages,
        memory: ingest.memory,
        delta,
        delta_written,
        lookup,
    }
}

fn main() {
    let memory = argument("--memory", "512M");
    let folder = PathBuf::from(argument("--folder", env!("CARGO_TARGET_TMPDIR")));
    let like = argument("--like", "uk-2002");
    let mut before: Option<Outcome> = None;
    for pages in argument("--pages", "50000,150000,450000").split(',') {
        let outcome = bench(pages.parse().unwrap(), &like, &folder, &memory);
        if let Some(before) = before {
            let growth = |now: f64, then: f64| now / then;
            println!(
                "{:.1} times the pages: peak memory of ingest {:.2} times; delta {:.2} times the bytes per \
                 byte, {:.2} times the time for each of its pages ({:.2} by CPU); lookup {:.2} times",
                growth(outcome.pages as f64, before.pages as f64),
                growth(outcome.memory as f64, before.memory as f64),
                growth(outcome.delta_written, before.delta_written),
                growth(
                    outcome.delta.seconds / outcome.pages as f64,
                    before.delta.seconds / before.pages as f64
                ),
                growth(
                    outcome.delta.cpu / outcome.pages as f64,
                    before.delta.cpu / before.pages as f64
                ),
                growth(outcome.lookup, before.lookup),
            );
        }
        before = Some(outcome);
    }
}
