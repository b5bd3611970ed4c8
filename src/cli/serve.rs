//! `serve`: shows the bank in a browser, and answers programs.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::Args;
use seedbank::serve::{ServeRequest, Server, Token};
use seedbank::watch::WaitingInput;

use super::failure::CliError;
use super::output::print;
use super::session::{Outcome, Session};

/// The maximum size of a token file in bytes.
const MAX_TOKEN: u64 = 4096;

const SERVE_EXAMPLES: &str = "\
Examples:
  seedbank serve bank                             then open http://127.0.0.1:7878/
  seedbank serve bank --listen 127.0.0.1:0        on a free port, which is printed
  seedbank serve bank --listen 0.0.0.0:7878 --token-file token --name seeds.example.org
  curl -H \"Authorization: Bearer $(cat token)\" http://seeds.example.org:7878/v1/status

Programs get the JSON that the command line prints at addresses below /v1, which /openapi.json describes
(OpenAPI 3.1). /metrics serves metrics for Prometheus, and /healthz answers while the server is up. The token is sent with every request and is not encrypted: outside this machine,
put a proxy with TLS in front of the server.";

/// Show the bank in a browser, and serve it as JSON, read-only
///
/// Shows the published state, follows new batches and refreshes, and changes nothing. Ctrl-C or SIGTERM
/// stops the server.
#[derive(Debug, Args)]
#[command(after_help = SERVE_EXAMPLES)]
pub(super) struct ServeArgs {
    /// The bank
    bank: PathBuf,
    /// The address and port to listen on
    #[arg(long, value_name = "ADDRESS:PORT", default_value_t = ServeRequest::default().listen,
        value_parser = address)]
    listen: SocketAddr,
    /// A file with a secret token of at least 16 bytes, required from every request
    ///
    /// Browsers ask for the token as a password. It is mandatory for addresses that other machines can reach.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// A host name of the server, besides IP addresses and localhost; can be repeated
    #[arg(long, value_name = "HOST", value_parser = host)]
    name: Vec<String>,
}

/// Parses a host name without a port.
fn host(text: &str) -> Result<String, String> {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    if !text.is_empty() && text.len() < 256 && text.chars().all(is_of_name) {
        Ok(text.to_owned())
    } else {
        Err("expected a host name without a port, such as seeds.example.org, in punycode if it is not ASCII".to_owned())
    }
}

pub(super) fn serve(args: ServeArgs, session: &Session) -> Result<Outcome, CliError> {
    let token = args.token_file.as_deref().map(token).transpose()?;
    let is_open = !args.listen.ip().is_loopback();
    let has_token = token.is_some();
    let request = ServeRequest {
        listen: args.listen,
        token,
        names: args.name,
    };
    let server = Server::bind(&session.bank(&args.bank), request)?;
    let watch = session.watch()?;
    if is_open {
        session.warn(format_args!(
            "anyone who can reach {} and has the token can read the whole bank: every URL, link, attribute and seed",
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

/// Parses an IP address and a port.
fn address(text: &str) -> Result<SocketAddr, &'static str> {
    let address = text.parse();
    address.map_err(|_| "expected an IP address and a port, such as 127.0.0.1:8080")
}

/// Reads the token from a file, without the line end that editors add.
fn token(path: &Path) -> Result<Token, CliError> {
    let usage = |what: String| CliError::Usage(format!("--token-file {}: {what}", path.display()));
    let read = WaitingInput::file(path).and_then(|file| file.read_small(MAX_TOKEN));
    let Some(mut bytes) = read.map_err(|e| usage(e.to_string()))? else {
        return Err(usage(format!(
            "expected a token of at most {MAX_TOKEN} bytes"
        )));
    };
    while bytes.last().is_some_and(u8::is_ascii_whitespace) {
        bytes.pop();
    }
    if bytes.iter().any(|byte| !(0x21..0x7f).contains(byte)) {
        return Err(usage(
            "expected a token of ASCII letters, digits and punctuation without spaces; `openssl rand -hex 32` generates one".to_owned(),
        ));
    }
    Token::new(&bytes).map_err(|e| usage(format!("{e}; `openssl rand -hex 32` generates one")))
}
