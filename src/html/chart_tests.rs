use super::*;

#[test]
fn ticks_are_round_and_enclose_the_range() {
    assert_eq!(ticks(0.0, 10.0, 5.0), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
    assert_eq!(ticks(-3.0, 11.0, 5.0), [-5.0, 0.0, 5.0, 10.0, 15.0]);
    assert_eq!(ticks(0.0, 0.0, 5.0), [0.0, 1.0]);
    assert_eq!(ticks(0.0, f64::NAN, 5.0), [0.0, 1.0]);
    for high in [0.003, 7.0, 99.0, 123_456.0] {
        let found = ticks(0.0, high, 5.0);
        assert!(found.last().unwrap() >= &(high * 0.999), "{found:?}");
        assert!((3..=11).contains(&found.len()), "{found:?}");
    }
}

#[test]
fn names_do_not_cover_each_other() {
    let places = spread(&[50.0, 52.0, 51.0, 200.0], 30.0, 206.0);
    assert_eq!(places, [50.0, 76.0, 63.0, 200.0]);
    let places = spread(&[205.0, 206.0, 206.0], 30.0, 206.0);
    assert_eq!(places, [180.0, 193.0, 206.0]);
}

#[test]
fn points_are_drawn_at_the_positions_of_the_axes() {
    let frame = Frame {
        id: "c",
        title: "<t>",
        description: "d",
        x: "depth",
        y: "pages",
    };
    let line = |y: f64| Series {
        name: "a & b".to_owned(),
        look: 0,
        points: vec![
            Point {
                x: 0.0,
                y: 0.0,
                error: 0.0,
            },
            Point {
                x: 4.0,
                y,
                error: 1.0,
            },
        ],
    };
    let drawn = lines(&frame, &[line(9.0)], 80.0, None);
    // 0 is at the foot of the axis, 9 of 0..10 at nine tenths of its height.
    assert!(
        drawn.contains("points=\"52.0,206.0 256.0,47.6\""),
        "{drawn}"
    );
    assert!(drawn.contains("<title id=\"c-t\">&lt;t&gt;</title>"));
    assert!(drawn.contains("a &amp; b"));
    assert_eq!(drawn.matches("class=\"error\"").count(), 3);
    // An empty chart is valid.
    assert!(lines(&frame, &[], 80.0, Some(9.0)).ends_with("</svg>"));
    // The axis of a percentage ends at 100, whatever the errors.
    let drawn = lines(&frame, &[line(99.5)], 80.0, Some(100.0));
    assert!(drawn.contains(">100</text>") && !drawn.contains(">120</text>"));
    assert!(!drawn.contains(">−"));
    let drawn = lines(&frame, &[line(99.5)], 80.0, None);
    assert!(drawn.contains(">150</text>") || drawn.contains(">120</text>"));
}

#[test]
fn a_logarithmic_axis_has_powers_of_ten() {
    let frame = Frame {
        id: "c",
        title: "",
        description: "",
        x: "",
        y: "",
    };
    let points = [1.0, 100.0, 9000.0].map(|y| Point {
        x: y,
        y,
        error: 0.0,
    });
    let line = Series {
        name: String::new(),
        look: 0,
        points: points.into(),
    };
    let drawn = log_lines(&frame, &[line], 80.0);
    for power in ["1", "10", "100", "1,000", "10k"] {
        assert!(
            drawn.contains(&format!(">{power}</text>")),
            "{power}: {drawn}"
        );
    }
    // 1 is at the foot of the axis, 100 at half its height.
    assert!(
        drawn.contains("52.0,206.0 ") && drawn.contains(",118.0 "),
        "{drawn}"
    );
    assert!(log_lines(&frame, &[], 80.0).ends_with("</svg>"));
}

#[test]
fn numbers_of_an_axis_fit() {
    assert_eq!(whole_steps(1.0, 11.0, 20.0).len(), 11);
    assert_eq!(
        whole_steps(1101.0, 1112.0, 7.0),
        [1101.0, 1103.0, 1105.0, 1107.0, 1109.0, 1111.0]
    );
    assert_eq!(whole_steps(3.0, 3.0, 0.0), [3.0]);
}
