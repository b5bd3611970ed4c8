//! Parsers of argument values, and formats of numbers.

use std::fmt::Display;
use std::ops::RangeInclusive;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
pub(super) use seedbank::answers::kind_name;
use seedbank::answers::state_name;
pub(super) use seedbank::clock::time;
pub(super) use seedbank::display::{age as human_age, bytes as human_bytes};
use seedbank::display::{counted, parse_count};
use seedbank::engine::Which;
use seedbank::engine::evaluate::StateView;
use seedbank::engine::maintenance::BackupSummary;
use seedbank::engine::query::PageState;
use seedbank::engine::refresh::RefreshId;
use seedbank::ingest::parse_timestamp;
use seedbank::named_enum::NamedValue;
use serde::Serialize;

use super::failure::CliError;
use super::output::{print, print_json};

/// Counts truncated inputs as part of a line; empty if there are none.
pub(super) fn truncated_inputs(inputs: u64) -> String {
    match inputs {
        0 => String::new(),
        inputs => format!(", {} truncated", counted(inputs, "input")),
    }
}

/// The output format of commands with a single result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub(super) enum Format {
    /// Human-readable text
    #[default]
    Text,
    /// One JSON object on one line; its JSON Schema is in schema/
    #[value(alias = "jsonl")]
    Json,
}

impl Format {
    /// Prints a result as JSON or as the text that `text` returns.
    pub(super) fn print<T: Serialize>(
        self,
        result: &T,
        text: impl FnOnce(&T) -> String,
    ) -> Result<(), CliError> {
        match self {
            Self::Text => print(&text(result)),
            Self::Json => print_json(result),
        }
    }
}

/// The flag for the output format of commands with a single result.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct FormatArgs {
    /// Output format
    #[arg(long, value_parser = listed::<Format>(), default_value = "text", env = "SEEDBANK_FORMAT")]
    pub(super) format: Format,
}

/// Parses one of the values that the library names.
pub(super) fn named<T: Copy + Send + Sync>(
    all: &'static [NamedValue<T>],
) -> impl TypedValueParser<Value = T> {
    let values = all.iter().flat_map(|named| {
        let alias = named.alias.map(|alias| synonym(alias, named.name));
        std::iter::once(PossibleValue::new(named.name).help(named.help)).chain(alias)
    });
    PossibleValuesParser::new(values)
        .try_map(|name| NamedValue::find(all, &name).ok_or_else(|| format!("unknown value {name}")))
}

/// Parses the values of an enum. Unlike the parser that clap derives, it lists their aliases too.
pub(super) fn listed<T: ValueEnum + Send + Sync>() -> impl TypedValueParser<Value = T> {
    let values = T::value_variants()
        .iter()
        .filter_map(ValueEnum::to_possible_value);
    let values = values.flat_map(|value| {
        let aliases: Vec<_> = value
            .get_name_and_aliases()
            .skip(1)
            .map(|alias| synonym(alias, value.get_name()))
            .collect();
        std::iter::once(value).chain(aliases)
    });
    PossibleValuesParser::new(values).try_map(|name| T::from_str(&name, false))
}

/// Another name of a value.
fn synonym(alias: &str, name: &str) -> PossibleValue {
    PossibleValue::new(alias.to_owned()).help(format!("The same as {name}"))
}

/// The arguments that select a refresh.
#[derive(Clone, Debug, Args)]
pub(super) struct WhichArgs {
    /// Name of the plan [default: default]
    #[arg(long, value_name = "NAME", env = "SEEDBANK_PLAN")]
    pub(super) plan: Option<String>,
    /// Number of the refresh [default: the plan's last one]
    #[arg(long, value_name = "N", value_parser = integer::<RefreshId>(1..=RefreshId::MAX))]
    pub(super) refresh: Option<RefreshId>,
}

impl From<WhichArgs> for Which {
    fn from(args: WhichArgs) -> Self {
        Self {
            plan: args.plan,
            refresh: args.refresh,
        }
    }
}

/// Formats the state of a page, and whether it is spam.
pub(super) fn state_and_spam(state: PageState, spam: bool) -> String {
    let spam = if spam { ", spam" } else { "" };
    [state_name(state), spam].concat()
}

