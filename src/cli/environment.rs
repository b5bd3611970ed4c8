//! Handles a default format from the environment that a command does not support.
//!
//! `SEEDBANK_FORMAT` applies to all commands, but not every command supports every format: with
//! `SEEDBANK_FORMAT=csv`, `seeds` prints CSV and `status` falls back to text. A format that this command does not support
//! is an error if it is given with `--format`, and one that no command supports is an error of every command: a daily job must
//! not find out after hours that it has no list for the crawler.

use std::ffi::OsStr;

use clap::builder::Resettable;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};

/// The environment variable for the format.
pub(super) const FORMAT: &str = "SEEDBANK_FORMAT";

/// The id of the clap argument for the format.
const ARGUMENT: &str = "format";

/// Returns whether the argument accepts this value.
fn takes(argument: &Arg, value: &OsStr) -> bool {
    let values = argument.get_possible_values();
    value
        .to_str()
        .is_some_and(|value| values.iter().any(|known| known.matches(value, false)))
}

/// Returns whether the command or one of its subcommands supports the format.
fn is_known(command: &Command, format: &OsStr) -> bool {
    let mut arguments = command.get_arguments();
    let is_here =
        arguments.any(|argument| argument.get_id() == ARGUMENT && takes(argument, format));
    is_here
        || command
            .get_subcommands()
            .any(|command| is_known(command, format))
}

/// Fails if no command supports the format; an empty one counts as none.
pub(super) fn check(mut command: Command, format: &OsStr) -> Result<(), clap::Error> {
    if format.is_empty() || is_known(&command, format) {
        return Ok(());
    }
    let text = format!(
        "{FORMAT} is {}, a format of no command; `seedbank seeds --help` lists those of seed lists",
        format.display()
    );
    Err(command.error(clap::error::ErrorKind::InvalidValue, text))
}

/// Returns the command line with the environment variable removed from every command that does not
/// support its format.
pub(super) fn lenient(command: Command, format: &OsStr) -> Command {
    let names: Vec<String> = command
        .get_subcommands()
        .map(|command| command.get_name().to_owned())
        .collect();
    let command = names.into_iter().fold(command, |command, name| {
        command.mut_subcommand(name, |command| lenient(command, format))
    });
    let has = |argument: &Arg| argument.get_id() == ARGUMENT && !takes(argument, format);
    if command.get_arguments().any(has) {
        command.mut_arg(ARGUMENT, |argument| argument.env(Resettable::Reset))
    } else {
        command
    }
}

/// Returns the name of the command that was called if it fell back to its default format; `None` if it
/// supports the format, or if `--format` was given.
pub(super) fn fell_back(command: &Command, matches: &ArgMatches, format: &OsStr) -> Option<String> {
    if let Some((name, inner)) = matches.subcommand() {
        let found = fell_back(command.find_subcommand(name)?, inner, format)?;
        return Some(format!("{name} {found}").trim_end().to_owned());
    }
    let mut arguments = command.get_arguments();
    let argument = arguments.find(|argument| argument.get_id() == ARGUMENT)?;
    let by_default = matches.value_source(ARGUMENT) == Some(ValueSource::DefaultValue);
    (by_default && !takes(argument, format)).then(String::new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args;

    #[test]
    fn a_format_of_no_command_is_an_error() {
        for (format, is_known) in [
            ("", true),
            ("heritrix", true),
            ("json", true),
            ("herritrix", false),
        ] {
            assert_eq!(
                check(args::command(), OsStr::new(format)).is_ok(),
                is_known,
                "{format}"
            );
        }
    }

    #[test]
    fn a_command_without_the_format_falls_back() {
        let fell = |format: &str, typed: &[&str]| {
            let format = OsStr::new(format);
            let command = lenient(args::command(), format);
            let matches = command.try_get_matches_from([&["seedbank"], typed].concat());
            fell_back(&args::command(), &matches.unwrap(), format)
        };
        for (format, typed, name) in [
            ("csv", &["status", "b"][..], Some("status")),
            ("nutch", &["evaluate", "b", "crawl"], Some("evaluate crawl")),
            ("csv", &["seeds", "b"], None),
            ("jsonl", &["status", "b"], None),
            ("csv", &["status", "b", "--format", "text"], None),
            ("nonsense", &["diff", "b"], Some("diff")),
            ("nonsense", &["completions", "bash"], None),
        ] {
            assert_eq!(fell(format, typed).as_deref(), name, "{format} {typed:?}");
        }
    }
}
