//! Counts and times requests by route, for `/metrics`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{Response, StatusCode};
use axum::middleware::Next;

use crate::engine::query::metrics::{Histogram, Kind, MetricsText};

/// Upper bounds of the buckets of latencies, in seconds.
const BOUNDS: [f64; 7] = [0.001, 0.005, 0.025, 0.1, 0.5, 2.0, 10.0];

/// The route of requests for addresses that do not exist. Routes are labels, so their number is limited.
const OTHER: &str = "other";

/// Requests since the server started, by route.
#[derive(Default)]
pub(super) struct RequestMetrics(Mutex<BTreeMap<String, RouteMetrics>>);

struct RouteMetrics {
    /// Number of responses by class of status.
    responses: BTreeMap<&'static str, u64>,
    /// Seconds until the response is ready to send.
    latency: Histogram,
}

impl RequestMetrics {
    fn record(&self, route: &str, status: StatusCode, latency: Duration) {
        let class = match status.as_u16() / 100 {
            1 => "1xx",
            2 => "2xx",
            3 => "3xx",
            4 => "4xx",
            _ => "5xx",
        };
        let mut routes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let metrics = routes
            .entry(route.to_owned())
            .or_insert_with(|| RouteMetrics {
                responses: BTreeMap::new(),
                latency: Histogram::new(&BOUNDS),
            });
        *metrics.responses.entry(class).or_default() += 1;
        metrics.latency.observe(latency.as_secs_f64());
    }

    /// Renders the counts in the Prometheus text format.
    pub(super) fn render(&self) -> String {
        let routes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = MetricsText::default();
        let help = "Requests answered since the server started, by route and class of status.";
        let samples = routes.iter().flat_map(|(route, metrics)| {
            let responses = metrics.responses.iter();
            responses
                .map(|(class, count)| (vec![("route", route.as_str()), ("code", class)], count))
        });
        text.family("http_requests_total", Kind::Counter, help, samples);
        let help = "Time from a request's head to its response, ready to send, in seconds.";
        let samples = routes
            .iter()
            .map(|(route, metrics)| (vec![("route", route.as_str())], &metrics.latency));
        text.histograms("http_request_duration_seconds", help, samples);
        text.into_string()
    }
}

/// Middleware that counts and times a request, also if it is rejected. A request whose client leaves
/// before the response is ready is not counted.
pub(super) async fn measure(
    State(metrics): State<Arc<RequestMetrics>>,
    request: Request,
    next: Next,
) -> Response<Body> {
    let start = Instant::now();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let response = next.run(request).await;
    let route = route.as_ref().map_or(OTHER, MatchedPath::as_str);
    metrics.record(route, response.status(), start.elapsed());
    response
}
