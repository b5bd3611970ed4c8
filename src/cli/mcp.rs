//! `mcp`: answers an assistant on standard input and output.

use std::path::PathBuf;

use clap::Args;
use seedbank::serve::ToolServer;

use super::failure::CliError;
use super::session::{Outcome, Session};

const MCP_EXAMPLES: &str = "\
Examples:
  claude mcp add crawl -- seedbank mcp /data/bank    let an assistant ask the bank
  seedbank mcp bank < requests.jsonl                 answer requests from a file

The tools are the operations of the API of `serve`, with the same parameters and JSON, in which texts from
pages are marked, escaped and at most 1,000 characters long; an answer of more than 100,000 bytes is an
error that says how to ask for less. The server ends with its input, or at SIGTERM.";

/// Answer an assistant (Model Context Protocol) on standard input and output, read-only
///
/// Each answer comes from the published state of its time.
#[derive(Debug, Args)]
#[command(after_help = MCP_EXAMPLES)]
pub(super) struct McpArgs {
    /// The bank
    bank: PathBuf,
}

pub(super) fn mcp(args: &McpArgs, session: &Session) -> Result<Outcome, CliError> {
    let server = ToolServer::open(&session.bank(&args.bank))?;
    let watch = session.watch()?;
    server.run(&watch)?;
    Ok(Outcome::Done)
}
