//! Sparklines: a few bars in the size of a word, as inline SVG.

use super::text::{Count, escape, put};

const HEIGHT: u64 = 20;
const BAR: usize = 6;
const GAP: usize = 1;

/// Draws a bar for each number, the last one highlighted. Screen readers read the title and the numbers.
pub(crate) fn sparkline(title: &str, numbers: &[u64]) -> String {
    let width = numbers.len() * (BAR + GAP);
    let most = numbers.iter().copied().max().unwrap_or(0).max(1);
    let spoken: Vec<String> = numbers.iter().map(|number| number.whole()).collect();
    let mut out = String::new();
    put(
        &mut out,
        format_args!(
            "<svg class=\"spark\" width=\"{width}\" height=\"{HEIGHT}\" viewBox=\"0 0 {width} {HEIGHT}\" \
             role=\"img\" aria-label=\"{}: {}\">",
            escape(title),
            spoken.join(", ")
        ),
    );
    for (at, number) in numbers.iter().enumerate() {
        // A bar of height 1 is a zero, so that every refresh is visible.
        let height = 1.0 + (HEIGHT - 1) as f64 * *number as f64 / most as f64;
        let class = if at + 1 == numbers.len() {
            "bar ours"
        } else {
            "bar"
        };
        put(
            &mut out,
            format_args!(
                "<rect class=\"{class}\" x=\"{}\" y=\"{:.1}\" width=\"{BAR}\" height=\"{height:.1}\"/>",
                at * (BAR + GAP),
                HEIGHT as f64 - height
            ),
        );
    }
    out.push_str("</svg>");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_high_as_their_numbers() {
        let drawn = sparkline("New <seeds>", &[0, 1000, 500]);
        assert!(drawn.contains("aria-label=\"New &lt;seeds&gt;: 0, 1,000, 500\""));
        for bar in [
            "class=\"bar\" x=\"0\" y=\"19.0\" width=\"6\" height=\"1.0\"",
            "class=\"bar\" x=\"7\" y=\"0.0\" width=\"6\" height=\"20.0\"",
            "class=\"bar ours\" x=\"14\" y=\"9.5\" width=\"6\" height=\"10.5\"",
        ] {
            assert!(drawn.contains(bar), "{bar} in {drawn}");
        }
        assert_eq!(sparkline("", &[]).matches("<rect").count(), 0);
    }
}
