//! Flags for plan parameters, generated from the declarations of the parameters.

use std::fmt::Debug;
use std::marker::PhantomData;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, value_parser};
use seedbank::engine::plan::{Parameter, ValueKind};
use seedbank::engine::policy::List;
use seedbank::engine::{EngineError, PlanOptions};
use seedbank::watch::Watch;

/// Selects the plan parameters that a command has as flags.
pub(super) trait Selection: Clone + Debug {
    fn includes(parameter: &Parameter) -> bool;

    /// Returns the heading of the flag in help texts.
    fn heading(parameter: &Parameter) -> Option<&'static str>;

    /// Returns whether the short help has the flag too.
    fn is_short(_: &Parameter) -> bool {
        true
    }
}

/// The flags of the parameters that `S` selects.
#[derive(Clone, Debug)]
pub(super) struct ParameterFlags<S> {
    /// The given parameters except lists.
    options: PlanOptions,
    /// Paths of the given lists.
    lists: Vec<(&'static Parameter, PathBuf)>,
    selection: PhantomData<S>,
}

impl<S: Selection> ParameterFlags<S> {
    /// Returns the given parameters; reads the lists from their files.
    pub(super) fn read(self, watch: &dyn Watch) -> Result<PlanOptions, EngineError> {
        let mut options = self.options;
        for (parameter, path) in self.lists {
            parameter.set_list(&mut options, List::read(&path, watch)?);
        }
        Ok(options)
    }

    /// Returns the given parameters without lists.
    pub(super) fn into_options(self) -> PlanOptions {
        self.options
    }

    fn all() -> impl Iterator<Item = &'static Parameter> {
        Parameter::all()
            .iter()
            .filter(|parameter| S::includes(parameter))
    }
}

impl<S: Selection> Args for ParameterFlags<S> {
    fn augment_args(command: Command) -> Command {
        command.args(Self::all().map(|parameter| {
            flag(parameter)
                .help_heading(S::heading(parameter))
                .hide_short_help(!S::is_short(parameter))
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<S: Selection> FromArgMatches for ParameterFlags<S> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut flags = Self {
            options: PlanOptions::default(),
            lists: Vec::new(),
            selection: PhantomData,
        };
        for parameter in Self::all() {
            let name = &*parameter.name;
            if parameter.kind == ValueKind::List {
                let path = matches.get_one::<PathBuf>(name);
                flags
                    .lists
                    .extend(path.map(|path| (parameter, path.clone())));
            } else if let Some(text) = matches.get_one::<String>(name) {
                parameter
                    .read(&mut flags.options, text)
                    .map_err(|e| clap::Error::raw(clap::error::ErrorKind::ValueValidation, e))?;
            }
        }
        Ok(flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn flag(parameter: &'static Parameter) -> Arg {
    let flag = Arg::new(&*parameter.name)
        .long(&*parameter.name)
        .value_name(parameter.value_name)
        .help(names_as_flags(short_help(&parameter.help)))
        .long_help(help(parameter));
    if !parameter.words.is_empty() {
        return flag.value_parser(words(parameter));
    }
    let validate = move |text: &str| {
        let read = parameter.read(&mut PlanOptions::default(), text);
        read.map(|()| text.to_owned())
    };
    match parameter.kind {
        ValueKind::Text => flag.value_parser(validate),
        ValueKind::Signed => flag.value_parser(validate).allow_negative_numbers(true),
        ValueKind::Switch => flag
            .value_parser(["true", "false"])
            .num_args(0..=1)
            .default_missing_value("true"),
        ValueKind::List => flag.value_parser(value_parser!(PathBuf)),
    }
}

/// Returns the parser of a parameter whose values are words.
pub(super) fn words(parameter: &'static Parameter) -> PossibleValuesParser {
    let words = parameter.words.iter();
    let words = words.map(|word| PossibleValue::new(&*word.name).help(names_as_flags(&word.help)));
    PossibleValuesParser::new(words)
}

/// Returns the first clause of a help text.
fn short_help(help: &str) -> &str {
    let ends = [". ", ": ", "; "]
        .into_iter()
        .filter_map(|end| help.find(end));
    &help[..ends.min().unwrap_or(help.len())]
}

/// Returns the help text of a parameter, with its range and default.
fn help(parameter: &Parameter) -> String {
    let expected = parameter.expected.clone();
    let default = parameter
        .default
        .as_ref()
        .map(|default| format!("default: {default}"));
    let limits: Vec<String> = expected.into_iter().chain(default).collect();
    let help = if limits.is_empty() {
        parameter.help.clone()
    } else {
        format!("{} [{}]", parameter.help, limits.join("; "))
    };
    names_as_flags(&help)
}

/// Replaces parameter names in backticks by flags, for example `hops` = 3 by `--hops 3`.
pub(super) fn names_as_flags(text: &str) -> String {
    let mut parts = text.split('`');
    let mut flags = parts.next().unwrap_or_default().to_owned();
    while let (Some(name), Some(after)) = (parts.next(), parts.next()) {
        if Parameter::named(name).is_none() {
            flags.extend(["`", name, "`", after]);
            continue;
        }
        let (value, after) = match after.strip_prefix(" = ") {
            Some(value) => {
                let end = value.find(|c: char| !c.is_alphanumeric() && c != '-');
                value.split_at(end.unwrap_or(value.len()))
            }
            None => ("", after),
        };
        let space = if value.is_empty() { "" } else { " " };
        flags.extend(["`--", name, space, value, "`", after]);
    }
    flags
}
