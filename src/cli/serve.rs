//! `serve`: the bank in a browser.

use std::fs;
use std::io::Read;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::Args;
use seedbank::engine::Bank;
use seedbank::serve::{ServeRequest, Server, Token};

use super::failure::CliError;
use super::output::print;
use super::session::{Outcome, Session};

/// The most bytes of a token file.
const MAX_TOKEN: u64 = 4096;

const EXAMPLES: &str = "\
Examples:
  seedbank serve bank                             then open http://127.0.0.1:7878/
  seedbank serve bank --listen 127.0.0.1:0        at a port that is free, which is printed
  seedbank serve bank --listen 0.0.0.0:7878 --token-file token --name seeds.example.org
  curl -H \"Authorization: Bearer $(cat token)\" 'http://seeds.example.org:7878/?format=json'

Every page is JSON with ?format=json, or where a request accepts application/json: the same that the
command line prints. /metrics is for Prometheus, /healthz says that the server is there. Encrypt what
leaves this machine with a proxy in front of it: the token is sent with every request.";

/// Show the bank in a browser: a page for every question, read-only
///
/// It shows what is published, follows new batches and refreshes, and changes nothing. Ctrl-C or
/// SIGTERM ends it.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ServeArgs {
    /// The bank
    bank: PathBuf,
    /// Where to listen: an address of this machine, and a port
    #[arg(long, value_name = "ADDRESS:PORT", default_value_t = ServeRequest::default().listen)]
    listen: SocketAddr,
    /// A file with a secret of at least 16 bytes, which every request then has to know; browsers ask
    /// for it as a password. An address that other machines reach needs one
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// A name that browsers call the server by, beside addresses and localhost; may be repeated
    #[arg(long, value_name = "HOST", value_parser = host)]
    name: Vec<String>,
}

/// Reads the name of a host, without a port.
fn host(text: &str) -> Result<String, String> {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    if !text.is_empty() && text.len() < 256 && text.chars().all(is_of_name) {
        Ok(text.to_owned())
    } else {
        Err("give the name of a host, such as seeds.example.org, without a port; beyond ASCII as punycode".to_owned())
    }
}

pub(super) fn run(args: ServeArgs, session: &Session) -> Result<Outcome, CliError> {
    let token = args.token_file.as_deref().map(token).transpose()?;
    let is_open = !args.listen.ip().is_loopback();
    let has_token = token.is_some();
    let request = ServeRequest {
        listen: args.listen,
        token,
        names: args.name,
    };
    let server = Server::bind(&Bank::at(&args.bank), request)?;
    let watch = session.watch()?;
    if is_open {
        session.warn(format_args!(
            "whoever reaches {} and has the token can read the whole bank: every URL, link, attribute and seed",
            server.address()
        ));
    }
    print(&format!(
        "http://{}/{}\n",
        server.address(),
        if has_token {
            " (any name, and the token as password)"
        } else {
            ""
        }
    ))?;
    server.run(&watch)?;
    session.note("stopped");
    Ok(Outcome::Done)
}

/// The secret in a file, without the line end that editors leave.
fn token(path: &Path) -> Result<Token, CliError> {
    let usage = |what: String| CliError::Usage(format!("--token-file {}: {what}", path.display()));
    let mut bytes = Vec::new();
    let read =
        fs::File::open(path).and_then(|file| file.take(MAX_TOKEN + 1).read_to_end(&mut bytes));
    read.map_err(|e| usage(e.to_string()))?;
    if bytes.len() as u64 > MAX_TOKEN {
        return Err(usage(format!("a token has at most {MAX_TOKEN} bytes")));
    }
    while bytes.last().is_some_and(u8::is_ascii_whitespace) {
        bytes.pop();
    }
    if bytes.iter().any(|byte| !(0x21..0x7f).contains(byte)) {
        return Err(usage(
            "a token is of letters, digits and signs of ASCII, without blanks; `openssl rand -hex 32` makes one".to_owned(),
        ));
    }
    Token::new(&bytes).map_err(|e| usage(format!("{e}; `openssl rand -hex 32` makes one")))
}
