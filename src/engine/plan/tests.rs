//! Every parameter by its declaration: names, ranges, help, merging.

use super::*;
use seedbank_algorithms::cover::{Covered, Value};

/// A value that the parameter takes, as text.
fn sample(parameter: &Parameter) -> &str {
    match (parameter.words.first(), parameter.kind) {
        (Some(word), _) => &word.name,
        (None, ValueKind::Switch) => "true",
        (None, ValueKind::List) => "@media",
        (None, ValueKind::Text | ValueKind::Signed) => {
            // Some numbers begin at 2, and some end at 1; limits of a crawl are no numbers.
            let takes = |text: &&str| parameter.read(&mut PlanOptions::default(), text).is_ok();
            let samples = ["1", "2", "depth=1"].into_iter().find(takes);
            samples.unwrap_or_default()
        }
    }
}

fn options(toml: &str) -> PlanOptions {
    PlanOptions::from_toml(toml).unwrap()
}

#[test]
fn flags_files_and_stored_plans_have_the_same_names() {
    for parameter in Parameter::all() {
        let mut read = PlanOptions::default();
        parameter.read(&mut read, sample(parameter)).unwrap();
        let json = serde_json::to_value(&read).unwrap();
        let names: Vec<&String> = json.as_object().unwrap().keys().collect();
        assert_eq!(names, [&parameter.name]);
        let quote = match parameter.kind {
            ValueKind::Switch => "",
            _ if ["1", "2"].contains(&sample(parameter)) => "",
            _ => "'",
        };
        let line = format!("{} = {quote}{}{quote}", parameter.name, sample(parameter));
        assert_eq!(options(&line), read, "{line}");
        parameter.slot.clear(&mut read);
        assert_eq!(read, PlanOptions::default());
    }
}

#[test]
fn every_parameter_and_every_word_is_explained() {
    for parameter in Parameter::all() {
        assert!(!parameter.help.is_empty(), "{parameter:?}");
        assert!(!parameter.help.contains("  "), "{parameter:?}");
        for word in &parameter.words {
            assert!(!word.help.is_empty(), "{parameter:?} {word:?}");
            assert!(!word.help.contains('\n'), "{parameter:?} {word:?}");
        }
    }
    let method = Parameter::named("method").unwrap();
    let methods: Vec<&str> = method.words.iter().map(|word| &*word.name).collect();
    assert_eq!(methods, Method::NAMES);
}

#[test]
fn values_out_of_range_are_refused_by_name() {
    for (toml, text) in [
        ("seeds = 0", "`seeds`: expected at least 1, found 0"),
        (
            "hits = 'classic'\niterations = 0",
            "`iterations`: expected 1 to 100000, found 0",
        ),
        ("core-size = 1", "`core-size`: expected at least 2, found 1"),
        ("max-hubs = 0", "`max-hubs`: expected at least 1, found 0"),
        (
            "method = 'greedy'\nhops = 1001",
            "`hops`: expected 0 to 1000, found 1001",
        ),
        (
            "method = 'greedy'\nvalue-base = -1000000.5",
            "`value-base`: expected -1000000 to 1000000, found -1000000.5",
        ),
        (
            "method = 'greedy'\np-uniq = 1.5",
            "`p-uniq`: expected 0 to 1, found 1.5",
        ),
        (
            "method = 'greedy'\nscope = 'web'\nfetch-cost = -1",
            "`fetch-cost`: expected 0 to 1000, found -1",
        ),
        ("min-quality = 2", "`min-quality`: expected 0 to 1, found 2"),
    ] {
        let error = options(toml).resolve().unwrap_err();
        assert_eq!(error.to_string(), text);
    }
    for toml in ["value-base = -1000000", "p-uniq = 1", "hops = 0"] {
        options(&format!("method = 'max-out'\n{toml}"))
            .resolve()
            .unwrap();
    }
}

#[test]
fn weights_are_those_given_and_the_defaults() {
    let weights = options("value-spam = -2.5\nvalue-quality = 3").weights();
    let usual = Weights::default();
    assert_eq!(weights.spam, Value(-2_500_000));
    assert_eq!(weights.quality, Value::units(3));
    assert_eq!((weights.base, weights.clicked), (usual.base, usual.clicked));
}

