//! Standard error: log messages and messages of the command itself, as text or as lines of JSON.

use std::ffi::OsStr;
use std::fmt;
use std::io::{self, IsTerminal, Write as _};
use std::time::{SystemTime, UNIX_EPOCH};

use clap::ValueEnum;
use schemars::JsonSchema;
use seedbank::clock::time;
use seedbank::display::{escape_controls, readable};
use serde::Serialize;
use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::FmtContext;
use tracing_subscriber::fmt::format::{FormatEvent, FormatFields, Writer, debug_fn};
use tracing_subscriber::registry::LookupSpan;

use super::failure::{CliError, LIVE_DAMAGED, UNACKNOWLEDGED, UNPUBLISHED};

/// The flag for the format, and the environment variable for it.
const FLAG: &str = "--log-format";
const SETTING: &str = "SEEDBANK_LOG_FORMAT";

/// The environment variable that switches colours off, whatever its value; see <https://no-color.org>.
const NO_COLOR: &str = "NO_COLOR";

/// The format of standard error.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub(super) enum LogFormat {
    /// Human-readable text
    #[default]
    Text,
    /// One JSON object per line; JSON Schema: schema/log.schema.json
    Json,
}

/// The severity of a line on standard error.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Level {
    /// Every step.
    Trace,
    /// Details for developers.
    Debug,
    /// Progress and results.
    Info,
    /// A possible problem that did not stop the command.
    Warn,
    /// The reason why the command failed.
    Error,
}

/// A line of JSON on standard error.
#[derive(Serialize, JsonSchema)]
pub(super) struct LogLine {
    /// The time, in UTC (RFC 3339, with milliseconds); missing if the process was aborted because
    /// memory or threads ran out.
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp: Option<String>,
    /// The severity.
    level: Level,
    /// What happened.
    message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    /// The exit status of the command, in the line that says why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    exit_status: Option<u8>,
    /// The module that wrote the message; missing if the command itself did.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<&'static str>,
    /// Further values of the message, by name.
    #[serde(skip_serializing_if = "Map::is_empty")]
    fields: Map<String, Value>,
}

impl LogLine {
    fn new(level: Level, message: String) -> Self {
        Self {
            timestamp: Some(now()),
            level,
            message,
            hint: None,
            exit_status: None,
            target: None,
            fields: Map::new(),
        }
    }
}

impl fmt::Display for LogLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

/// Returns the current time with milliseconds.
fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let since = since.unwrap_or_default();
    let seconds = time(since.as_secs());
    format!(
        "{}.{:03}Z",
        seconds.trim_end_matches('Z'),
        since.subsec_millis()
    )
}

impl LogFormat {
    /// Returns the requested format if the command line could not be parsed.
    pub(super) fn of_process() -> Self {
        let is_json = |text: &OsStr| text == "json";
        let mut arguments = std::env::args_os().skip(1).peekable();
        while let Some(argument) = arguments.next() {
            if argument == FLAG {
                return Self::from_flag(arguments.peek().is_some_and(|value| is_json(value)));
            }
            let joined = argument.to_str().and_then(|text| text.strip_prefix(FLAG));
            if let Some(value) = joined.and_then(|value| value.strip_prefix('=')) {
                return Self::from_flag(value == "json");
            }
        }
        Self::from_flag(std::env::var_os(SETTING).is_some_and(|value| is_json(&value)))
    }

    const fn from_flag(is_json: bool) -> Self {
        if is_json { Self::Json } else { Self::Text }
    }

    /// Sends log messages that pass the filter to standard error. If a global logger is already set,
    /// it stays.
    pub(super) fn begin(self, filter: EnvFilter) {
        let log = tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(io::stderr);
        let _ = match self {
            Self::Text => log
                .fmt_fields(debug_fn(field))
                .with_ansi(is_coloured(
                    io::stderr().is_terminal(),
                    std::env::var_os(NO_COLOR).as_deref(),
                ))
                .try_init(),
            Self::Json => log.event_format(JsonLines).try_init(),
        };
    }

