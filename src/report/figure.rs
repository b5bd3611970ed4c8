//! What every experiment shows: a chart, and its numbers in a table under it.

/// A chart with its table.
pub(super) struct Figure {
    pub(super) title: String,
    /// What is to be seen in it.
    pub(super) about: String,
    /// The chart as inline SVG.
    pub(super) chart: String,
    /// What the chart leaves out; `None` where that is nothing.
    pub(super) note: Option<String>,
    /// What a reader opens to see the table; `None` where it is open.
    pub(super) folded: Option<&'static str>,
    pub(super) heads: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

impl Figure {
    /// A chart that shows everything, above an open table.
    pub(super) fn open(
        title: impl Into<String>,
        about: impl Into<String>,
        chart: String,
        heads: &[&str],
        rows: Vec<Vec<String>>,
    ) -> Self {
        Figure {
            title: title.into(),
            about: about.into(),
            chart,
            note: None,
            folded: None,
            heads: heads.iter().copied().map(String::from).collect(),
            rows,
        }
    }
}
