use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::ingest::{SiteMode, UrlRules};

fn urls() -> impl Strategy<Value = Vec<(String, String)>> {
    proptest::collection::vec(("[a-c.]{1,3}", "[01][a-b/]{0,14}"), 0..2000)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Compares with a map, also after `clear`, and for imported URLs.
    #[test]
    fn urls_have_one_number_each(rounds in proptest::collection::vec(urls(), 1..3)) {
        let mut interner = Interner::default();
        for urls in rounds {
            interner.clear();
            let mut other = interner.empty_like();
            let mut expected: BTreeMap<(String, String), u32> = BTreeMap::new();
            for (place, (site, local)) in urls.into_iter().enumerate() {
                let url = Location { site, local };
                let number = if place % 2 == 0 {
                    interner.number(&url)
                } else {
                    let number = other.number(&url);
                    prop_assert_eq!(&other.location(number), &url);
                    interner.import(&other, number)
                };
                let next = u32::try_from(expected.len()).unwrap();
                let known = *expected.entry((url.site, url.local)).or_insert(next);
                prop_assert_eq!(number, known);
            }
            prop_assert_eq!(interner.len(), expected.len());
            for ((site, local), number) in &expected {
                prop_assert_eq!(interner.parts(*number), (site.as_str(), local.as_str()));
            }
            let ranks = interner.site_ranks();
            let by_rank: BTreeMap<u32, &str> = expected
                .iter()
                .map(|((site, _), number)| (ranks[interner.site_of(*number) as usize], site.as_str()))
                .collect();
            prop_assert!(by_rank.values().is_sorted() && by_rank.len() == ranks.len());
        }
    }
}

#[test]
fn interned_urls_are_split_like_single_ones() {
    let mut interner = Interner::default();
    for text in [
        "http://a.example/",
        "HTTPS://A.example:443/x#y",
        "https://b.c.example/?q",
    ] {
        for sites in [SiteMode::Host, SiteMode::Domain] {
            let naming = sites.with(UrlRules::Whatwg);
            let number = interner.parse(text, naming).unwrap();
            assert_eq!(
                Ok(interner.location(number)),
                super::super::parse(text, naming)
            );
        }
    }
    assert!(matches!(
        interner.parse("mailto:x", Naming::default()),
        Err(UrlError::Scheme(_))
    ));
    assert_eq!(interner.len(), 6);
}
