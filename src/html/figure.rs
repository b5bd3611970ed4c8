//! What every experiment shows: a chart, and its numbers in a table under it or beside it.

/// A table of more columns is too wide for half a page.
const NARROW: usize = 5;

/// A chart with its table.
pub(crate) struct Figure {
    pub(crate) title: String,
    /// What is to be seen in it.
    pub(crate) about: String,
    /// The chart as inline SVG.
    pub(crate) chart: String,
    /// What the chart leaves out; `None` where that is nothing.
    pub(crate) note: Option<String>,
    /// What a reader opens to see the table; `None` where it is open.
    pub(crate) folded: Option<&'static str>,
    pub(crate) heads: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Figure {
    /// Whether it needs the whole width of a page, where its table stands beside the chart.
    pub(crate) fn is_broad(&self) -> bool {
        self.folded.is_none() && self.heads.len() > NARROW
    }

    /// A chart that shows everything, above an open table.
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