#[test]
fn given_parameters_set_aside_what_contradicts_them() {
    for (given, stored, merged) in [
        ("seeds = 3", "density = 80", "seeds = 3\ndensity = 80"),
        (
            "core-size = 9",
            "density = 80\npages = 'crawled'",
            "core-size = 9\npages = 'crawled'",
        ),
        (
            "growth = 'literal'",
            "core-size = 9\nnew-members = 2",
            "growth = 'literal'",
        ),
        (
            "succeed = false",
            "pick = 'stable'",
            "succeed = false\npick = 'stable'",
        ),
        ("succeed = true", "pick = 'stable'", "succeed = true"),
        ("per-site = 2", "seeds = 9\nshare = 'value'", "per-site = 2"),
        ("share = 'value'", "per-site = 2", "share = 'value'"),
        (
            "method = 'max-out'",
            "method = 'max-weight'\ndepth = 1\ncovered = 'zero'\nhops = 3",
            "method = 'max-out'\nhops = 3",
        ),
        (
            "method = 'greedy'",
            "seeds = 9\nhits = 'classic'\nmin-hubs = 2\nmax-per-site = 3",
            "method = 'greedy'\nmax-per-site = 3",
        ),
        (
            "scope = 'site'",
            "method = 'greedy'\nscope = 'web'\nbudget = 9\nvalue-known = 1\nhops = 2",
            "method = 'greedy'\nscope = 'site'\nhops = 2",
        ),
        (
            "max-per-domain = 'none'",
            "max-per-domain = 3\nexclude = '@media'",
            "exclude = '@media'",
        ),
        // Without a limit, it would be tuned.
        (
            "max-per-site = 'none'",
            "max-per-site = 3",
            "max-per-site = 'none'",
        ),
    ] {
        let found = options(given).merged_over(&options(stored)).without_none();
        assert_eq!(found, options(merged), "{given} over {stored}");
    }
}

#[test]
fn what_was_tried_lasts_as_long_as_what_it_was_tried_for() {
    let stored = PlanOptions {
        hops: Some(2),
        fetch_cost: Some(Value::units(1)),
        tuned: Some(TuningRecord {
            batch: BatchId::default(),
            settings: 20,
            gathered: 1.0,
            draws: 3,
            crawled: 100,
            parameters: vec![TunedParameter::Hops, TunedParameter::FetchCost],
        }),
        ..options("method = 'greedy'\nscope = 'web'\nbudget = 100")
    };
    assert_eq!(
        options("budget = 100\nseeds = 5").merged_over(&stored).hops,
        Some(2)
    );
    for given in ["budget = 9", "value-by = 'pagerank'", "method = 'max-out'"] {
        let merged = options(given).merged_over(&stored);
        assert_eq!(
            (merged.hops, merged.fetch_cost, merged.tuned),
            (None, None, None)
        );
    }
    let merged = options("hops = 3").merged_over(&stored);
    assert_eq!(
        (merged.hops, merged.fetch_cost),
        (Some(3), stored.fetch_cost)
    );
    assert_eq!(merged.tuned, None);
    let merged = options("hops = 3\nbudget = 9").merged_over(&stored);
    assert_eq!((merged.hops, merged.fetch_cost), (Some(3), None));
}

#[test]
fn a_damaged_stored_plan_is_an_error() {
    let stored = options("method = 'max-weight'\ncovered = 'remove'\nvalue-spam = -2.5");
    let text = stored.to_stored().unwrap();
    assert_eq!(PlanOptions::from_stored(&text).unwrap(), stored);
    assert_eq!(stored.covered, Some(Covered::Remove));
    for text in [
        "",
        "{",
        "3",
        r#"{"sedes":3}"#,
        r#"{"hops":-1}"#,
        r#"{"method":"best"}"#,
    ] {
        let error = PlanOptions::from_stored(text).unwrap_err();
        assert!(matches!(error, PlanError::Stored(_)), "{text}");
    }
}
