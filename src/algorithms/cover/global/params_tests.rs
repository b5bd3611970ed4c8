use super::super::super::params::Share;
use super::*;

fn plan(method: Method) -> WebParams {
    WebParams {
        cover: CoverParams {
            method,
            ..CoverParams::default()
        },
        ..WebParams::default()
    }
}

#[test]
fn conflicting_parameters_are_rejected() {
    let greedy = || plan(Method::Greedy);
    let mut cases = vec![plan(Method::MaxScc), plan(Method::RootScc)];
    let mut add = |method: Method, change: fn(&mut WebParams)| {
        let mut params = plan(method);
        change(&mut params);
        cases.push(params);
    };
    add(Method::Greedy, |p| p.cover.per_site = Some(3));
    add(Method::Greedy, |p| p.cover.share = Some(Share::Value));
    add(Method::Greedy, |p| p.cover.seeds = Some(0));
    add(Method::Greedy, |p| p.cover.depth = Some(1));
    add(Method::MaxWeight, |p| {
        p.cover.covered = Some(Covered::Remove);
    });
    add(Method::MaxWeight, |p| p.budget = Some(10));
    add(Method::MaxOut, |p| p.fetch_cost = Some(Value(1)));
    add(Method::Random, |p| p.fetch_cost = Some(Value(0)));
    add(Method::Greedy, |p| p.fetch_cost = Some(Value(-1)));
    add(Method::Greedy, |p| {
        p.fetch_cost = Some(Value(MAX_PRICE * UNIT + 1));
    });
    add(Method::Greedy, |p| {
        p.value_known = Some(Value(1_000_001 * UNIT));
    });
    add(Method::Greedy, |p| p.holdouts = Some(1));
    add(Method::Greedy, |p| {
        p.cover.weights.quality = Value::units(1);
        p.value_by = ValueBy::Pagerank;
    });
    add(Method::MaxWeight, |p| p.value_by = ValueBy::Learned);
    add(Method::Greedy, |p| {
        p.value_by = ValueBy::Learned;
        p.value_known = Some(Value(0));
    });
    add(Method::Greedy, |p| p.budget = Some(0));
    add(Method::Greedy, |p| p.tune_visits = Some(9));
    add(Method::Greedy, |p| p.hops = Some(1001));
    for params in cases {
        assert!(params.choose().is_err(), "{params:?}");
    }
    let choice = greedy().choose().unwrap();
    assert_eq!(
        (choice.seeds, choice.hops, choice.fetch_cost),
        (100, Some(2), Some(Value(0)))
    );
    assert_eq!(plan(Method::OutDegree).choose().unwrap().hops, Some(5));
}

#[test]
fn a_grid_has_only_the_given_values() {
    let mut params = plan(Method::Greedy);
    params.budget = Some(1000);
    let grid = params.choose().unwrap().grid();
    let of = |millionths: &[i64]| millionths.iter().copied().map(Value).collect::<Vec<_>>();
    assert_eq!(grid.hops, [1, 2, 3, 4, 8]);
    let costs = [
        0, 50_000, 100_000, 170_000, 250_000, 330_000, 400_000, 500_000, 670_000, 800_000, 900_000,
    ];
    assert_eq!(grid.fetch_costs, of(&costs));
    assert_eq!(grid.values_known, of(&[0, 100_000, 300_000, UNIT]));
    params.objective = Objective::Discovery;
    let grid = params.choose().unwrap().grid();
    let known = [0, 100_000, 300_000, UNIT, 10 * UNIT];
    assert_eq!(grid.values_known, of(&known));
    params.objective = Objective::Value;
    // Twice the base weight, rounded down.
    params.cover.weights.base = Value(2_000_001);
    let grid = params.choose().unwrap().grid();
    assert_eq!(grid.fetch_costs, of(&costs.map(|cost| 2 * cost)));
    assert_eq!(grid.values_known, of(&[0, 200_000, 600_000, 2 * UNIT + 1]));
    params.value_by = ValueBy::Pagerank;
    params.hops = Some(2);
    let grid = params.choose().unwrap().grid();
    let costs = [
        0, 500_000, 750_000, 1_000_000, 1_500_000, 2_000_000, 3_000_000, 4_000_000,
    ];
    assert_eq!(grid.hops, [2]);
    assert_eq!(grid.fetch_costs, of(&costs));
    assert_eq!(grid.values_known, of(&[0]));
}

#[test]
fn the_value_of_known_pages_alone_is_not_tuned() {
    let mut params = plan(Method::Greedy);
    params.budget = Some(1000);
    params.hops = Some(2);
    assert_eq!(params.choose().unwrap().value_known, None);
    // As plans were stored before the value of known pages could be tuned.
    params.fetch_cost = Some(Value(330_000));
    let setting = Setting {
        hops: 2,
        fetch_cost: Value(330_000),
        value_known: Value(0),
        max_per_site: None,
    };
    assert_eq!(params.choose().unwrap().setting(), Some(setting));
    params.value_known = Some(Value(UNIT));
    let setting = Setting {
        value_known: Value(UNIT),
        ..setting
    };
    assert_eq!(params.choose().unwrap().setting(), Some(setting));
}
