//! The accepting side: a coordinator waits for all members.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use seedbank_algorithms::log_rate::LogRate;
use tracing::{debug, warn};

use crate::agreement::Agreement;
use crate::error::ClusterError;
use crate::greeting::{self, GreetingError, Session};
use crate::members::Members;
use crate::outcome::Outcome;
use crate::peer::Peer;

/// The time that a caller has for its greeting.
const GREETING_TIME: Duration = Duration::from_secs(5);
/// The number of greetings at the same time; further callers wait in the queue of the operating system.
const MAX_GREETINGS: usize = 64;
/// The time between two checks for new callers.
const ACCEPT_INTERVAL: Duration = Duration::from_millis(10);

/// The end of a greeting.
struct Greeted {
    stream: TcpStream,
    caller: SocketAddr,
    result: Result<usize, GreetingError>,
}

/// Listens on the address of process `process`, this one, until all other processes are connected as its
/// members. Returns them in the order of their numbers.
///
/// Refuses callers that do not know the secret and logs them. Fails at the deadline of the members file, if
/// a member has another agreement, if a connected member is lost, and soon after `stop` returns true; members
/// that are connected by then get the error as the outcome of the command.
pub fn coordinate(
    members: &Members,
    process: usize,
    agreement: &Agreement,
    stop: &dyn Fn() -> bool,
) -> Result<Vec<Peer>, ClusterError> {
    members.checked("the given number", process.to_string())?;
    let address = members.processes()[process].address();
    let listen = || {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(listener)
    };
    let listener = listen().map_err(|source| ClusterError::Listen {
        process,
        address: address.to_owned(),
        source,
    })?;
    let (ended, greeted) = mpsc::channel();
    let mut accepting = Accepting {
        members,
        process,
        session: Arc::new(Session::new(members, process, agreement)),
        listener,
        greetings: 0,
        ended,
        greeted,
        peers: members.processes().iter().map(|_| None).collect(),
        refused: None,
        refusals: LogRate::new(),
    };
    let result = accepting.run(stop);
    let peers: Vec<_> = accepting.peers.into_iter().flatten().collect();
    if let Err(error) = result {
        let outcome = Outcome::Failed(error.to_string());
        for peer in &peers {
            // A member that is lost as well does not change the error.
            let _ = peer.send_outcome(&outcome);
        }
        return Err(error);
    }
    Ok(peers)
}

/// The state of `coordinate`.
struct Accepting<'a> {
    members: &'a Members,
    /// The number of this process.
    process: usize,
    session: Arc<Session>,
    listener: TcpListener,
    /// The number of greetings that have not ended.
    greetings: usize,
    ended: Sender<Greeted>,
    greeted: Receiver<Greeted>,
    /// The connected members, by number. The entry of this process is always `None`.
    peers: Vec<Option<Peer>>,
    /// The last caller that was refused, and the reason.
    refused: Option<String>,
    /// Limits the lines about them.
    refusals: LogRate,
}

impl Accepting<'_> {
    /// Accepts callers until all members are connected.
    fn run(&mut self, stop: &dyn Fn() -> bool) -> Result<(), ClusterError> {
        let until = Instant::now() + self.members.deadline();
        while self.missing().next().is_some() {
            if stop() {
                return Err(ClusterError::Interrupted);
            }
            if Instant::now() > until {
                return Err(self.missing_error());
            }
            while self.greetings < MAX_GREETINGS && self.accept(until) {}
            if let Ok(greeted) = self.greeted.recv_timeout(ACCEPT_INTERVAL) {
                self.greetings -= 1;
                self.admit(greeted)?;
            }
            if let Some(error) = self.peers.iter().flatten().find_map(Peer::loss) {
                return Err(error);
            }
        }
        Ok(())
    }

    /// Accepts a caller and starts its greeting in a thread. Returns whether there was a caller.
    fn accept(&mut self, until: Instant) -> bool {
        let (stream, caller) = match self.listener.accept() {
            Ok(accepted) => accepted,
            Err(error) => {
                // Such an error may last, so it is logged once.
                let text = Some(format!("it cannot be accepted: {error}"));
                if error.kind() != ErrorKind::WouldBlock && self.refused != text {
                    warn!("a connection cannot be accepted: {error}");
                    self.refused = text;
                }
                return false;
            }
        };
        let session = Arc::clone(&self.session);
        let ended = self.ended.clone();
        let until = until.min(Instant::now() + GREETING_TIME);
        let task = move || {
            // Some systems let an accepted socket inherit the mode of the listener.
            let result = stream.set_nonblocking(false).map_err(GreetingError::Io);
            let result = result.and_then(|()| session.answer(&stream, until));
            // Closed if `coordinate` has ended.
            let _ = ended.send(Greeted {
                stream,
                caller,
                result,
            });
        };
        match thread::Builder::new()
            .name("greeting".to_owned())
            .spawn(task)
        {
            Ok(_) => self.greetings += 1,
            Err(error) => self.refuse(caller, &error.into()),
        }
        true
    }

    /// Makes a caller that has greeted a peer, or refuses it. The error ends `coordinate`.
    fn admit(&mut self, greeted: Greeted) -> Result<(), ClusterError> {
        let Greeted {
            stream,
            caller,
            result,
        } = greeted;
        let process = match result {
            Ok(process) if self.peers[process].is_none() => process,
            Ok(process) => {
                // The member that is refused may be gone.
                let _ = greeting::send_verdict(&stream, false);
                self.refuse(caller, &GreetingError::Duplicate(process));
                return Ok(());
            }
            Err(GreetingError::Disagreement(difference)) => return Err(difference.into()),
            Err(error) => {
                self.refuse(caller, &error);
                return Ok(());
            }
        };
        if let Err(error) = greeting::send_verdict(&stream, true) {
            self.refuse(caller, &error.into());
            return Ok(());
        }
        let entry = &self.members.processes()[process];
        let peer = Peer::new(stream, process, entry, self.members.patience());
        self.peers[process] = Some(peer.map_err(ClusterError::Setup)?);
        debug!("process {process} is connected from {caller}");
        Ok(())
    }

    fn refuse(&mut self, caller: SocketAddr, error: &GreetingError) {
        if let Some(left_out) = self.refusals.admit(Instant::now()) {
            warn!("refused a connection from {caller}: {error}{left_out}");
        }
        self.refused = Some(format!("{caller}: {error}"));
    }

    /// The numbers of the processes that are not connected.
    fn missing(&self) -> impl Iterator<Item = usize> {
        let numbers = 0..self.peers.len();
        numbers.filter(|&number| number != self.process && self.peers[number].is_none())
    }

    /// The error at the deadline.
    fn missing_error(&self) -> ClusterError {
        let address = |number: usize| self.members.processes()[number].address().to_owned();
        ClusterError::Missing {
            seconds: self.members.deadline().as_secs(),
            missing: (self.missing().map(|number| (number, address(number)))).collect(),
            refused: self.refused.clone(),
        }
    }
}
