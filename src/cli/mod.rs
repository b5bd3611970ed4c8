//! The command line: each subcommand parses its arguments, calls the library, and prints the result. Data goes to standard output, everything else to standard error.

/// Appends formatted text to a `String`, which cannot fail.
macro_rules! append {
    ($text:expr, $($arguments:tt)+) => {{
        use std::fmt::Write as _;
        let _ = write!($text, $($arguments)+);
    }};
}

/// Appends a formatted line to a `String`, which cannot fail.
macro_rules! append_line {
    ($text:expr, $($arguments:tt)+) => {{
        use std::fmt::Write as _;
        let _ = writeln!($text, $($arguments)+);
    }};
}

mod abort_handler;
mod args;
mod backups;
mod cores;
mod create;
mod environment;
mod evaluate;
mod export;
mod failure;
mod history;
mod ingest;
mod lists;
mod log;
mod lookups;
mod maintenance;
#[cfg(feature = "mcp")]
mod mcp;
mod output;
mod parameter_flags;
mod plans;
mod processes;
mod progress;
mod quotas;
mod refresh;
mod report;
mod scores;
mod seeds;
#[cfg(feature = "serve")]
mod serve;
mod session;
mod shell;
mod status;
mod synth;
mod time_limit;
mod url_list;
mod values;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::FromArgMatches;

use args::{Cli, Command};
use failure::CliError;
use log::LogFormat;
use session::{Outcome, Session};

/// Runs the subcommand that the process was started with.
pub(crate) fn run() -> ExitCode {
    if let Some(shell) = std::env::var_os(shell::ASKED_BY) {
        // A shell that completes a line shows nothing but candidates.
        let completed = shell::complete(&shell, args::command());
        return completed.map_or(ExitCode::FAILURE, |_| ExitCode::SUCCESS);
    }
    let format = std::env::var_os(environment::FORMAT).unwrap_or_default();
    let parsed = environment::lenient(args::command(), &format)
        .try_get_matches()
        .and_then(|matches| environment::check(args::command(), &format).map(|()| matches))
        .and_then(|matches| Ok((Cli::from_arg_matches(&matches)?, matches)));
    let (cli, matches) = match parsed {
        Ok(parsed) => parsed,
        Err(mut e) => {
            failure::make_plain(&mut e);
            let status = u8::try_from(e.exit_code()).unwrap_or(2);
            LogFormat::of_process().wrong_usage(&e, status);
            return ExitCode::from(status);
        }
    };
    let mut session = Session::new(&cli.global);
    if !format.is_empty()
        && let Some(name) = environment::fell_back(&args::command(), &matches, &format)
    {
        session.warn(format_args!(
            "{} is {}, which `{name}` does not support; using its default format",
            environment::FORMAT,
            format.display()
        ));
    }
    let ended = session
        .begin()
        .and_then(|()| match cli.global.cluster.clone() {
            None => dispatch(cli, &session),
            Some(members) => {
                let process = cli.global.process;
                processes::run(&members, process, &matches, &mut session, |session| {
                    dispatch(cli, session)
                })
            }
        });
    match ended {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Findings) => ExitCode::from(4),
        Ok(Outcome::Nothing) => ExitCode::from(5),
        // The reader of the output closed it, as `head` does; that is not a failure.
        Err(e) if e.is_broken_pipe() => ExitCode::SUCCESS,
        Err(e) => {
            let command = matches.subcommand().map(|(_, command)| command);
            let bank = command.and_then(|command| command.try_get_one::<PathBuf>("bank").ok());
            let e = e.with_plans(bank.flatten().map(PathBuf::as_path));
            session.fail(&e);
            ExitCode::from(e.exit_status())
        }
    }
}

fn dispatch(cli: Cli, session: &Session) -> Result<Outcome, CliError> {
    match cli.command {
        Command::Init(args) => create::init(&args, session),
        Command::Cluster(args) => create::cluster(&args, session),
        Command::Ingest(args) => ingest::run(*args, session),
        Command::Refresh(args) => refresh::run(*args, session),
        Command::Report(args) => report::run(args, session),
        Command::Seeds(args) => seeds::run(args, session),
        #[cfg(feature = "serve")]
        Command::Serve(args) => serve::serve(args, session),
        #[cfg(feature = "mcp")]
        Command::Mcp(args) => mcp::mcp(&args, session),
        Command::Cores(args) => cores::run(args, session),
        Command::Diff(args) => lists::diff(args, session),
        Command::Compare(args) => lists::compare(args, session),
        Command::Explain(args) => lookups::explain(args, session),
        Command::Evaluate(args) => evaluate::run(*args, session),
        Command::History(args) => history::run(&args, session),
        Command::Search(args) => lookups::search(&args, session),
        Command::Page(args) => lookups::page(&args, session),
        Command::Site(args) => lookups::site(&args, session),
        Command::Plans(args) => plans::run(&args, session),
        Command::Quotas(args) => quotas::run(args, session),
        Command::Export(args) => export::export(&args, session),
        Command::Graph(args) => export::graph(&args, session),
        Command::Scores(args) => scores::run(&args, session),
        Command::Status(args) => status::run(&args, session),
        Command::Check(args) => maintenance::check(&args, session),
        Command::Repair(args) => maintenance::repair(&args, session),
        Command::Undo(args) => maintenance::undo(&args, session),
        Command::Forget(args) => maintenance::forget(args, session),
        Command::Backup(args) => backups::backup(&args, session),
        Command::Restore(args) => backups::restore(&args, session),
        Command::Compact(args) => maintenance::compact(&args, session),
        Command::Synth(args) => synth::run(&args, session),
        Command::Completions(shell) => shell::completions(&shell),
        Command::Man(man) => shell::man(&man, args::command()),
    }
}

#[cfg(test)]
mod schemas;
