//! Plans through a bank: their parameters are stored, changed, and rejected if they are invalid.

use seedbank::engine::error::ErrorKind;
use seedbank::engine::plan::{CoverMethod, Method};
use seedbank::engine::{EngineError, PlanOptions, RefreshRequest};
use seedbank_algorithms::cover::Value;

use super::cover::{by, two_hundred_sites};
use crate::support::banks::TestBank;
use crate::support::plans::exact_cores;

#[test]
fn plans_are_kept_and_changed() {
    let bank = TestBank::new();
    bank.delta(&two_hundred_sites());
    let first = PlanOptions {
        per_site: Some(3),
        depth: Some(1),
        value_spam: Some(Value::units(-7)),
        ..by(CoverMethod::MaxWeight)
    };
    bank.refresh("p", &first, false);
    let none = PlanOptions::default();
    let report = bank.refresh("p", &none, false);
    assert_eq!(report.view.parameters, first);
    assert!(!report.plan_changed && !report.view.cold);
    // Said again, or a default said: the same plan.
    let same = PlanOptions {
        hops: Some(5),
        per_site: Some(3),
        ..PlanOptions::default()
    };
    let report = bank.refresh("p", &same, false);
    assert!(!report.plan_changed && report.view.steps_reused == 200);
    let other = PlanOptions {
        hops: Some(4),
        ..PlanOptions::default()
    };
    let report = bank.refresh("p", &other, false);
    assert!(report.plan_changed && report.view.cold && report.view.steps_recomputed == 200);
    assert_eq!(report.view.parameters.depth, Some(1));
    // Another method replaces all parameters, so it has to be said.
    let request = RefreshRequest {
        plan: Some("p".to_owned()),
        options: by(CoverMethod::Greedy),
        ..RefreshRequest::default()
    };
    let refused = bank.bank.refresh(&request).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Usage, "{refused}");
    let report = bank.replace("p", &by(CoverMethod::Greedy));
    assert!(report.plan_changed && report.view.cold);
    assert_eq!(
        (
            report.view.parameters.depth,
            report.view.parameters.per_site
        ),
        (None, None)
    );
    let shared = PlanOptions {
        seeds: Some(50),
        ..PlanOptions::default()
    };
    let report = bank.refresh("p", &shared, false);
    assert_eq!(
        (report.view.parameters.per_site, report.view.seeds),
        (None, 50)
    );
    let by_cores = PlanOptions {
        method: Some(Method::Cores),
        ..PlanOptions::default()
    };
    let report = bank.replace("p", &by_cores);
    assert_eq!(report.view.parameters, exact_cores(by_cores));
    assert!(report.plan_changed && report.view.cores > 0);
    let report = bank.replace("p", &by(CoverMethod::MaxOut));
    assert!(report.plan_changed && report.view.cold && report.view.steps_reused == 0);
    bank.is_sound();
}

#[test]
fn parameters_of_the_other_family_are_refused() {
    let bank = TestBank::new();
    let refused = |options: &str| {
        let request = RefreshRequest {
            options: exact_cores(PlanOptions::from_toml(options).unwrap()),
            ..RefreshRequest::default()
        };
        let error = bank.bank.refresh(&request).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage, "{error}");
        assert!(matches!(error, EngineError::Plan(_)));
        error.to_string()
    };
    let text = refused("hops = 3\ndepth = 1");
    assert_eq!(
        text,
        "hops, depth belong to a cover method (such as max-weight), but the plan's method is cores; remove what does not fit, or give the method"
    );
    let text = refused("method = 'greedy'\ndensity = 60");
    assert!(text.contains("density belongs to the method cores, but"));
    assert!(refused("method = 'greedy'\ndepth = 2").contains("greedy always looks 5 hops ahead"));
    assert!(refused("method = 'random'\ncovered = 'remove'").contains("does not support"));
    assert!(refused("method = 'random'\nshare = 'value'").contains("add `seeds`"));
    assert!(
        refused("method = 'random'\np-uniq = 1.5").contains("`p-uniq`: expected 0 to 1, found 1.5")
    );
    assert!(PlanOptions::from_toml("method = 'best'").is_err());
    let all = "method = 'max-scc'\nseeds = 9\nshare = 'pagerank'\nhops = 3\ndepth = 1\ncovered = 'remove'\n\
        value-base = 0.5\nvalue-spam = -2\nvalue-clicked = 3.25\np-uniq = 0.125\npositive-only = false\nrng-seed = 4";
    let options = PlanOptions::from_toml(all).unwrap();
    options.resolve().unwrap();
    assert_eq!(options.value_clicked, Some(Value(3_250_000)));
    // Kept as JSON, and read again.
    bank.refresh("all", &options, false);
    let report = bank.refresh("all", &PlanOptions::default(), false);
    assert_eq!(report.view.parameters, options);
    assert!(!report.plan_changed);
}
