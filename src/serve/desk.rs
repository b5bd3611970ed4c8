//! Where questions are answered: on threads of their own, so many at once, each within its time.

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
use super::kept::{Found, Key};
use super::shelf::Shelf;
use super::turnovers::Turnovers;
use crate::engine::Bank;
use crate::watch::Watch;

/// How long an answer may take, waiting for its turn included.
pub(super) const TIME: Duration = Duration::from_secs(10);

/// Lists that are read and compared at once.
const LISTS: usize = 4;

/// Answers questions of one bank.
pub(super) struct Desk {
    pub(super) shelf: Shelf,
    /// The name of the bank's folder, for titles.
    pub(super) name: String,
    turns: Arc<Semaphore>,
    /// Lists that are read and compared at once.
    pub(super) lists: Semaphore,
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
        }
    }

    /// Answers a question of the state that is published now; where an `address` is given the answer is
    /// the same as long as that state is, and is kept if it took long.
    pub(super) async fn answer(
        self: Arc<Self>,
        address: Option<String>,
        form: Form,
        question: impl FnOnce(&State<'_>) -> Result<Answer, Fault> + Send + 'static,
    ) -> Response<Body> {
        let left = Arc::new(AtomicBool::new(false));
        let deadline = Deadline {
            until: Instant::now() + TIME,
            left: Arc::clone(&left),
        };
        let _leaves = Leaves(left);
        let key = address.map(|address| (address, form));
        let work = async {
            let turn = Arc::clone(&self.turns).acquire_owned().await;
            let desk = Arc::clone(&self);
            let work = spawn_blocking(move || {
                let _turn = turn;
                desk.work(key, &deadline, question)
            });
            work.await.unwrap_or_else(|_| {
                let text = "the answer broke off";
                Err(Fault::new(StatusCode::INTERNAL_SERVER_ERROR, text))
            })
        };
        let answered = timeout(TIME, work).await.unwrap_or_else(|_| {
            let text = format!("there was no answer within {} seconds", TIME.as_secs());
            Err(Fault::new(StatusCode::SERVICE_UNAVAILABLE, text))
        });
        match answered {
            Ok(answer) => answer.as_ref().into(),
            Err(fault) => Answer::fault(&self.without_places(fault), form).into(),
        }
    }

    /// An error names the bank, and not where on this machine it is.
    fn without_places(&self, mut fault: Fault) -> Fault {
        for place in self.places.iter().filter(|place| place.contains('/')) {
            fault.error = fault.error.replace(place, &self.name);
        }
        fault
    }

    fn work(
        &self,
        key: Option<Key>,
        watch: &Deadline,
        question: impl FnOnce(&State<'_>) -> Result<Answer, Fault>,
    ) -> Result<Arc<Answer>, Fault> {
        let held = self.shelf.state()?;
        let making = match key.map(|key| held.kept.find(key, watch.until)) {
            Some(Found::Kept(answer)) => return Ok(answer),
            Some(Found::Make(making)) => Some(making),
            None => None,
        };
        let answer = Arc::new(question(&State {
            bank: &held.bank,
            name: &self.name,
            turnovers: &held.turnovers,
            watch,
        })?);
        if let Some(making) = making {
            making.made(&answer);
        }
        Ok(answer)
    }
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
