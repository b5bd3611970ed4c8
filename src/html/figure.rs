//! A figure: a chart with its numbers in a table below or beside it.

/// The most columns of a table that fits into half a page.
const NARROW: usize = 5;

/// A chart with its table.
pub(crate) struct Figure {
    pub(crate) title: String,
    /// The caption.
    pub(crate) about: String,
    /// The chart as inline SVG.
    pub(crate) chart: String,
    /// A note on data that the chart does not show; `None` if it shows all.
    pub(crate) note: Option<String>,
    /// The summary of a folded table; `None` if the table is open.
    pub(crate) folded: Option<&'static str>,
    pub(crate) heads: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Figure {
    /// Whether the figure takes the full width of a page, with the table beside the chart.
    pub(crate) fn is_broad(&self) -> bool {
        self.folded.is_none() && self.heads.len() > NARROW
    }

    /// Creates a figure with an open table and without a note.
    pub(crate) fn open(
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
