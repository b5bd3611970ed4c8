//! What the pages of all processes reach.

use super::WebShare;
use super::batch::Direction;
use super::wave::{SharePool, Task, Wave, Waves};
use crate::graph::Csr;
use crate::graph::codec::{Decoder, Encoder};
use crate::graph::multi_source_bfs::{BATCH_SIZE, SourceSet, SourceSums};
use crate::watch::{Interrupted, Watch};

/// The sums of what searches reach: by hop, and then by search.
#[derive(Debug, Default)]
pub(in super::super) struct ReachedSums {
    /// The value, the pages, and the pages that are known only from links.
    pub(in super::super) by_hop: Vec<Vec<[i64; 3]>>,
    /// The visits of this process by number of hops.
    pub(in super::super) visits: Vec<u64>,
}

/// Returns what the pages in `from` reach within each number of hops up to `hops`, in all processes. `worth` returns
/// what a page of this process adds.
///
/// All processes call this at the same time, each with pages of its own. Cost: a round for each hop, and one more, for
/// each of some thousand pages.
pub(in super::super) fn reached_sums(
    share: &WebShare,
    links: &Csr,
    worth: impl Fn(u32) -> [i64; 3] + Sync,
    (from, hops): (&[u32], u32),
    pool: &SharePool,
    watch: &dyn Watch,
) -> Result<ReachedSums, Interrupted> {
    let depths = hops as usize + 1;
    let mut found = ReachedSums {
        by_hop: vec![Vec::with_capacity(from.len()); depths],
        visits: vec![0; depths],
    };
    if hops == 0 {
        found.by_hop = vec![from.iter().map(|page| worth(*page)).collect()];
        found.visits = vec![from.len() as u64];
        return Ok(found);
    }
    let waves = Waves {
        share,
        direction: Direction::Forward,
        links,
        hops,
        pool,
        task: &Sum(worth),
        watch,
    };
    let mut sources = from;
    loop {
        let before = sources.len();
        let wave = waves.next(&mut sources, &mut found.visits)?;
        add_sums(share, &wave, &mut found.by_hop)?;
        watch.advance((before - sources.len()) as u64);
        let has_more = wave.has_more;
        waves.end(wave);
        if !has_more {
            break;
        }
    }
    let mut visits = 0;
    for of_hop in &mut found.visits {
        visits += *of_hop;
        *of_hop = visits;
    }
    Ok(found)
}

/// Sums what searches reach.
struct Sum<F>(F);

/// Sums so far, and those at the end of each hop.
struct Sums {
    now: SourceSums<3>,
    by_hop: Vec<SourceSums<3>>,
}

impl<F: Fn(u32) -> [i64; 3] + Sync> Task for Sum<F> {
    type State = Sums;

    fn begin(&self) -> Sums {
        Sums {
            now: SourceSums::new(BATCH_SIZE),
            by_hop: Vec::new(),
        }
    }

    fn meet(&self, state: &mut Sums, page: u32, set: SourceSet) {
        state.now.add(set, (self.0)(page));
    }

    fn end_hop(&self, state: &mut Sums) {
        state.by_hop.push(state.now.clone());
    }
}

impl Sums {
    /// Returns the sums of a search within some number of hops. Hops beyond the last one with pages add nothing.
    fn within(&self, hop: usize, search: usize) -> [i64; 3] {
        self.by_hop.get(hop).unwrap_or(&self.now).get(search)
    }
}

/// Adds up the sums of all processes for the searches of a wave. Each gets those of its own searches.
fn add_sums(
    share: &WebShare,
    wave: &Wave<Sums>,
    by_hop: &mut [Vec<[i64; 3]>],
) -> Result<(), Interrupted> {
    let own = share.communicator.process();
    let sums = |place: usize, hop: usize| {
        let batch = wave
            .batches
            .get(place / BATCH_SIZE)
            .and_then(Option::as_ref);
        batch.map_or([0; 3], |of| of.state.within(hop, place % BATCH_SIZE))
    };
    let mut messages = Vec::with_capacity(wave.searches.len());
    for (process, searches) in wave.searches.iter().enumerate() {
        let mut message = Encoder::default();
        for place in searches.clone().filter(|_| process != own) {
            let mut before = [0; 3];
            // A source is a page of its process, so there is nothing elsewhere at hop 0.
            for hop in 1..by_hop.len() {
                let now = sums(place, hop);
                let [value, pages, known] = [0, 1, 2].map(|sum| now[sum] - before[sum]);
                before = now;
                message.signed(pages);
                if pages != 0 {
                    message.signed(known);
                    message.signed(value);
                }
            }
        }
        messages.push(message.0);
    }
    let first = by_hop.first().map_or(0, Vec::len);
    for (hop, of_hop) in by_hop.iter_mut().enumerate() {
        let searches = wave.searches[own].clone();
        of_hop.extend(searches.map(|place| sums(place, hop)));
    }
    for (process, message) in share.communicator.all_to_all(messages)?.iter().enumerate() {
        let mut message = Decoder(message);
        for at in (first..first + wave.searches[own].len()).filter(|_| process != own) {
            let mut so_far = [0; 3];
            for of_hop in by_hop.iter_mut().skip(1) {
                let read = read_sums(&mut message).ok_or_else(|| share.malformed())?;
                for ((sum, so_far), read) in of_hop[at].iter_mut().zip(&mut so_far).zip(read) {
                    *so_far += read;
                    *sum += *so_far;
                }
            }
        }
    }
    Ok(())
}

/// Reads what a hop adds.
fn read_sums(message: &mut Decoder<'_>) -> Option<[i64; 3]> {
    let pages = message.signed()?;
    if pages == 0 {
        return Some([0; 3]);
    }
    let known = message.signed()?;
    Some([message.signed()?, pages, known])
}
