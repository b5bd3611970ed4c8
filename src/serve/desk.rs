//! Where questions are answered: on threads of their own, so many at once, each within its time and all
//! within their room.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::{Response, StatusCode};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::answer::{Answer, Fault};
use super::form::Form;
use super::kept::{Awaited, Found, Key};
use super::shelf::Shelf;
use super::turnovers::Turnovers;
use crate::engine::Bank;
use seedbank_algorithms::watch::Watch;

/// How long an answer may take, waiting for its turn included.
pub(super) const TIME: Duration = Duration::from_secs(10);

/// Lists that are compared at once.
const LISTS: usize = 4;

/// An answer of so many bytes is long: all that are being sent have so many KiB of room.
const LONG: usize = 128 << 10;
const ROOM: u32 = 256 << 10;

/// Answers questions of one bank.
pub(super) struct Desk {
    pub(super) shelf: Shelf,
    /// The name of the bank's folder, for titles.
    pub(super) name: String,
    turns: Arc<Semaphore>,
    /// Lists that are compared at once.
    pub(super) lists: Semaphore,
    /// Room for long answers that are kept or being sent, in KiB.
    room: Arc<Semaphore>,
    /// The bank's folder as it was named, and where that leads.
    places: Vec<String>,
}

/// Stops work whose time is over, or that nobody waits for any more.
pub(super) struct Deadline {
    until: Instant,
    left: Arc<AtomicBool>,
}

impl Watch for Deadline {
    fn stopped(&self) -> bool {
        self.left.load(Ordering::Relaxed) || Instant::now() >= self.until
    }
}

/// Tells the work that nobody waits for it: set when the request is dropped.
struct Leaves(Arc<AtomicBool>);

impl Drop for Leaves {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Desk {
    pub(super) fn new(bank: Bank, at_once: usize) -> Self {
        Self {
            places: [
                Some(bank.path().to_path_buf()),
                bank.path().canonicalize().ok(),
            ]
            .into_iter()
            .flatten()
            .map(|place| place.to_string_lossy().into_owned())
            .collect(),
            name: bank.name(),
            shelf: Shelf::new(bank),
            turns: Arc::new(Semaphore::new(at_once)),
            lists: Semaphore::new(LISTS),
            room: Arc::new(Semaphore::new(ROOM as usize)),
        }
    }

    /// Answers a question of the state that is published now; where an `address` is given the answer is
    /// the same as long as that state is: it is made once for all who ask meanwhile, and is kept if it
    /// took long.
    pub(super) async fn answer(
        self: Arc<Self>,
        address: Option<String>,
        form: Form,
        question: impl FnOnce(&State<'_>) -> Result<Answer, Fault> + Send + 'static,
    ) -> Response<Body> {
        let left = Arc::new(AtomicBool::new(false));
        let until = Instant::now() + TIME;
        let deadline = Deadline {
            until,
            left: Arc::clone(&left),
        };
        let _leaves = Leaves(left);
        let key = address.map(|address| (address, form));
        let work = Arc::clone(&self).asked(key, deadline, question);
        let answered = timeout(TIME, work).await.unwrap_or_else(|_| {
            let text = format!("there was no answer within {} seconds", TIME.as_secs());
            Err(Fault::new(StatusCode::SERVICE_UNAVAILABLE, text))
        });
        match answered {
            Ok(answer) => answer.as_ref().into(),
            Err(fault) => Answer::fault(&self.without_places(fault), form).into(),
        }
    }

    /// The answer, made on a thread of its own in its turn. Who waits for what another request makes
    /// takes no turn meanwhile.
    async fn asked<Q>(
        self: Arc<Self>,
        key: Option<Key>,
        deadline: Deadline,
        question: Q,
    ) -> Result<Arc<Answer>, Fault>
    where
        Q: FnOnce(&State<'_>) -> Result<Answer, Fault> + Send + 'static,
    {
        let mut question = (key, deadline, question);
        loop {
            let turn = Arc::clone(&self.turns).acquire_owned().await;
            let desk = Arc::clone(&self);
            let work = spawn_blocking(move || {
                let _turn = turn;
                desk.work(question)
            });
            let worked = work.await.unwrap_or_else(|_| {
                let text = "the answer broke off";
                Worked::Done(Err(Fault::new(StatusCode::INTERNAL_SERVER_ERROR, text)))
            });
            let mut awaited = match worked {
                Worked::Done(answered) => return answered,
                Worked::Awaits(awaited, again) => {
                    question = again;
                    awaited
                }
            };
            let made = awaited.wait_for(Option::is_some).await;
            if let Some(answer) = made.ok().and_then(|made| made.clone()) {
                return Ok(answer);
            }
        }
    }

    /// The answer with room for its bytes where it is long: until the last of them is sent to whoever
    /// asked for it, which slow readers can put off.
    fn with_room(&self, answer: Answer) -> Result<Answer, Fault> {
        let size = answer.bytes();
        if size < LONG {
            return Ok(answer);
        }
        // What is longer than all of the room takes all of it.
        let kib = u32::try_from(size >> 10).unwrap_or(ROOM).min(ROOM);
        match Arc::clone(&self.room).try_acquire_many_owned(kib) {
            Ok(room) => Ok(answer.held_by(room)),
            Err(_) => Err(Fault::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "too many long answers are being sent",
            )),
        }
    }

    /// An error names the bank, and not where on this machine it is.
    fn without_places(&self, mut fault: Fault) -> Fault {
        for place in self.places.iter().filter(|place| place.contains('/')) {
            fault.error = fault.error.replace(place, &self.name);
        }
        fault
    }

    fn work<Q>(&self, (key, watch, question): Asking<Q>) -> Worked<Q>
    where
        Q: FnOnce(&State<'_>) -> Result<Answer, Fault>,
    {
        let held = match self.shelf.state() {
            Ok(held) => held,
            Err(error) => return Worked::Done(Err(error.into())),
        };
        let making = match key.clone().map(|key| held.kept.find(key)) {
            Some(Found::Kept(answer)) => return Worked::Done(Ok(answer)),
            Some(Found::Awaited(awaited)) => {
                return Worked::Awaits(awaited, (key, watch, question));
            }
            Some(Found::Make(making)) => Some(making),
            None => None,
        };
        if watch.stopped() {
            return Worked::Done(Err(Fault::too_long()));
        }
        let answered = question(&State {
            bank: &held.bank,
            name: &self.name,
            turnovers: &held.turnovers,
            watch: &watch,
        });
        let answered = answered.and_then(|answer| self.with_room(answer));
        let answered = answered.map(Arc::new);
        if let (Some(making), Ok(answer)) = (making, &answered) {
            making.made(answer);
        }
        Worked::Done(answered)
    }
}

/// A question with what its answer is kept by, and who waits for it.
type Asking<Q> = (Option<Key>, Deadline, Q);

/// What came of a question in its turn.
enum Worked<Q> {
    Done(Result<Arc<Answer>, Fault>),
    /// Another request makes the answer; the question is given back, in case that comes to nothing.
    Awaits(Awaited, Asking<Q>),
}

/// What a question is answered from.
pub(super) struct State<'a> {
    /// A state that stays the same.
    pub(super) bank: &'a Bank,
    /// The name of the bank's folder.
    pub(super) name: &'a str,
    /// How its lists changed, as far as it was asked.
    pub(super) turnovers: &'a Turnovers,
    /// Stops the work when its time is over.
    pub(super) watch: &'a Deadline,
}
