//! The connecting side: a member connects to a coordinator.

use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::agreement::Agreement;
use crate::error::{ClusterError, NumberError};
use crate::greeting::{GreetingError, Session};
use crate::host::Host;
use crate::members::Members;
use crate::wait::{self, POLL_INTERVAL};

/// The time between two attempts to connect.
const RETRY_INTERVAL: Duration = Duration::from_millis(200);
/// The longest time for one attempt to open a connection.
const CONNECT_TIME: Duration = Duration::from_secs(5);

/// Connects process `process`, this one, to process `to` as a member of it. Retries until the deadline of the
/// members file, since process `to` may start later; ends at once if it refuses this process, if another
/// process listens on its address, and soon after `stop` returns true.
pub fn join(
    members: &Members,
    process: usize,
    to: usize,
    agreement: &Agreement,
    stop: &dyn Fn() -> bool,
) -> Result<Host, ClusterError> {
    let processes = members.processes().len();
    for (found, except) in [(process, to), (to, process)] {
        if found >= processes || found == except {
            return Err(NumberError::Other {
                processes,
                except,
                found,
            }
            .into());
        }
    }
    let coordinator = &members.processes()[to];
    let address = coordinator.address();
    let until = Instant::now() + members.deadline();
    let session = Arc::new(Session::new(members, process, agreement));
    loop {
        let error = match attempt(&session, to, address, until, stop)? {
            Ok(stream) => {
                let host = Host::new(stream, to, coordinator, members.patience());
                return host.map_err(ClusterError::Setup);
            }
            Err(error) => error,
        };
        let address = address.to_owned();
        match error {
            GreetingError::SecretRefused => {
                let process = to;
                return Err(ClusterError::SecretRefused { process, address });
            }
            GreetingError::Unproved => return Err(ClusterError::NotCoordinator { address }),
            GreetingError::WrongProcess(found) => {
                return Err(ClusterError::WrongProcess {
                    address,
                    expected: to,
                    found,
                });
            }
            GreetingError::Disagreement(difference) => return Err(difference.into()),
            GreetingError::Duplicate(process) => return Err(ClusterError::Duplicate { process }),
            _ => {}
        }
        if Instant::now() + RETRY_INTERVAL >= until {
            return Err(ClusterError::Unreachable {
                process: to,
                address,
                seconds: members.deadline().as_secs(),
                why: error.to_string(),
            });
        }
        let next = Instant::now() + RETRY_INTERVAL;
        while Instant::now() < next {
            if stop() {
                return Err(ClusterError::Interrupted);
            }
            thread::sleep(POLL_INTERVAL);
        }
    }
}

/// Connects and greets once, in a thread, because neither the resolution of a name nor a connection can be
/// interrupted. The outer error ends all attempts.
fn attempt(
    session: &Arc<Session>,
    to: usize,
    address: &str,
    until: Instant,
    stop: &dyn Fn() -> bool,
) -> Result<Result<TcpStream, GreetingError>, ClusterError> {
    let (connected, result) = mpsc::sync_channel(1);
    let (session, address) = (Arc::clone(session), address.to_owned());
    let task = move || {
        let result = connect(&address, until).map_err(GreetingError::Io);
        let result = result.and_then(|stream| {
            session.call(&stream, to, until)?;
            Ok(stream)
        });
        // An interrupted `join` does not receive it; the connection is closed.
        let _ = connected.send(result);
    };
    let thread = thread::Builder::new().name(format!("join {to}"));
    thread.spawn(task).map_err(ClusterError::Setup)?;
    match wait::receive(&result, &|| stop() || Instant::now() > until) {
        Ok(Some(result)) => Ok(result),
        Err(error) if stop() => Err(error),
        // The resolution of a name took too long.
        Ok(None) | Err(_) => Ok(Err(io::Error::from(io::ErrorKind::TimedOut).into())),
    }
}

/// Opens a connection to the first of the addresses of a name that accepts one.
fn connect(address: &str, until: Instant) -> io::Result<TcpStream> {
    let mut last = io::Error::other("the name has no address");
    for address in address.to_socket_addrs()? {
        let left = until
            .saturating_duration_since(Instant::now())
            .min(CONNECT_TIME);
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        match TcpStream::connect_timeout(&address, left) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}
