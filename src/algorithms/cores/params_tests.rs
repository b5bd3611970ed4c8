use super::*;

#[test]
fn invalid_parameters_are_rejected() {
    let good = CoreParams::default();
    assert_eq!(good.validate(), Ok(()));
    let size = |size, new_members| CoreParams {
        rule: Rule::Size { size, new_members },
        ..good
    };
    let out = BadParams::OutOfRange;
    let classic = CoreParams {
        hits: Hits::Classic,
        ..good
    };
    let iterations = |iterations| CoreParams {
        iterations,
        ..classic
    };
    let within = CoreParams {
        within: "1".parse().unwrap(),
        ..classic
    };
    let max_hubs = CoreParams {
        max_hubs: Some(0),
        ..good
    };
    let cases = [
        (CoreParams { seeds: 0, ..good }, out("seeds")),
        (iterations(0), out("iterations")),
        (iterations(ITERATIONS.end() + 1), out("iterations")),
        (within, BadParams::ClassicWithin),
        (size(1, 1), out("core-size")),
        (size(9, 0), out("new-members")),
        (max_hubs, out("max-hubs")),
    ];
    for (params, error) in cases {
        assert_eq!(params.validate(), Err(error));
    }
}

#[test]
fn parameters_survive_json_and_binary() {
    let params = CoreParams {
        rule: Rule::Size {
            size: 20,
            new_members: 2,
        },
        max_hubs: Some(999),
        pick: Pick::Stable,
        ..CoreParams::default()
    };
    let json = serde_json::to_string(&params).unwrap();
    assert_eq!(serde_json::from_str::<CoreParams>(&json).unwrap(), params);
    let bytes = bincode::serialize(&params).unwrap();
    assert_eq!(bincode::deserialize::<CoreParams>(&bytes).unwrap(), params);
    assert_eq!(
        serde_json::from_str::<CoreParams>("{}").unwrap(),
        CoreParams::default()
    );
}
