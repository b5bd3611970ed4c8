use super::*;

fn with_method(method: Method) -> CoverParams {
    CoverParams {
        method,
        ..CoverParams::default()
    }
}

#[test]
fn defaults_are_those_of_the_command_line() {
    let choice = CoverParams::default().choose().unwrap();
    assert_eq!(choice.seats, Seats::PerSite(10));
    assert_eq!((choice.hops, choice.depth), (5, 2));
    assert_eq!(choice.covered, Covered::Zero);
    assert!(choice.positive_only);
    assert_eq!(with_method(Method::Greedy).choose().unwrap().depth, 5);
    assert_eq!(
        with_method(Method::MaxOut).choose().unwrap().covered,
        Covered::Remove
    );
    let near = CoverParams {
        hops: 1,
        ..CoverParams::default()
    };
    assert_eq!(near.choose().unwrap().depth, 1);
}

#[test]
fn conflicting_parameters_are_rejected() {
    for method in [
        Method::Random,
        Method::Pagerank,
        Method::OutDegree,
        Method::RootScc,
        Method::Greedy,
    ] {
        let params = CoverParams {
            covered: Some(Covered::Remove),
            ..with_method(method)
        };
        assert_eq!(params.choose(), Err(BadParams::CannotRemove(method.name())));
    }
    let cases = [
        CoverParams {
            covered: Some(Covered::Zero),
            ..with_method(Method::MaxOut)
        },
        CoverParams {
            depth: Some(6),
            ..with_method(Method::MaxWeight)
        },
        CoverParams {
            depth: Some(2),
            ..with_method(Method::Greedy)
        },
        CoverParams {
            depth: Some(2),
            ..with_method(Method::Random)
        },
        CoverParams {
            hops: 1001,
            ..with_method(Method::MaxOut)
        },
        CoverParams {
            per_site: Some(1),
            seeds: Some(1),
            ..with_method(Method::MaxOut)
        },
        CoverParams {
            seeds: Some(0),
            ..with_method(Method::MaxOut)
        },
        CoverParams {
            share: Some(Share::Value),
            ..with_method(Method::MaxOut)
        },
        CoverParams {
            p_uniq: Some(Value(1_000_001)),
            ..with_method(Method::MaxOut)
        },
        CoverParams {
            weights: Weights {
                spam: Value::units(-1_000_001),
                ..Weights::default()
            },
            ..with_method(Method::MaxOut)
        },
    ];
    for params in cases {
        assert!(params.choose().is_err(), "{params:?}");
    }
}
