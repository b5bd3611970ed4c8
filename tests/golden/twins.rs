//! Hosts with and without `www.`: with sites cut by host their links count as those between sites,
//! and some cores are nothing else. With the sites of new banks none is.
//!
//! `cargo test --locked --test golden -- twins --nocapture` prints the first 30 cores of both.

use crate::support;
use crate::support::banks::cores_of;
use crate::support::plans::exact_cores;
use seedbank::engine::query::CoreView;
use seedbank::engine::{Bank, IngestRequest, PlanOptions, RefreshRequest, Which};
use seedbank::ingest::{Input, Naming, SiteMode, UrlRules};

fn cores(crawl: &std::path::Path, naming: Naming) -> Vec<CoreView> {
    let place = support::scratch();
    let bank = Bank::create(place.path().join("bank"), naming).unwrap();
    let request = IngestRequest {
        inputs: vec![Input::File(crawl.to_path_buf())],
        allow_private: true,
        ..IngestRequest::default()
    };
    bank.ingest(&request).unwrap();
    let request = RefreshRequest {
        options: exact_cores(PlanOptions {
            seeds: Some(100),
            ..PlanOptions::default()
        }),
        ..RefreshRequest::default()
    };
    bank.refresh(&request).unwrap();

    cores_of(&bank, Which::default())
}

fn host(url: &str) -> &str {
    let rest = url.split_once("://").unwrap().1;
    rest.split(['/', ':']).next().unwrap()
}

/// The share of a core's links, of all that its pages can have, that join a host with the one that
/// has `www.` before it.
fn on_twins(core: &CoreView) -> f64 {
    let bare = |host: &str| host.strip_prefix("www.").unwrap_or(host).to_owned();
    let mut twins = 0_u32;
    for hub in &core.hubs {
        for authority in &core.authorities {
            let (from, to) = (host(hub), host(authority));
            twins += u32::from(from != to && bare(from) == bare(to));
        }
    }
    f64::from(twins) / core.edges as f64
}

#[test]
fn no_core_leans_on_hosts_with_and_without_www() {
    let Some(shared) = support::shared("no_core_leans_on_hosts_with_and_without_www") else {
        return;
    };
    let crawl = shared.join("data/ku-2017-webir/crawl.jsonl.gz");
    let old = cores(&crawl, SiteMode::Host.with(UrlRules::Whatwg));
    let new = cores(&crawl, Naming::default());
    let described = |core: &CoreView| {
        format!(
            "sigma {:8.3}, {:3} x {:3}, {:3.0} % on twins, {}",
            core.sigma,
            core.hubs.len(),
            core.authorities.len(),
            100.0 * on_twins(core),
            core.seed
        )
    };
    for (old, new) in old.iter().zip(&new).take(30) {
        println!("{:3}  host, whatwg:       {}", old.rank, described(old));
        println!("     bare-host, rfc3986: {}", described(new));
    }
    let leaning = |cores: &[CoreView]| cores.iter().filter(|core| on_twins(core) > 0.5).count();
    println!(
        "more than half on twins: {} and {} of 100",
        leaning(&old),
        leaning(&new)
    );
    assert!(leaning(&old) > 0, "the old way shows what is to be shown");
    assert_eq!(leaning(&new), 0);
}
