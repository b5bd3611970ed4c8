//! Random sites for tests.

use proptest::prelude::*;

use super::graph::SiteGraph;
use super::residual::Residual;

/// A site of up to 400 pages, most of which link to a few pages, and its residual with some pages zeroed or
/// removed.
pub(super) fn site() -> impl Strategy<Value = (SiteGraph, Residual)> {
    let value = prop_oneof![3 => Just(1_i64), 1 => Just(0), 1 => -9_i64..20];
    let page = || 0_u32..400;
    let link = prop_oneof![
        2 => (page(), 0_u32..6),
        1 => (0_u32..6, page()),
        2 => (page(), page()),
        2 => (page(), 1_u32..9).prop_map(|(page, step)| (page, page + step)),
    ];
    let touched = proptest::collection::vec(page(), 0..60);
    (
        proptest::collection::vec(value, 10..400),
        proptest::collection::vec(link, 0..1500),
        touched,
        any::<bool>(),
    )
        .prop_map(|(values, links, touched, removing)| {
            let pages = u32::try_from(values.len()).unwrap();
            let links = links.into_iter().map(|(a, b)| (a % pages, b % pages));
            let graph = SiteGraph::new(values, links).unwrap();
            let mut residual = Residual::new(&graph);
            for page in touched.into_iter().filter(|&page| page < pages) {
                if removing {
                    residual.remove(page);
                } else {
                    residual.zero(page);
                }
            }
            (graph, residual)
        })
}

/// The sum of the values within `depth` hops of a page, and the sum of the positive ones.
pub(super) fn within(graph: &SiteGraph, residual: &Residual, page: u32, depth: u32) -> (i64, i64) {
    let mut found = vec![page];
    let mut level = 0..1;
    for _ in 0..depth {
        for at in level.clone() {
            for &next in graph.successors(found[at]) {
                if residual.alive[next as usize] && !found.contains(&next) {
                    found.push(next);
                }
            }
        }
        level = level.end..found.len();
    }
    let values = found.iter().map(|&page| residual.values[page as usize]);
    (values.clone().sum(), values.map(|value| value.max(0)).sum())
}
