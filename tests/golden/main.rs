//! Results on real graphs equal those of an independent implementation, and the figures of the documents.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]
#![expect(
    unreachable_pub,
    reason = "what is shared here is reachable by nobody outside"
)]

/// Makes a test for each graph, which passes the name of its folder.
macro_rules! real_graphs {
    ($check:ident: $($test:ident => $graph:literal,)+) => {
        $(#[test]
        fn $test() {
            $check($graph);
        })+
    };
}

mod bank;
mod baselines;
mod cores;
mod cover;
mod cover_bank;
mod evaluate;
mod papers;
#[path = "../support/mod.rs"]
mod support;
mod twins;
