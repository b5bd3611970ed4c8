//! Closed forms, and the published iteration as the judge.

use proptest::collection::{btree_set, vec};
use proptest::prelude::*;

use super::*;
use crate::graph::{Csr, number};
use crate::watch::Unwatched;

fn csr(lists: &[&[u32]]) -> Csr {
    let mut csr = Csr::default();
    for list in lists {
        csr.push(list.iter().copied());
    }
    csr
}

fn scores(intra_in: &[&[u32]], members: &[&[u32]], targets: &[&[u32]]) -> Vec<f64> {
    let graph = PageGraph::new(csr(intra_in), csr(members), &csr(targets)).unwrap();
    pagerank(&graph, &Unwatched).unwrap().0
}

fn close(found: &[f64], wanted: &[f64]) {
    assert_eq!(found.len(), wanted.len());
    for (a, b) in found.iter().zip(wanted) {
        assert!((a - b).abs() < 1e-12, "{found:?} is not {wanted:?}");
    }
}

#[test]
fn rings_are_uniform_whatever_links_make_them() {
    close(&scores(&[&[2], &[0], &[1]], &[], &[]), &[1.0 / 3.0; 3]);
    let none: &[u32] = &[];
    let rows: [&[u32]; 3] = [&[0], &[1], &[2]];
    close(
        &scores(&[none; 3], &rows, &[&[1], &[2], &[0]]),
        &[1.0 / 3.0; 3],
    );
    close(&scores(&[none; 4], &[], &[]), &[0.25; 4]);
    assert!(scores(&[], &[], &[]).is_empty());
}

#[test]
fn a_star_is_the_same_by_rows_and_by_links() {
    // Leaves l, dangling centre c, n = 4: l = (0.15 + 0.85 c) / 4, c = l + 0.85 * 3 l, 3 l + c = 1.
    let leaf = 1.0 / 6.55;
    let wanted = [3.55 * leaf, leaf, leaf, leaf];
    let none: &[u32] = &[];
    close(&scores(&[&[1, 2, 3], none, none, none], &[], &[]), &wanted);
    close(&scores(&[none; 4], &[&[1, 2, 3]], &[&[0]]), &wanted);
    close(
        &scores(&[&[2], none, none, none], &[&[1, 3]], &[&[0]]),
        &wanted,
    );
}

#[test]
fn numbers_beyond_the_pages_are_refused() {
    assert!(PageGraph::new(csr(&[&[1]]), csr(&[]), &csr(&[])).is_err());
    assert!(PageGraph::new(csr(&[&[0]]), csr(&[&[0]]), &csr(&[])).is_err());
}

/// Returns the scores by power iteration, as published.
fn by_power_iteration(graph: &PageGraph) -> Vec<f64> {
    let pages = graph.pages();
    let count = f64::from(pages);
    let mut scores = vec![1.0 / count; pages as usize];
    for _ in 0..300 {
        let mut new = vec![0.15 / count; pages as usize];
        for page in 0..pages {
            let by_rows = graph.citers.list(page).iter();
            let by_rows = by_rows.flat_map(|row| graph.members.list(*row));
            for source in graph.intra_in.list(page).iter().chain(by_rows) {
                let degree = f64::from(graph.out_degree[*source as usize]);
                new[page as usize] += 0.85 * scores[*source as usize] / degree;
            }
        }
        let dangling = (0..pages).filter(|page| graph.out_degree[*page as usize] == 0);
        let dangling: f64 = dangling.map(|page| scores[page as usize]).sum();
        for score in &mut new {
            *score += 0.85 * dangling / count;
        }
        scores = new;
    }
    scores
}

#[test]
fn blocks_are_what_links_of_pages_join() {
    // Page 5 has no links, so the link from 3 to it joins nothing; page 7 links to 6 and 6 to 8.
    let none: &[u32] = &[];
    let intra_in = csr(&[&[2], none, &[0], &[4], &[3], &[3], &[7], none, &[6]]);
    let rows = csr(&[&[1], &[8]]);
    let graph = PageGraph::new(intra_in, rows, &csr(&[&[8], &[0]])).unwrap();
    let found: Vec<_> = blocks(&graph)
        .into_iter()
        .map(|block| block.pages)
        .collect();
    assert_eq!(found, [0..3, 3..5, 5..6, 6..9]);
    close(
        &pagerank(&graph, &Unwatched).unwrap().0,
        &by_power_iteration(&graph),
    );
}

