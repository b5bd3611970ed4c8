//! Renders the status of a bank in the Prometheus text format, version 0.0.4.
//!
//! ```text
//! # HELP seedbank_seeds Seeds on the list of the plan's last refresh, by current state.
//! # TYPE seedbank_seeds gauge
//! seedbank_seeds{plan="default",state="alive"} 19
//! ```
//!
//! As Prometheus recommends, names have base units, and times are timestamps, not ages: the expression
//! `time() - seedbank_last_batch_timestamp_seconds` is correct even if the text is not written again.
//! Families without samples are omitted.

use std::fmt::{Display, Write};

use super::status::{LastBatch, PlanView, Status};
use crate::engine::refresh::Proof;

/// Type of a metric family.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// Monotonic.
    Counter,
    /// Can rise and fall.
    Gauge,
}

/// Labels of a sample: names and values.
pub(crate) type Labels<'a> = Vec<(&'static str, &'a str)>;

/// Counts of observed values by size.
#[cfg(feature = "serve")]
pub(crate) struct Histogram {
    /// Upper bounds of the buckets, ascending. Larger values are only in the sum and the number of values.
    bounds: &'static [f64],
    /// Values within each bound and above the one before it; last, those above all bounds.
    counts: Vec<u64>,
    sum: f64,
}

#[cfg(feature = "serve")]
impl Histogram {
    /// Creates an empty histogram.
    pub(crate) fn new(bounds: &'static [f64]) -> Self {
        Self {
            bounds,
            counts: vec![0; bounds.len() + 1],
            sum: 0.0,
        }
    }

    /// Adds a value.
    pub(crate) fn observe(&mut self, value: f64) {
        let bucket = self.bounds.partition_point(|bound| *bound < value);
        self.counts[bucket] += 1;
        self.sum += value;
    }
}

/// Text under construction.
#[derive(Default)]
pub(crate) struct MetricsText(String);

impl MetricsText {
    /// Returns the text.
    pub(crate) fn into_string(self) -> String {
        self.0
    }

    /// Appends a family of one sample without labels.
    fn one(&mut self, name: &str, kind: Kind, help: &str, value: impl Display) {
        self.family(name, kind, help, [(Vec::new(), value)]);
    }

