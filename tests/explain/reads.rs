//! The reads that an explanation takes, on banks of two sizes, by every kind of plan and with every policy.
//!
//! Catches reads that grow with the number of seeds, sites, batches or pinned pages.

use crate::support::banks::TestBank;
use crate::support::plans::plan;
use seedbank::engine::PlanOptions;
use seedbank::engine::policy::List;
use seedbank::engine::query::{PolicyVerdict, Why};
use seedbank_store::{Reader, tables};
use serde_json::json;

/// Pages of a site: a home page and its articles.
const PAGES: usize = 4;
/// Batches, which are crawls at different times.
const BATCHES: usize = 30;

fn url(site: usize, page: usize) -> String {
    // Two sites have one domain.
    format!("http://s{site}.d{}.test/{page}", site / 2)
}

/// Sites that link to themselves and to the next ones; articles are fetched again in later batches.
fn bank(sites: usize) -> TestBank {
    let bank = TestBank::new();
    for batch in 0..BATCHES {
        let mut lines = String::new();
        for site in (0..sites).filter(|site| batch == 0 || site % BATCHES == batch) {
            for page in 0..PAGES {
                let own = (0..PAGES + 2).map(|to| url(site, to));
                let next = (1..4).map(|step| url((site + step * (page + 1)) % sites, 0));
                let record = json!({
                    "url": url(site, page),
                    "fetched": 1_795_060_800 + 86_400 * batch,
                    "outlinks": own.chain(next).collect::<Vec<_>>(),
                });
                lines += &(record.to_string() + "\n");
            }
        }
        bank.delta(&lines);
    }
    bank
}

/// Plans of every kind. The second list of a plan with `max-changes` differs from the selection.
fn plans(sites: usize) -> Vec<(&'static str, PlanOptions)> {
    let seeds = sites / 4;
    let pinned: Vec<String> = (0..sites / 8).map(|site| url(site, 3)).collect();
    let with_lists = |options: &str| PlanOptions {
        pin: Some(List::parse("pins", &pinned.join("\n"))),
        exclude: Some(List::parse("no", ".d1.test\n")),
        ..plan(options)
    };
    let web = format!("method=greedy scope=web seeds={seeds} hops=1 fetch-cost=0.1 value-known=0");
    let budget = "budget=100 revisit=auto";
    let caps = "max-per-site=1 max-per-domain=1";
    let per_site = "method=greedy per-site=2";
    let cores = format!("method=cores within=0 seeds={seeds}");
    vec![
        ("web", plan(&format!("{web} {budget}"))),
        ("web-caps", plan(&format!("{web} {budget} {caps}"))),
        ("web-lists", with_lists(&format!("{web} {caps}"))),
        ("web-changes", plan(&format!("{web} max-changes=1"))),
        ("sites", plan(per_site)),
        ("sites-caps", with_lists(&format!("{per_site} {caps}"))),
        ("cores", plan(&cores)),
        ("cores-caps", with_lists(&format!("{cores} {caps}"))),
        ("domains", plan(&format!("{web} max-per-domain=1"))),
    ]
}

#[test]
fn an_explanation_takes_few_reads_whatever_the_size_and_the_policies() {
    let (mut capped, mut deferred) = (0, 0);
    for sites in [16, 512] {
        let bank = bank(sites);
        for (name, options) in plans(sites) {
            bank.refresh(name, &options, false);
            if options.max_changes.is_some() {
                bank.refresh(name, &plan("hops=2"), false);
            }
            for site in (0..sites).step_by(sites / 16) {
                for page in 0..PAGES + 2 {
                    let answer = bank.bank.explain(&url(site, page), name).unwrap();
                    let (reads, why) = (answer.cost.reads, &answer.why);
                    let lists = options.pin.iter().count() + options.exclude.iter().count();
                    // Policies are explained by the places of seeds on the list, and by full caps.
                    let is_capped =
                        options.max_per_site.is_some() || options.max_per_domain.is_some();
                    let most = if is_capped { 24 } else { 20 };
                    assert!(
                        reads <= most + lists as u64,
                        "{name}, {sites} sites: {reads} reads: {answer:?}"
                    );
                    capped += u64::from(matches!(
                        answer.policy,
                        Some(PolicyVerdict::Rejected { .. })
                    ));
                    deferred += u64::from(matches!(why, Why::WebSeed(seed) if seed.deferred));
                }
            }
        }
        bank.is_sound();
        // A plan without a limit by site, the last one, has no full sites.
        let reader = Reader::open(bank.bank.path()).unwrap();
        let last = reader.counters().unwrap().refresh;
        let full = reader
            .scan_under(&tables::FULL_CAPS, &last.to_be_bytes())
            .unwrap();
        let names: Vec<String> = full.map(|entry| entry.unwrap().0.1).collect();
        assert!(!names.is_empty() && names.iter().all(|name| name.starts_with("*.")));
    }
    assert!(capped > 0 && deferred > 0, "{capped}, {deferred}");
}
