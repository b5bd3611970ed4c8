//! The golden results `*.cover`: every method on every site of real and generated graphs, pick by
//! pick and gain by gain, the sample of page values, and the share-out of 500 seeds.

use crate::support::sites::{Loaded, LoadedSite, load};
use crate::support::{golden, shared};
use seedbank::watch::Unwatched;
use seedbank_algorithms::cover::{CoverParams, Covered, Method, Pick, Site, apportion, select_all};
use seedbank_algorithms::page::SiteId;
use serde_json::Value;

/// The parameters that a key of the golden file stands for.
fn params(key: &str) -> CoverParams {
    let removed = key.strip_suffix("-remove");
    let name = removed.unwrap_or(key);
    let (method, depth) = match name {
        "out-degree" => (Method::OutDegree, None),
        "pagerank" => (Method::Pagerank, None),
        "max-out" => (Method::MaxOut, None),
        "greedy" => (Method::Greedy, None),
        "max-weight-1" => (Method::MaxWeight, Some(1)),
        "max-weight-2" => (Method::MaxWeight, Some(2)),
        "max-weight-3" => (Method::MaxWeight, Some(3)),
        "max-scc-1" => (Method::MaxScc, Some(1)),
        "max-scc-2" => (Method::MaxScc, Some(2)),
        "root-scc-2" => (Method::RootScc, Some(2)),
        _ => panic!("no method for {key}"),
    };
    CoverParams {
        method,
        depth,
        covered: removed.map(|_| Covered::Remove),
        positive_only: false,
        ..CoverParams::default()
    }
}

fn integers(json: &Value) -> Vec<i64> {
    let list = json.as_array().unwrap().iter();
    list.map(|n| n.as_i64().unwrap()).collect()
}

/// How many of the picks `--positive-only` keeps: those before the first that adds nothing, no page with max-out, else no
/// positive value. Baselines pick regardless of coverage.
pub fn kept(key: &str, entry: &Value) -> usize {
    let adds = match key {
        "out-degree" | "pagerank" => return entry["seeds"].as_array().unwrap().len(),
        "max-out" => integers(&entry["covered_pages"]),
        _ => integers(&entry["covered_value_millionths"]),
    };
    adds.iter().take_while(|adds| **adds > 0).count()
}

/// All picks of one method agree; returns how many there were.
fn method_agrees(name: &str, key: &str, wanted: &[Value], loaded: &Loaded) -> usize {
    let site = |entry: &Value| &loaded.sites[entry["site"].as_str().unwrap()];
    let sites: Vec<&LoadedSite> = wanted.iter().map(site).collect();
    let big = loaded.sites.values().filter(|site| site.urls.len() >= 5);
    assert_eq!(big.count(), sites.len(), "{name} {key}: the sites");
    let seats: Vec<(Site<'_>, u32)> = sites
        .iter()
        .zip(0..)
        .map(|(site, id)| {
            let (id, name, graph) = (SiteId(id), site.name.as_str(), &site.graph);
            (Site { id, name, graph }, 10)
        })
        .collect();
    let mut params = params(key);
    let all = select_all(&seats, &params, &Unwatched).unwrap();
    params.positive_only = true;
    let positive = select_all(&seats, &params, &Unwatched).unwrap();
    let mut picks = 0;
    for (((entry, site), cover), positive) in wanted.iter().zip(sites).zip(&all).zip(&positive) {
        let at = format!("{name} {key} {}", site.name);
        assert_eq!(entry["pages"], site.urls.len(), "{at}");
        assert_eq!(
            entry["delicate"], false,
            "{at}: nothing here is left to rounding"
        );
        let seeds = cover
            .picks
            .iter()
            .map(|pick| &site.urls[pick.seed.page as usize]);
        assert_eq!(entry["seeds"], seeds.cloned().collect::<Value>(), "{at}");
        let pages = cover.picks.iter().map(Pick::covered_pages);
        assert_eq!(entry["covered_pages"], pages.collect::<Value>(), "{at}");
        let values: Vec<i64> = cover.picks.iter().map(Pick::covered_value).collect();
        assert_eq!(integers(&entry["covered_value_millionths"]), values, "{at}");
        let kept = kept(key, entry);
        let seeds =
            |picks: &[Pick]| -> Vec<u32> { picks.iter().map(|pick| pick.seed.page).collect() };
        assert_eq!(seeds(&positive.picks), seeds(&cover.picks[..kept]), "{at}");
        picks += values.len();
    }
    picks
}

fn agrees(name: &str) {
    let Some(shared) = shared(name) else {
        return;
    };
    let wanted = golden(&shared, &format!("{name}.cover"));
    let loaded = load(&shared, name);
    let mut methods = 0;
    for (key, wanted) in wanted.as_object().unwrap() {
        match (key.as_str(), wanted) {
            ("values_millionths", Value::Object(values)) => values_agree(&loaded, values),
            ("share_500_by_pages", Value::Object(seats)) => shares_agree(&loaded, seats),
            (key, Value::Array(wanted)) => {
                assert!(method_agrees(name, key, wanted, &loaded) > 0);
                methods += 1;
            }
            _ => panic!("unexpected {key}"),
        }
    }
    assert_eq!(methods, 12, "{name}: the methods");
}

fn values_agree(loaded: &Loaded, values: &serde_json::Map<String, Value>) {
    assert!(values.len() > 500);
    for (url, value) in values {
        let host = url::Url::parse(url).unwrap().host_str().unwrap().to_owned();
        let site = &loaded.sites[&host];
        assert_eq!(value, site.graph.values()[site.page(url) as usize], "{url}");
    }
}

fn shares_agree(loaded: &Loaded, seats: &serde_json::Map<String, Value>) {
    // Only sites with crawled pages are in the file.
    let crawled = loaded
        .crawled
        .iter()
        .filter(|site| seats.contains_key(site.0));
    let weights: Vec<(&str, u64)> = crawled
        .map(|(name, &pages)| (name.as_str(), pages))
        .collect();
    assert_eq!(weights.len(), seats.len());
    assert_eq!(
        weights.iter().filter(|w| w.1 > 0).count(),
        loaded.sites.len()
    );
    let found = apportion(500, &weights);
    assert_eq!(found.iter().sum::<u32>(), 500);
    for ((name, _), found) in weights.iter().zip(found) {
        assert_eq!(seats[*name], found, "{name}");
    }
}

real_graphs! {
    agrees:
    a_student_crawl_of_a_university => "ku-2017-webir",
    a_generated_crawl_with_spam_and_clicks => "generated",
    a_small_university => "hollins",
    one_encyclopedia_with_clicks => "wikispeedia",
}
