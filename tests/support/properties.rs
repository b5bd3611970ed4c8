//! Random properties that can be repeated.

use std::hash::{BuildHasher, Hasher, RandomState};

use proptest::test_runner::{Config, RngSeed};

/// The configuration of a property with so many random cases, or `LONG_CASES` times as many. A test that fails shows what it
/// printed: the seed that repeats its cases.
pub(crate) fn repeatable(few: u32) -> Config {
    let default = Config::default();
    let config = Config {
        cases: few * times(),
        max_global_rejects: default.max_global_rejects * times(),
        // The file of a failed case would be lost with the machine, and is only read for `proptest!` blocks.
        failure_persistence: None,
        ..default
    };
    let seed = match config.rng_seed {
        RngSeed::Fixed(seed) => seed,
        RngSeed::Random => RandomState::new().build_hasher().finish(),
    };
    eprintln!("PROPTEST_RNG_SEED={seed} repeats the random cases of this test");
    Config {
        rng_seed: RngSeed::Fixed(seed),
        ..config
    }
}

/// How many times as many random cases `make test-long` tries as the suite.
pub(crate) fn times() -> u32 {
    let Ok(text) = std::env::var("LONG_CASES") else {
        return 1;
    };
    text.parse()
        .unwrap_or_else(|e| panic!("LONG_CASES={text}: {e}"))
}