    /// Writes a note or a warning. The text may contain foreign names and paths, so it is kept on one
    /// line.
    pub(super) fn say(self, level: Level, text: &str) {
        match (self, level) {
            (Self::Json, _) => write_line(LogLine::new(level, text.to_owned())),
            (Self::Text, Level::Warn) => {
                write_line(format_args!("warning: {}", escape_controls(text)));
            }
            (Self::Text, _) => write_line(escape_controls(text)),
        }
    }

    /// Writes an error and its hint.
    pub(super) fn fail(self, error: &CliError) {
        match self {
            Self::Json => write_line(LogLine {
                hint: error.hint(),
                exit_status: Some(error.exit_status()),
                ..LogLine::new(Level::Error, error.text())
            }),
            // The text is already free of control characters and may have several lines.
            Self::Text => {
                write_line(format_args!("error: {}", readable(&error.text())));
                if let Some(hint) = error.hint() {
                    write_line(format_args!("hint: {}", escape_controls(&readable(&hint))));
                }
            }
        }
    }

    /// Writes an error of argument parsing; or prints help or the version, which clap returns as
    /// errors, too.
    pub(super) fn wrong_usage(self, error: &clap::Error, exit_status: u8) {
        if self == Self::Text || !error.use_stderr() {
            // There is no way to report that printing failed.
            let _ = error.print();
            return;
        }
        let text = error.render().to_string();
        let (message, details) = text.split_once("\n\n").unwrap_or((&text, ""));
        let on_a_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let hint = Some(on_a_line(details)).filter(|hint| !hint.is_empty());
        let message = message.strip_prefix("error: ").unwrap_or(message);
        write_line(LogLine {
            hint,
            exit_status: Some(exit_status),
            ..LogLine::new(Level::Error, on_a_line(message))
        });
    }
}

/// Whether log messages are coloured: on a terminal, unless `NO_COLOR` is set to a text.
fn is_coloured(is_terminal: bool, no_color: Option<&OsStr>) -> bool {
    is_terminal && no_color.is_none_or(OsStr::is_empty)
}

/// Writes a line; if standard error is closed, there is no way to report it.
fn write_line(line: impl fmt::Display) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Writes a field of a log message as text. The library marks some messages with a field, for which
/// this adds a hint.
fn field(to: &mut Writer<'_>, field: &Field, value: &dyn fmt::Debug) -> fmt::Result {
    match (field.name(), advice(field)) {
        ("message", _) => write!(to, "{value:?}"),
        (_, Some(advice)) => write!(to, "; {advice}"),
        (name, None) => write!(to, " {name}={value:?}"),
    }
}

/// Returns the hint for messages that have this field.
fn advice(field: &Field) -> Option<&'static str> {
    match field.name() {
        "unpublished" => Some(UNPUBLISHED),
        "unacknowledged" => Some(UNACKNOWLEDGED),
        "live_damaged" => Some(LIVE_DAMAGED),
        _ => None,
    }
}

/// Formats log messages as lines of JSON.
struct JsonLines;

impl<S, N> FormatEvent<S, N> for JsonLines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        _: &FmtContext<'_, S, N>,
        mut to: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let metadata = event.metadata();
        let level = match *metadata.level() {
            tracing::Level::TRACE => Level::Trace,
            tracing::Level::DEBUG => Level::Debug,
            tracing::Level::INFO => Level::Info,
            tracing::Level::WARN => Level::Warn,
            tracing::Level::ERROR => Level::Error,
        };
        let mut line = LogLine::new(level, String::new());
        line.target = Some(metadata.target());
        event.record(&mut line);
        writeln!(to, "{line}")
    }
}

impl LogLine {
    fn take(&mut self, field: &Field, value: Value) {
        match (field.name(), advice(field), value) {
            (_, Some(advice), _) => self.hint = Some(advice.to_owned()),
            ("message", None, Value::String(text)) => self.message = text,
            (name, None, value) => drop(self.fields.insert(name.to_owned(), value)),
        }
    }
}

impl Visit for LogLine {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.take(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.take(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.take(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.take(field, value.into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.take(field, value.into());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.take(field, format!("{value:?}").into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_color_switches_colours_off() {
        let set = |text| Some(OsStr::new(text));
        assert!(is_coloured(true, None));
        assert!(is_coloured(true, set("")));
        assert!(!is_coloured(true, set("1")));
        assert!(!is_coloured(true, set("0")));
        assert!(!is_coloured(false, None));
    }
}
