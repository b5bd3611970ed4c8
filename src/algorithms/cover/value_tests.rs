use super::*;

fn value(spam: bool, clicks: u64, uncrawled: u32, p_uniq: PUniq) -> i64 {
    let facts = PageFacts {
        spam,
        clicks,
        uncrawled_outlinks: uncrawled,
        quality: 0,
    };
    page_value(facts, p_uniq, &Weights::default())
}

#[test]
fn spam_wins_over_clicks_and_keeps_its_uncrawled_links() {
    let one = PUniq::from_digests(0, 0);
    assert_eq!(value(false, 0, 0, one), UNIT);
    assert_eq!(value(false, 3, 0, one), 10 * UNIT);
    assert_eq!(value(true, 3, 0, one), -10 * UNIT);
    assert_eq!(value(true, 0, 12, one), 2 * UNIT);
}

#[test]
fn quality_adds_its_share_of_the_weight_to_every_page() {
    let weights = |quality| Weights {
        quality,
        ..Weights::default()
    };
    let value = |spam, quality, weight| {
        let facts = PageFacts {
            spam,
            quality,
            ..PageFacts::default()
        };
        page_value(facts, PUniq::from_digests(0, 0), &weights(weight))
    };
    assert_eq!(value(false, 10_000, Value::units(5)), 6 * UNIT);
    assert_eq!(value(false, 8_000, Value::units(5)), 5 * UNIT);
    assert_eq!(value(true, 5_000, Value::units(5)), -7_500_000);
    assert_eq!(value(false, 0, Value::units(5)), UNIT);
    // Halves of a millionth go up, below zero too.
    assert_eq!(value(false, 1, Value(5_000)), UNIT + 1);
    assert_eq!(value(false, 1, Value(4_999)), UNIT);
    assert_eq!(value(false, 1, Value(-5_000)), UNIT);
    assert_eq!(value(false, 1, Value(-5_001)), UNIT - 1);
    let most = weights(Value::units(1_000_000));
    assert_eq!(most.quality_value(10_000), 1_000_000 * UNIT);
}

#[test]
fn the_uncrawled_term_is_rounded_to_the_nearest_with_halves_up() {
    // 11/20: 1 link is 0.55. 10/13: 0.769230769..., three links 2.307692307...
    assert_eq!(value(false, 0, 1, PUniq::from_digests(1, 10)), 1_550_000);
    assert_eq!(value(false, 0, 1, PUniq::from_digests(0, 3)), 1_769_231);
    assert_eq!(value(false, 0, 3, PUniq::from_digests(0, 3)), 3_307_692);
    // 12/64 of a millionth steps: 10/64 = 0.15625 exactly; 3 * 10/64 = 0.46875.
    assert_eq!(value(false, 0, 3, PUniq::from_digests(0, 54)), 1_468_750);
    // 15/128 = 0.1171875: the seventh decimal is an exact half, and goes up; below zero too.
    assert_eq!(value(false, 0, 1, PUniq::from_digests(5, 118)), 1_117_188);
    assert_eq!(value(true, 0, 1, PUniq::from_digests(5, 118)), -9_882_812);
    assert_eq!(value(false, 0, 3, PUniq::fixed(Value(333_333))), 1_999_999);
}

#[test]
fn the_largest_inputs_do_not_overflow() {
    let largest = value(
        true,
        u64::MAX,
        u32::MAX,
        PUniq::from_digests(u64::MAX, u64::MAX),
    );
    assert_eq!(largest, i64::from(u32::MAX) * UNIT - 10 * UNIT);
}

#[test]
fn text_and_millionths_agree_both_ways() {
    for (text, millionths) in [("0", 0), ("-10", -10_000_000), ("2.5", 2_500_000)] {
        assert_eq!(text.parse(), Ok(Value(millionths)));
        assert_eq!(Value(millionths).to_string(), text);
    }
    assert_eq!("-0.000001".parse(), Ok(Value(-1)));
    for bad in [
        "",
        "-",
        ".5",
        "1.",
        "1e3",
        "0.0000001",
        "99999999999999",
        "x",
    ] {
        assert!(bad.parse::<Value>().is_err(), "{bad}");
    }
    for millionths in [-9_882_812, 1, 1_000_000, 123_456_789_012] {
        let json = serde_json::to_string(&Value(millionths)).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&json).unwrap().0, millionths);
        let bytes = bincode::serialize(&Value(millionths)).unwrap();
        assert_eq!(bincode::deserialize::<Value>(&bytes).unwrap().0, millionths);
    }
}