/// Parses a size in bytes: a whole number, with an optional suffix K, M, G or T for powers of 1024.
pub(super) fn size(text: &str) -> Result<usize, String> {
    let text = text.trim();
    let upper = text.to_ascii_uppercase();
    let upper = upper.strip_suffix('B').unwrap_or(&upper);
    let upper = upper.strip_suffix('I').unwrap_or(upper);
    let (digits, shift) = match upper.chars().last() {
        Some('K') => (&upper[..upper.len() - 1], 10),
        Some('M') => (&upper[..upper.len() - 1], 20),
        Some('G') => (&upper[..upper.len() - 1], 30),
        Some('T') => (&upper[..upper.len() - 1], 40),
        _ => (upper, 0),
    };
    let number: u64 = digits
        .parse()
        .map_err(|_| "expected a whole number of bytes, such as 512M or 2G".to_owned())?;
    number
        .checked_mul(1 << shift)
        .and_then(|bytes| usize::try_from(bytes).ok())
        .filter(|bytes| *bytes >= 1 << 20)
        .ok_or_else(|| "expected at least 1M, and no more than this machine can address".to_owned())
}

/// Parses an amount of memory, which must not exceed the memory of the machine.
pub(super) fn memory(text: &str) -> Result<usize, String> {
    let bytes = size(text)?;
    match machine_memory() {
        Some(all) if bytes as u64 > all => {
            let all = human_bytes(all);
            Err(format!(
                "expected at most the memory of this machine, {all}"
            ))
        }
        _ => Ok(bytes),
    }
}

/// Returns the memory of this machine in bytes; `None` if the system does not report it.
fn machine_memory() -> Option<u64> {
    let meminfo = std::fs::read_to_string("/proc/meminfo").ok()?;
    let total = meminfo.lines().find_map(|l| l.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = total.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// Parses a percentage from 0 to 100.
pub(super) fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim();
    number
        .parse()
        .ok()
        .filter(|percent| (0.0..=100.0).contains(percent))
        .ok_or_else(|| "expected a percentage from 0 to 100".to_owned())
}

/// Parses a time as records have it, to seconds since 1970 (UTC).
pub(super) fn time_of(text: &str) -> Result<u64, String> {
    let time = parse_timestamp(text.trim()).map_err(|error| error.to_string())?;
    u64::try_from(time.micros / 1_000_000).map_err(|_| "expected a time after 1970".to_owned())
}

/// Formats the state as one line.
pub(super) fn state_line(state: &StateView) -> String {
    format!(
        "state after batch {}: {} ({} crawled), {}\n",
        state.batch,
        counted(state.pages, "page"),
        state.crawled,
        counted(state.links, "link")
    )
}

/// Returns a parser for whole numbers within a range, written as [`parse_count`] reads them.
pub(super) fn integer<N>(range: RangeInclusive<N>) -> impl Fn(&str) -> Result<N, String> + Clone
where
    N: TryFrom<u64> + PartialOrd + Display + Clone + Bounded,
{
    move |text| {
        let number = parse_count(text).and_then(|number| N::try_from(number).ok());
        number
            .filter(|number| range.contains(number))
            .ok_or_else(|| expected(&range, text))
    }
}

/// Describes the whole numbers of a range, and how to write them if the text is a part of one.
fn expected<N: Display + PartialEq + Bounded>(range: &RangeInclusive<N>, text: &str) -> String {
    let (least, most) = (range.start(), range.end());
    let numbers = match (*least == N::MIN_VALUE, *most == N::MAX_VALUE) {
        (true, true) => "expected a whole number".to_owned(),
        (false, true) => format!("expected a whole number of at least {least}"),
        (_, false) => format!("expected a whole number from {least} to {most}"),
    };
    // A list is separated at the commas of its numbers, too.
    let is_group = text.len() == 3 && text.starts_with('0');
    if is_group {
        numbers + "; in a list, write thousands without commas, such as 20000 or 20k"
    } else {
        numbers
    }
}

/// A number type with a minimum and a maximum.
pub(super) trait Bounded: Sized {
    const MIN_VALUE: Self;
    const MAX_VALUE: Self;
}

macro_rules! bounded {
    ($($type:ty),+) => {$(
        impl Bounded for $type {
            const MIN_VALUE: Self = Self::MIN;
            const MAX_VALUE: Self = Self::MAX;
        }
    )+};
}

bounded!(u16, u32, u64, usize);

/// Describes what a backup contains.
pub(super) fn backup_contents(made: &BackupSummary) -> String {
    let parts = made.parts.map_or_else(String::new, |parts| {
        format!("{}, ", counted(u64::from(parts), "part"))
    });
    format!(
        "the state after batch {} and refresh {}, {parts}{}, {}",
        made.batch,
        made.refresh,
        counted(made.files, "file"),
        human_bytes(made.bytes),
    )
}

#[cfg(test)]
#[path = "values_tests.rs"]
mod tests;