    /// Appends a family; nothing if there are no samples.
    pub(crate) fn family<'a, V: Display>(
        &mut self,
        name: &str,
        kind: Kind,
        help: &str,
        samples: impl IntoIterator<Item = (Labels<'a>, V)>,
    ) {
        let kind = match kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
        };
        let mut head = head(name, kind, help);
        for (labels, value) in samples {
            self.0.push_str(&std::mem::take(&mut head));
            self.sample(name, &labels, value);
        }
    }

    /// Appends a family of histograms; nothing if there are none.
    #[cfg(feature = "serve")]
    pub(crate) fn histograms<'a>(
        &mut self,
        name: &str,
        help: &str,
        samples: impl IntoIterator<Item = (Labels<'a>, &'a Histogram)>,
    ) {
        let mut head = head(name, "histogram", help);
        for (labels, histogram) in samples {
            self.0.push_str(&std::mem::take(&mut head));
            self.sample(&format!("{name}_sum"), &labels, histogram.sum);
            let total: u64 = histogram.counts.iter().sum();
            self.sample(&format!("{name}_count"), &labels, total);
            let bounds = histogram.bounds.iter().map(f64::to_string);
            let bounds: Vec<String> = bounds.chain(["+Inf".to_owned()]).collect();
            // A bucket of the format includes all smaller ones.
            let mut within = 0;
            for (bound, count) in bounds.iter().zip(&histogram.counts) {
                within += count;
                let bucket = [&*labels, &[("le", &**bound)]].concat();
                self.sample(&format!("{name}_bucket"), &bucket, within);
            }
        }
    }

    fn sample(&mut self, name: &str, labels: &[(&'static str, &str)], value: impl Display) {
        let labels: Vec<String> = labels
            .iter()
            .map(|(label, value)| format!("{label}=\"{}\"", escaped(value)))
            .collect();
        let labels = match labels.join(",") {
            none if none.is_empty() => none,
            some => format!("{{{some}}}"),
        };
        // Writing to a String cannot fail.
        let _ = writeln!(self.0, "seedbank_{name}{labels} {value}");
    }
}

/// Returns the lines that begin a family.
fn head(name: &str, kind: &str, help: &str) -> String {
    let help = help.replace('\\', r"\\").replace('\n', r"\n");
    format!("# HELP seedbank_{name} {help}\n# TYPE seedbank_{name} {kind}\n")
}

/// Escapes the value of a label.
fn escaped(value: &str) -> String {
    value
        .replace('\\', r"\\")
        .replace('"', r#"\""#)
        .replace('\n', r"\n")
}

impl Status {
    /// Renders the status in the Prometheus text format. The families and their order are the same for every
    /// bank, except that families without samples are omitted.
    ///
    /// ```
    #[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
    /// let text = bank.status()?.metrics();
    /// assert!(text.contains("\nseedbank_pages{state=\"crawled\"} 2\n"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn metrics(&self) -> String {
        let mut text = MetricsText::default();
        let help = "Version of the program; always 1.";
        let version = vec![("version", env!("CARGO_PKG_VERSION"))];
        text.family("build_info", Kind::Gauge, help, [(version, 1)]);
        self.write_totals(&mut text);
        if let Some(batch) = &self.last_batch {
            write_batch(&mut text, batch);
        }
        let help = "Whether a batch was refused since the last one was ingested: 1 or 0.";
        let refused = u8::from(self.ends_with_refusal());
        text.one("refused_batch", Kind::Gauge, help, refused);
        write_plans(&mut text, &self.plans);
        self.write_sizes(&mut text);
        text.into_string()
    }

    fn write_totals(&self, text: &mut MetricsText) {
        use Kind::{Counter, Gauge};
        let counters = &self.counters;
        let batches = counters.batches;
        text.one("batches_total", Counter, "Batches ingested.", batches);
        let refreshes = counters.refreshes;
        let help = "Refreshes run, deleted ones included.";
        text.one("refreshes_total", Counter, help, refreshes);
        let help = "Sites with at least one page.";
        text.one("sites", Gauge, help, self.sites);
        let pages = [
            ("crawled", counters.crawled),
            ("known", counters.known),
            ("gone", counters.gone),
            ("resource", counters.resources),
        ];
        let help = "Pages, by state.";
        let of_state = |(state, pages)| (vec![("state", state)], pages);
        text.family("pages", Gauge, help, pages.map(of_state));
        let help = "Known and crawled pages with the spam mark.";
        text.one("spam_pages", Gauge, help, counters.spam);
        let links = [
            ("intra-site", counters.intra_links),
            ("inter-site", counters.inter_links),
        ];
        let help = "Links between pages.";
        let of_kind = |(kind, links)| (vec![("kind", kind)], links);
        text.family("links", Gauge, help, links.map(of_kind));
    }

    fn write_sizes(&self, text: &mut MetricsText) {
        let names: Vec<_> = self.groups.iter().map(|group| group.group.name()).collect();
        let groups = self.groups.iter().zip(&names);
        let help = "Bytes on disk of the published tables, by group.";
        let of_group = groups.map(|(group, name)| (vec![("group", *name)], group.bytes));
        text.family("tables_bytes", Kind::Gauge, help, of_group);
        let help = "Bytes on disk of the bank's folder.";
        text.one("folder_bytes", Kind::Gauge, help, self.folder_bytes);
    }
}

fn write_batch(text: &mut MetricsText, batch: &LastBatch) {
    let mut one = |name: &str, help: &str, value: &dyn Display| {
        text.one(&format!("last_batch_{name}"), Kind::Gauge, help, value);
    };
    let help = "Time of ingest of the last batch, in seconds since 1970.";
    one("timestamp_seconds", help, &batch.at);
    let help = "Elapsed time of the last batch, in seconds.";
    one("duration_seconds", help, &batch.seconds);
    let help = "Records of the last batch, including rejected ones.";
    one("records", help, &batch.records);
    let help = "Rejected records of the last batch.";
    one("rejected_records", help, &batch.rejected);
    let help = "Stale records of the last batch, older than the last fetch of their pages.";
    one("stale_records", help, &batch.stale);
    let help = "Pages whose fetch failed in the last batch.";
    one("failed_pages", help, &batch.failed);
    let help = "Pages whose last fetch failed.";
    text.one("failing_pages", Kind::Gauge, help, batch.failing);
}

fn write_plans(text: &mut MetricsText, plans: &[PlanView]) {
    let mut each = |name: &str, help: &str, value: &dyn Fn(&PlanView) -> f64| {
        let samples = plans
            .iter()
            .map(|plan| (vec![("plan", &*plan.plan)], value(plan)));
        text.family(&format!("last_refresh_{name}"), Kind::Gauge, help, samples);
    };
    let help = "Time of the plan's last refresh, in seconds since 1970.";
    each("timestamp_seconds", help, &|plan| plan.at as f64);
    let help = "Elapsed time of the plan's last refresh, in seconds.";
    each("duration_seconds", help, &|plan| plan.seconds);
    let help = "The last batch of the state that the plan's last refresh ran on.";
    each("batch", help, &|plan| f64::from(plan.batch));
    let samples = plans.iter().filter_map(|plan| {
        let is_certified = match plan.proof {
            Proof::Exact | Proof::Within => 1.0,
            Proof::NotProved => 0.0,
            Proof::NotApplicable => return None,
        };
        Some((vec![("plan", &*plan.plan)], is_certified))
    });
    let help = "Whether the cores of the plan's last refresh are proved: 1 or 0. Only of plans whose method has a proof.";
    text.family("last_refresh_certified", Kind::Gauge, help, samples);
    let judged = || {
        let plans = plans.iter();
        plans.filter_map(|plan| Some((plan, plan.parameters.judged.as_ref()?)))
    };
    let samples = judged().filter_map(|(plan, verdict)| {
        let times = verdict
            .times_best_baseline
            .filter(|_| verdict.is_of_this_list());
        Some((vec![("plan", &*plan.plan)], times?.mean))
    });
    let help = "What a crawl from the plan's list finds with pages held out, divided by what the best baseline finds. Only of lists that were judged.";
    text.family("plan_gain_ratio", Kind::Gauge, help, samples);
    let samples = judged().map(|(plan, verdict)| {
        let age = f64::from(verdict.age_batches);
        (vec![("plan", &*plan.plan)], age)
    });
    let help = "Batches between the state in which the plan was last judged and that of its list; 0 if this list was judged.";
    text.family("verdict_age_batches", Kind::Gauge, help, samples);
    let states = |plan: &PlanView| {
        let seeds = plan.seeds;
        [
            ("alive", seeds.alive),
            ("gone", seeds.gone),
            ("alias", seeds.alias),
            ("resource", seeds.resource),
            ("unlinked", seeds.unlinked),
            ("forgotten", seeds.forgotten),
        ]
    };
    let samples = plans.iter().flat_map(|plan| {
        let of_state = |(state, seeds)| (vec![("plan", &*plan.plan), ("state", state)], seeds);
        states(plan).map(of_state)
    });
    let help = "Seeds on the list of the plan's last refresh, by current state.";
    text.family("seeds", Kind::Gauge, help, samples);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_and_help_are_escaped() {
        let mut text = MetricsText::default();
        let labels = vec![("plan", "a\\b\"c\nd"), ("state", "é")];
        text.family("x", Kind::Gauge, "back\\slash\nend", [(labels, 1.5)]);
        text.family(
            "none",
            Kind::Counter,
            "nothing",
            [] as [(Labels<'_>, u8); 0],
        );
        assert_eq!(
            text.0,
            "# HELP seedbank_x back\\\\slash\\nend\n# TYPE seedbank_x gauge\n\
             seedbank_x{plan=\"a\\\\b\\\"c\\nd\",state=\"é\"} 1.5\n"
        );
    }
    #[test]
    fn buckets_include_smaller_ones() {
        let mut times = Histogram::new(&[0.5, 2.0]);
        for seconds in [0.25, 0.5, 1.0, 8.0] {
            times.observe(seconds);
        }
        let mut text = MetricsText::default();
        text.histograms("t", "Times.", [(vec![("route", "/")], &times)]);
        assert_eq!(
            text.0,
            "# HELP seedbank_t Times.\n# TYPE seedbank_t histogram\n\
             seedbank_t_sum{route=\"/\"} 9.75\nseedbank_t_count{route=\"/\"} 4\n\
             seedbank_t_bucket{route=\"/\",le=\"0.5\"} 2\nseedbank_t_bucket{route=\"/\",le=\"2\"} 3\n\
             seedbank_t_bucket{route=\"/\",le=\"+Inf\"} 4\n"
        );
    }
}
