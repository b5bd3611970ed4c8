//! The `seedbank` command: parse, convert, call the library, print.

mod cli;

fn main() -> std::process::ExitCode {
    cli::run()
}