/// What remains after the last pass that scales: two sites with a cycle each, and links between them.
#[test]
fn sweeps_alone_lead_to_the_same_scores() {
    let intra_in = csr(&[&[1, 2], &[0], &[1], &[5], &[3], &[4]]);
    let graph = PageGraph::new(intra_in, csr(&[&[2], &[4]]), &csr(&[&[3], &[0]])).unwrap();
    let mut system = System::new(&graph, SETTLED);
    let passes = (0..MAX_PASSES)
        .take_while(|_| system.pass(false).swept)
        .count();
    assert!(passes < 100, "{passes}");
    close(&system.into_scores().0, &by_power_iteration(&graph));
}

#[test]
fn rough_scores_are_near_the_exact_ones() {
    let intra_in = csr(&[&[1, 2], &[0], &[1], &[5], &[3], &[4]]);
    let graph = PageGraph::new(intra_in, csr(&[&[2], &[4]]), &csr(&[&[3], &[0]])).unwrap();
    let (exact, visits) = pagerank(&graph, &Unwatched).unwrap();
    let (rough, fewer) = rough_pagerank(&graph, &Unwatched).unwrap();
    assert!(fewer < visits, "{fewer}, {visits}");
    for (rough, exact) in rough.iter().zip(&exact) {
        assert!((rough / exact - 1.0).abs() < 1e-5, "{rough} is not {exact}");
    }
}

/// A long chain of small sites with a link between neighbours, in many groups of blocks.
#[test]
fn threads_have_no_effect() {
    let pages = 30_000_u32;
    let links = |page: u32| match page % 3 {
        0 => vec![page + 1, page + 2],
        1 => vec![page - 1],
        _ => vec![page - 2, page - 1],
    };
    let mut intra_in = Csr::default();
    (0..pages).for_each(|page| intra_in.push(links(page)));
    let (mut members, mut targets) = (Csr::default(), Csr::default());
    for page in 0..pages - 7 {
        members.push([page]);
        targets.push([page + 7]);
    }
    let graph = PageGraph::new(intra_in, members, &targets).unwrap();
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let pool = pool.build().unwrap();
        pool.install(|| pagerank(&graph, &Unwatched).unwrap())
    };
    let one = on(1);
    assert_eq!(one, on(3));
    close(&one.0, &by_power_iteration(&graph));
}

proptest! {
    /// Sites of 1 to 9 pages, with links of any pages of a site and rows of any pages.
    #[test]
    fn scores_are_those_of_power_iteration(
        sites in vec(1_u32..10, 1..12),
        links in vec((0_u32..120, 0_u32..9), 0..200),
        rows in vec((btree_set(0_u32..120, 1..4), btree_set(0_u32..120, 1..6)), 0..12),
    ) {
        let pages: u32 = sites.iter().sum();
        let mut first_of = Vec::new();
        for size in &sites {
            let first = number(first_of.len());
            first_of.extend((0..*size).map(|_| (first, *size)));
        }
        let mut into = vec![std::collections::BTreeSet::new(); pages as usize];
        for (source, target) in links {
            let source = source % pages;
            let (first, size) = first_of[source as usize];
            let target = first + target % size;
            if source != target {
                into[target as usize].insert(source);
            }
        }
        let mut intra_in = Csr::default();
        for sources in into {
            intra_in.push(sources);
        }
        let (mut members, mut targets) = (Csr::default(), Csr::default());
        let mut has_row = std::collections::BTreeSet::new();
        let below = |set: std::collections::BTreeSet<u32>| -> std::collections::BTreeSet<u32> {
            set.into_iter().map(|page| page % pages).collect()
        };
        let mut rows: Vec<_> = rows
            .into_iter()
            .map(|(members, targets)| {
                let members: Vec<u32> = below(members)
                    .into_iter()
                    .filter(|page| has_row.insert(*page))
                    .collect();
                (members, below(targets))
            })
            .filter(|(members, _)| !members.is_empty())
            .collect();
        rows.sort();
        for (row_members, row_targets) in rows {
            members.push(row_members);
            targets.push(row_targets);
        }
        let graph = PageGraph::new(intra_in, members, &targets).unwrap();
        let found = pagerank(&graph, &Unwatched).unwrap().0;
        for (score, wanted) in found.iter().zip(by_power_iteration(&graph)) {
            prop_assert!((score / wanted - 1.0).abs() < 1e-10, "{score} is not {wanted}");
        }
    }
}
