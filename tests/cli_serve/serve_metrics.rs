//! What `/metrics` says of requests, and that the dashboard and the alert rules of the guide name metrics
//! that exist.
//!
//! Bug classes: a route or status that a client chooses as a label, a rejected request that is not
//! counted, a rule about a metric that was renamed.

#![expect(
    clippy::float_cmp,
    reason = "numbers are read as they were written, to the bit"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::command::Place;
use crate::support::http::{Answer, Served};
use crate::support::prometheus::{judged_by_promtool, of, parsed};
use crate::support::skipped::skipped;

const MONITORING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/monitoring");

fn metrics(answer: Answer) -> String {
    let text = answer.done();
    judged_by_promtool(&text);
    text
}

#[test]
fn requests_are_counted_by_route_and_status() {
    let place = Place::with_seeds();
    let served = Served::start(&place, &["bank"]);
    // A scrape does not count itself.
    let first = metrics(served.get("/metrics"));
    assert!(!first.contains("seedbank_http"), "{first}");
    for _ in 0..3 {
        served.get("/").done();
    }
    for to in [
        "/nothing",
        "/nothing/else?route=x",
        "/page",
        "/page?url=x&x=1",
    ] {
        assert!((400..500).contains(&served.get(to).status), "{to}");
    }
    assert_eq!(served.ask("DELETE", "/", &[], b"").status, 405);
    let samples = parsed(&metrics(served.get("/metrics")));
    let requests = |route: &str, code: &str| {
        of(
            &samples,
            "http_requests_total",
            &[("route", route), ("code", code)],
        )
    };
    assert_eq!(requests("/", "2xx"), 3.0);
    assert_eq!(requests("/", "4xx"), 1.0);
    assert_eq!(requests("/page", "4xx"), 2.0);
    assert_eq!(requests("other", "4xx"), 2.0);
    assert_eq!(requests("/metrics", "2xx"), 1.0);
    let name = "http_request_duration_seconds";
    for (route, count) in [("/", 4.0), ("/page", 2.0), ("other", 2.0)] {
        let label = [("route", route)];
        assert_eq!(of(&samples, &format!("{name}_count"), &label), count);
        let mut within = 0.0;
        for bound in ["0.001", "0.005", "0.025", "0.1", "0.5", "2", "10", "+Inf"] {
            let bucket = [("route", route), ("le", bound)];
            let value = of(&samples, &format!("{name}_bucket"), &bucket);
            assert!(value >= within, "{route} {bound}");
            within = value;
        }
        assert_eq!(within, count, "{route}");
    }
    served.stop();
}

/// The names of a text that begin with `seedbank_`.
fn names(text: &str) -> BTreeSet<String> {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.split(|c| !is_of_name(c))
        .filter(|word| word.starts_with("seedbank_"))
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_dashboard_and_the_alerts_name_metrics_that_exist() {
    let place = Place::with_bank();
    let synth = ["synth", "crawl", "--pages", "2000", "--rng-seed", "1"];
    place.run(&synth).done();
    let snapshot = ["ingest", "bank", "crawl/day-000.jsonl.zst", "--snapshot"];
    place.run(&snapshot).done();
    // Of a goal, so that the list has a verdict.
    let refresh = ["refresh", "bank", "--seeds", "10", "--budget", "200"];
    place.run(&refresh).done();
    let served = Served::start(&place, &["bank"]);
    served.get("/").done();
    let samples = parsed(&metrics(served.get("/metrics")));
    let exist: BTreeSet<String> = samples.into_keys().map(|(name, _)| name).collect();
    served.stop();
    for file in ["alerts.yml", "alerts_test.yml", "dashboard.json"] {
        let text = fs::read_to_string(Path::new(MONITORING).join(file)).unwrap();
        let named = names(&text);
        assert!(named.len() > 5, "{file}: {named:?}");
        let unknown: Vec<&String> = named.difference(&exist).collect();
        assert!(
            unknown.is_empty(),
            "{file}: {unknown:?}; there are {exist:?}"
        );
    }
}

#[test]
fn the_alerts_are_raised_as_they_say() {
    for arguments in [
        ["check", "rules", "alerts.yml"],
        ["test", "rules", "alerts_test.yml"],
    ] {
        let ended = Command::new("promtool")
            .args(arguments)
            .current_dir(MONITORING)
            .output();
        let Ok(ended) = ended else {
            skipped("serve_metrics", "promtool", "apt-get install prometheus");
            return;
        };
        let said = String::from_utf8_lossy(&ended.stdout) + String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.success(), "{said}");
    }
    let dashboard = fs::read(Path::new(MONITORING).join("dashboard.json")).unwrap();
    let dashboard: serde_json::Value = serde_json::from_slice(&dashboard).unwrap();
    for panel in dashboard["panels"].as_array().unwrap() {
        assert!(!panel["targets"].as_array().unwrap().is_empty(), "{panel}");
    }
}
