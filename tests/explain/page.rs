//! Pages of a generated crawl, with their links compared with the links of all pages: counts by site,
//! the order of sites, the first pages of each. Catches links that are counted twice or in one
//! direction only, rows of which not every carrier counts, and examples ordered by ids.

use std::collections::BTreeMap;
use std::io::Read;

use crate::support::banks::TestBank;
use crate::support::model::pages_of;
use seedbank::engine::query::{LinksBySite, PageLimits, SiteLinks};
use seedbank::engine::{PlanOptions, Which};
use seedbank::synth::{SynthOptions, Web};

const LIMITS: PageLimits = PageLimits {
    sites: 4,
    examples: 2,
};

/// What should be told of pages at the other ends of links, given as site and URL.
fn by_site(pages: &mut [(String, String)]) -> LinksBySite {
    pages.sort();
    let mut sites: Vec<SiteLinks> = pages
        .chunk_by(|a, b| a.0 == b.0)
        .map(|of_site| SiteLinks {
            site: of_site[0].0.clone(),
            pages: of_site.len() as u64,
            examples: of_site
                .iter()
                .take(LIMITS.examples)
                .map(|p| p.1.clone())
                .collect(),
        })
        .collect();
    let all = sites.len() as u64;
    sites.sort_by(|a, b| b.pages.cmp(&a.pages).then(a.site.cmp(&b.site)));
    sites.truncate(LIMITS.sites);
    LinksBySite {
        pages: pages.len() as u64,
        sites: all,
        by_site: sites,
    }
}

#[test]
fn links_of_a_page_are_those_of_all_pages() {
    let options = SynthOptions {
        rng_seed: 3,
        days: 1,
        ..SynthOptions::new(250)
    };
    let web = Web::new(&options).unwrap();
    let bank = TestBank::new();
    for day in 0..2 {
        let mut text = String::new();
        web.day(day).unwrap().read_to_string(&mut text).unwrap();
        bank.delta(&text);
    }
    let cores = PlanOptions {
        seeds: Some(5),
        ..PlanOptions::default()
    };
    bank.refresh("cores", &cores, false);
    let pages = pages_of(&bank.bank);
    let mut to: BTreeMap<&str, Vec<(String, String)>> = BTreeMap::new();
    for (url, page) in &pages {
        for target in &page.outlinks {
            let linking = to.entry(target).or_default();
            linking.push((page.site.clone(), url.clone()));
        }
    }
    let which = Which {
        plan: Some("cores".to_owned()),
        refresh: None,
    };
    let explainer = bank.bank.explainer(&which).unwrap();
    let (mut linked, mut others) = (0_u32, 0_u32);
    for (url, page) in &pages {
        // Opening the bank costs most: some that are much linked, and some of the others.
        let linking = to.get(&**url).map_or(0, Vec::len);
        let (some, of) = if linking < 6 {
            (&mut others, 30)
        } else {
            (&mut linked, 5)
        };
        *some += 1;
        if !some.is_multiple_of(of) {
            continue;
        }
        let facts = bank.bank.page(url, LIMITS).unwrap();
        assert_eq!((facts.state, facts.spam), (page.state, page.spam), "{url}");
        assert_eq!(facts.uncrawled_outlinks, page.uncrawled_outlinks, "{url}");
        let of_target = |target: &String| (pages[target].site.clone(), target.clone());
        let mut targets: Vec<_> = page.outlinks.iter().map(of_target).collect();
        assert_eq!(facts.outlinks, by_site(&mut targets), "{url}");
        let mut linking = to.remove(&**url).unwrap_or_default();
        assert_eq!(facts.inlinks, by_site(&mut linking), "{url}");
        let why = explainer.page(url).unwrap().why;
        assert_eq!(facts.plans[0].why, why, "{url}");
    }
}
