use super::*;
use crate::evaluate::forward_graph::tests::web;
use crate::watch::Unwatched;

/// A tree of three levels below page 0 (1 2; 3 4 5 6), and a page 7 that nobody links to.
fn tree() -> (ForwardGraph, Vec<PageWorth>) {
    let links: &[&[u32]] = &[&[1, 2], &[3, 4], &[5, 6], &[0], &[], &[], &[], &[]];
    let worth = (0..8_u32)
        .map(|page| PageWorth {
            pagerank: f64::from(page),
            value: i64::from(page) * 1_000_000,
            clicks: u64::from(page % 2) * 3,
            spam: page == 5,
            crawled: page < 4,
        })
        .collect();
    (web(links, 4), worth)
}

#[test]
fn depths_count_what_is_new() {
    let (web, worth) = tree();
    let mut search = Search::new(&web);
    let depths = crawl(&mut search, &worth, &[0], 9, &Unwatched).unwrap();
    let pages: Vec<u64> = depths.iter().map(|d| d.pages).collect();
    assert_eq!(pages, [1, 2, 4]);
    assert_eq!(depths[2].pagerank, 18.0);
    assert_eq!(depths[2].mean_pagerank(), Some(4.5));
    assert_eq!(depths[2].spam_share(), Some(0.25));
    assert_eq!((depths[1].units(), depths[2].units()), (3.0, 18.0));
    assert_eq!((depths[2].clicks, depths[2].clicked_pages), (6, 2));
    assert_eq!((depths[1].crawled, depths[2].crawled), (2, 1));
    let short = crawl(&mut search, &worth, &[0], 1, &Unwatched).unwrap();
    assert_eq!(short, depths[..2]);
    let only = crawl(&mut search, &worth, &[7, 0], 0, &Unwatched).unwrap();
    assert_eq!((only.len(), only[0].pages), (1, 2));
    let none = crawl(&mut search, &worth, &[], 9, &Unwatched).unwrap();
    assert!(none.is_empty());
    assert_eq!(Tally::default().mean_pagerank(), None);
}

#[test]
fn pages_are_reached_at_their_distance() {
    let (web, _) = tree();
    let at = reached(&web, &[2, 3], &[6, 7, 0, 2, 6], 9, &Unwatched).unwrap();
    assert_eq!(at, [Some(1), None, Some(1), Some(0), Some(1)]);
    let near = reached(&web, &[0], &[6, 1], 1, &Unwatched).unwrap();
    assert_eq!(near, [None, Some(1)]);
}
