//! Cores and scores are bit-identical with any number of threads.

use rand::{RngExt, SeedableRng};
use seedbank::watch::Unwatched;
use seedbank_algorithms::cores::{CoreParams, Hits, Selection, select_in_graph};
use seedbank_algorithms::graph::{HubGraph, Rows};

/// Large enough for every pass to be cut into several pieces, with two planted dense places.
fn graph() -> HubGraph {
    let mut random = rand_pcg::Pcg64::seed_from_u64(7);
    let mut rows = Rows::new();
    for hub in 0..30_000_u32 {
        let first = if hub % 100 < 2 {
            40_000 + 100 * (hub % 2)
        } else {
            40_000
        };
        let span = if hub % 100 < 2 { 90 } else { 40_000 };
        let count = if hub % 100 < 2 { 40 } else { 4 };
        let mut targets: Vec<u32> = (0..count)
            .map(|_| first + random.random_range(0..span))
            .collect();
        targets.sort_unstable();
        targets.dedup();
        rows.push(&[hub], &targets).unwrap();
    }
    rows.graph().unwrap()
}

#[test]
fn threads_make_no_difference() {
    let graph = graph();
    for (hits, seeds) in [(Hits::Converged, 3), (Hits::Classic, 2)] {
        let params = CoreParams {
            seeds,
            hits,
            iterations: 20,
            ..CoreParams::default()
        };
        let run = |threads: usize| -> Selection {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| select_in_graph(&graph, &params, &[], &Unwatched))
                .unwrap()
        };
        let one = run(1);
        assert_eq!(one.cores.len(), seeds as usize);
        assert!(one.cores[0].hubs.len() > 1);
        for threads in [2, 5] {
            let other = run(threads);
            assert!(one == other, "{threads} threads give other cores or scores");
        }
    }
}
