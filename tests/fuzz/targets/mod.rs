//! What is fuzzed: the decoders of the store and the readers of input.
//!
//! A target takes any bytes and panics where they are read wrongly. It does more than not fail: it
//! is a judge, which mostly checks that what was read can be written and comes back. `make fuzz`
//! runs all; `tests/storage/fuzz_inputs.rs` runs each on the inputs from which it starts and on
//! those that once failed.
//!
//! The texts of the command line itself are not fuzzed, nor is what is never read from outside the
//! process: records on their way through a sort have the codec of the tables.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a target that cannot go on has found something"
)]

mod archives;
mod bitmaps;
mod bvgraph;
mod ccgraph;
mod columns;
mod crawler_texts;
mod cursor;
mod file;
mod json_lines;
mod links;
mod plan;
mod small;
mod sorter;
mod state;
mod tables;
mod tsv;
mod url;
mod warc;
mod wat;
mod written;

/// Something that is fuzzed.
pub(crate) struct Target {
    /// Its name.
    pub(crate) name: &'static str,
    /// Handles an input.
    pub(crate) run: fn(&[u8]),
    /// The inputs from which fuzzing starts.
    pub(crate) seeds: fn() -> Vec<Vec<u8>>,
    /// The longest input, in bytes.
    pub(crate) longest: usize,
    /// The most memory that an input may take, in bytes.
    pub(crate) memory: usize,
}

/// The values that most targets have; far more than inputs of these lengths need.
const USUAL: Target = Target {
    name: "",
    run: |_| {},
    seeds: Vec::new,
    longest: 2 << 10,
    memory: 16 << 20,
};

/// All of them.
pub(crate) const TARGETS: &[Target] = &[
    Target {
        name: "tables",
        run: tables::run,
        seeds: tables::seeds,
        ..USUAL
    },
    Target {
        name: "links",
        run: links::run,
        seeds: links::seeds,
        longest: 512,
        memory: links::MEMORY,
    },
    Target {
        name: "written",
        run: written::run,
        seeds: written::seeds,
        ..USUAL
    },
    Target {
        name: "bitmaps",
        run: bitmaps::run,
        seeds: bitmaps::seeds,
        longest: 16 << 10,
        ..USUAL
    },
    Target {
        name: "sorter",
        run: sorter::run,
        seeds: sorter::seeds,
        longest: 256,
        ..USUAL
    },
    Target {
        name: "state",
        run: state::run,
        seeds: state::seeds,
        ..USUAL
    },
    Target {
        name: "json_lines",
        run: json_lines::run,
        seeds: json_lines::seeds,
        ..USUAL
    },
    Target {
        name: "tsv",
        run: tsv::run,
        seeds: tsv::seeds,
        ..USUAL
    },
    Target {
        name: "url",
        run: url::run,
        seeds: url::seeds,
        ..USUAL
    },
    Target {
        name: "file",
        run: file::run,
        seeds: file::seeds,
        longest: 256,
        memory: 128 << 20,
    },
    Target {
        name: "bvgraph",
        run: bvgraph::run,
        seeds: bvgraph::seeds,
        longest: 1 << 10,
        memory: 128 << 20,
    },
    Target {
        name: "ccgraph",
        run: ccgraph::run,
        seeds: ccgraph::seeds,
        memory: 128 << 20,
        ..USUAL
    },
    Target {
        name: "columns",
        run: columns::run,
        seeds: columns::seeds,
        memory: 256 << 20,
        ..USUAL
    },
    Target {
        name: "warc",
        run: warc::run,
        seeds: warc::seeds,
        memory: 64 << 20,
        ..USUAL
    },
    Target {
        name: "archives",
        run: archives::run,
        seeds: archives::seeds,
        longest: 4 << 10,
        memory: 256 << 20,
    },
    Target {
        name: "wat",
        run: wat::run,
        seeds: wat::seeds,
        memory: 64 << 20,
        ..USUAL
    },
    Target {
        name: "crawler_texts",
        run: crawler_texts::run,
        seeds: crawler_texts::seeds,
        memory: 64 << 20,
        ..USUAL
    },
    Target {
        name: "plan",
        run: plan::run,
        seeds: plan::seeds,
        ..USUAL
    },
    Target {
        name: "small",
        run: small::run,
        seeds: small::seeds,
        ..USUAL
    },
];

/// Texts as inputs, each after a byte that says how it is meant.
fn texts(kinds: &[u8], texts: &[&str]) -> Vec<Vec<u8>> {
    let of = |kind: u8| {
        texts
            .iter()
            .map(move |text| [&[kind], text.as_bytes()].concat())
    };
    kinds.iter().flat_map(|kind| of(*kind)).collect()
}

/// The first byte, which says how the rest is meant, and the rest.
fn kind(data: &[u8]) -> (u8, &[u8]) {
    data.split_first()
        .map_or((0, &[]), |(kind, rest)| (*kind, rest))
}
