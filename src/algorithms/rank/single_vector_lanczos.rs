//! The largest eigenpair of `N = A A^T` over a large region, one vector at a time.
//!
//! A region has fewer hubs than authorities, on crawls half as many or less, and the values of `N` are those
//! of `M = A^T A`: vectors on the hubs take less room, and so does what a product touches at random.
//!
//! Source: Lanczos (1950), the three-term recurrence without reorthogonalisation, read as Paige (1980)
//! does: a Ritz value whose residual is small is an eigenvalue, and its vector is as good as the
//! residual says; copies that rounding makes of it come later. Deviations: it starts from the best
//! combination of the Ritz vectors of the step before, with a little weight everywhere, and a second
//! recurrence goes beside it.
//!
//! **Why here.** Most steps begin near their answer, and no second place is near it. Then twenty to forty
//! products with one vector do what a block of sixteen does with six to ten products each sixteen
//! times as wide. Where a second place is near, or it takes longer, [`super::chebyshev_block`] goes on from what
//! was reached.
//!
//! **The rival.** From one vector a recurrence sees one combination of two places that are nearly
//! equal, and takes the gap to the third for its own. So a second one, from noise with weight
//! everywhere and what was known of other places, shares the first ten reads of the links. What it
//! spans, with the first vector taken out, shows the next value: `T - theta c c^T`, where `c` are the
//! products of its vectors with the first. Its Ritz vector `q`, without its part along the first, has
//! the residual `|rest| |s_k|` of any Lanczos vector, and `theta (x . q) |x'|` for the part `x'` of the
//! first that the recurrence does not span. A vector that is only to become more exact needs no rival:
//! the gap is known.
//!
//! **Error of the vector.** With `theta` the largest Ritz value and `r` its residual, which is orthogonal
//! to all that the recurrence spans, `|x - x*| <= r / (theta - lambda_2)` to first order. `lambda_2` is
//! taken from above: the larger of the second Ritz value and of the rival's, each with its residual.
//! As in a block, that is not proved: nothing *denser* gets past [`super::certificate`].

use crate::watch::{Interrupted, Watch};

use super::certificate::Ones;
use super::chebyshev_block::{Found, NEAREST, ROUNDING, UNSETTLED, best_combination, noise};
use super::dense::largest_pair;
use super::region::Region;
use super::start_vectors::StartVectors;
use super::tridiagonal::Tridiagonal;
use super::vector_block::{Buffers, Image, VectorBlock, Workspace, column, products, square};
use super::vectors::{add, combinations, combine, dot, dots, less_two, norm, scale};
use super::work::Work;

/// How many known vectors a search starts from.
pub(super) const STARTS: usize = 3;
/// These, and weight everywhere.
const BLOCK: usize = STARTS + 1;
/// The weight that the start has everywhere, beside its own.
const EVERYWHERE: f64 = 1e-3;
/// A goal below this is that of a search which starts where another one ended: weight everywhere would
/// only have to be taken out again.
const DEEP: f64 = 1e-9;
/// How many reads of the links both recurrences share.
const SHARED: usize = 12;
/// Reads between two looks at the Ritz values, and before the first.
const LOOK: usize = 4;
const FIRST_LOOK: usize = 8;
/// The most vectors of a recurrence: 960 bytes for each hub class.
const MOST: usize = 120;
/// Fewer of them where they would take more memory than this, in bytes, but no fewer than half.
const MEMORY: usize = 1 << 29;
/// The most products of one that only goes on with a vector.
const SHARPENING: usize = 60;
/// A residual, relative to the value, that only rounding keeps from being smaller.
const SHARP: f64 = 1e-13;
/// An error of the vector that will do then.
const ENOUGH: f64 = 3e-11;
/// The most vectors of the rival's.
const MOST_OF_RIVAL: usize = 40;
/// How many more reads a rival gets that has not settled.
const MORE: usize = 3;
/// A rival is settled if its residual is below this share of its distance from the first value.
const RIVAL_UNSETTLED: f64 = 0.5;

/// The principal pair of a region, found from vectors on its hubs that may be good starts, so that the
/// error of the vector is at most `goal`; else the vectors reached.
///
/// Cost: a read of all entries for each product, two products side by side in the first ten.
pub(super) fn principal(
    region: &Region,
    warm: &[Vec<f64>],
    goal: f64,
    room: &mut Workspace,
    work: &mut Work,
    watch: &dyn Watch,
) -> Result<(Reached, Ones), Interrupted> {
    let (mut line, mut rival, ones) = begin(region, warm, goal, work);
    let found = follow(region, (&mut line, &mut rival), goal, room, work, watch);
    room.usual = line.len();
    room.give(line.vectors);
    room.give(rival.vectors);
    Ok((found?, ones))
}

/// Goes on until the error of the vector is at most `goal`; else the vectors reached.
fn follow(
    region: &Region,
    (line, rival): (&mut Recurrence, &mut Recurrence),
    goal: f64,
    room: &mut Workspace,
    work: &mut Work,
    watch: &dyn Watch,
) -> Result<Reached, Interrupted> {
    let side = region.of_hubs();
    let pages = side.pages;
    let most = (MEMORY / (8 * pages.len().max(1))).clamp(MOST / 2, MOST);
    // Searches of steps that follow each other take about as long.
    let first_look = (room.usual * 2 / 3).clamp(FIRST_LOOK, MOST / 4);
    loop {
        watch.proceed()?;
        if rival.vectors.len() <= SHARED && !rival.is_done {
            let [image, other] = room.pair(side, (line.last(), rival.last()), work);
            line.advance(pages, image);
            rival.advance(pages, other);
        } else {
            line.advance(pages, room.one(side, line.last(), work));
        }
        let length = line.len();
        let is_last = line.is_done || length >= most;
        if !is_last && (length < first_look || length % LOOK > 0) {
            continue;
        }
        let state = line.state();
        // Once the first value is as exact as can be, rounding brings it anew: then its second value is
        // none, and what the rival tells counts alone.
        let is_sharp = state.residual <= SHARP && !state.is_settled();
        if !line.is_done && !state.is_good(goal) && !is_sharp {
            if is_last {
                return Ok(Err(line.ritz(pages, &state.values, STARTS)));
            }
            continue;
        }
        let mut vectors = line.ritz(pages, &state.values, STARTS);
        let mut along = Vec::new();
        let gap = loop {
            let beside = rival.beside(pages, (&vectors[0], &mut along), state.values[0]);
            if beside.apart < NEAREST || rival.len() >= MOST_OF_RIVAL {
                return Ok(Err(vectors));
            }
            if rival.is_done || beside.residual <= beside.apart * RIVAL_UNSETTLED {
                vectors.insert(1, combine(&rival.vectors, &beside.factors));
                let gap = beside.apart - beside.residual;
                break if is_sharp { gap } else { state.gap().min(gap) };
            }
            for _ in 0..MORE {
                if !rival.is_done {
                    rival.advance(pages, room.one(side, rival.last(), work));
                }
            }
        };
        let error = state.residual / gap;
        let goal = if is_sharp { goal.max(ENOUGH) } else { goal };
        if gap > 0.0 && (error <= goal || line.is_done) {
            vectors.truncate(STARTS);
            return Ok(Ok(Found {
                lambda: state.values[0],
                gap,
                // The part of the second vector that rounding leaves in the first.
                error: error + ROUNDING / gap,
                values: vec![state.values[0], state.values[0] * (1.0 - gap)],
                vectors: StartVectors::Hubs(vectors),
            }));
        }
        if is_last {
            return Ok(Err(vectors));
        }
    }
}

/// Takes a vector on the hubs of a region to a smaller error, where the gap to the next value is known: its
/// value, its error and the vector; `None` if it cannot be had.
///
/// Cost: a read of all entries for each product.
pub(super) fn sharpen(
    region: &Region,
    (start, gap): (&[Vec<f64>], f64),
    goal: f64,
    room: &mut Workspace,
    work: &mut Work,
    watch: &dyn Watch,
) -> Result<Option<(f64, f64, Vec<f64>)>, Interrupted> {
    let Some(start) = start.first().filter(|_| gap >= NEAREST) else {
        return Ok(None);
    };
    let side = region.of_hubs();
    let mut line = Recurrence::from(side.pages, start.clone());
    let mut found = None;
    while found.is_none() && !line.is_done && line.len() < SHARPENING {
        watch.proceed()?;
        line.advance(side.pages, room.one(side, line.last(), work));
        let state = line.state();
        let error = state.residual / gap;
        if error <= goal || state.residual <= SHARP && error <= ENOUGH {
            let vector = line.ritz(side.pages, &state.values, 1).swap_remove(0);
            found = Some((state.values[0], error + ROUNDING / gap, vector));
        }
    }
    room.give(line.vectors);
    Ok(found)
}

/// What a search found, or the vectors that it reached.
pub(super) type Reached = Result<Found, Vec<Vec<f64>>>;

/// The two recurrences: one from the best combination of the starts, whose image is known, and its
/// rival. Cost: one read of the entries for all starts together, and one for the row sums.
fn begin(
    region: &Region,
    warm: &[Vec<f64>],
    goal: f64,
    work: &mut Work,
) -> (Recurrence, Recurrence, Ones) {
    let side = region.of_hubs();
    let pages = side.pages;
    // Weight everywhere is that of the row sums: then their image comes with the starts'.
    let sums = region.lead(&vec![1.0; region.authorities().len()], work);
    let warm: Vec<&Vec<f64>> = warm
        .iter()
        .filter(|vector| norm(pages, vector) > 0.0)
        .take(STARTS)
        .collect();
    let mut block: VectorBlock<BLOCK> = vec![[0.0; BLOCK]; pages.len()];
    for (at, row) in block.iter_mut().enumerate() {
        for (entry, vector) in row.iter_mut().zip(&warm) {
            *entry = vector[at];
        }
        row[STARTS] = sums[at];
    }
    let mut rooms: Buffers<BLOCK> = Default::default();
    let image = square(side, &block, &mut rooms, work);
    let (gram, projected) = products(pages, &block, &rooms[0]);
    let best = best_combination(&gram, &projected);
    let combined = |rows: &VectorBlock<BLOCK>| -> Vec<f64> {
        let sum = |row: &[f64; BLOCK]| row.iter().zip(best).map(|(entry, part)| entry * part).sum();
        rows.iter().map(sum).collect()
    };
    let (mut start, mut image_of_start) = (combined(&block), combined(&rooms[0]));
    // Which of the two directions it has is of no account to the rest.
    let direction: f64 = pages.iter().zip(&start).map(|(pages, x)| pages * x).sum();
    let length = norm(pages, &start) * direction.signum();
    let everywhere = if goal < DEEP { 0.0 } else { EVERYWHERE };
    let all = norm(pages, &sums);
    for (vector, one) in [
        (&mut start, &sums),
        (&mut image_of_start, &column(&rooms[0], STARTS)),
    ] {
        scale(vector, 1.0 / length);
        add(vector, everywhere / all, one);
    }
    let mut other = noise(pages.len());
    let length = norm(pages, &other);
    scale(&mut other, 1.0 / length);
    for vector in warm.iter().skip(1) {
        add(&mut other, 1.0 / norm(pages, vector), vector);
    }
    let length = norm(pages, &start);
    let along = dot(pages, &start, &other) / (length * length);
    add(&mut other, -along, &start);
    let mut line = Recurrence::from(pages, start);
    scale(&mut image_of_start, 1.0 / length);
    let along = dot(pages, line.last(), &image_of_start);
    line.advance(pages, (image_of_start, along));
    (line, Recurrence::from(pages, other), Ones { sums, image })
}

/// A Lanczos recurrence from one vector.
pub(super) struct Recurrence {
    /// Unit vectors over pages, each orthogonal to the others up to rounding; the last one's image is
    /// not known yet, unless it is done.
    vectors: Vec<Vec<f64>>,
    /// `M` over those vectors whose images are known, with the length of what leads out of their span.
    projected: Tridiagonal,
    /// Whether they span all that can be reached.
    pub(super) is_done: bool,
}

impl Recurrence {
    pub(super) fn from(pages: &[f64], mut start: Vec<f64>) -> Self {
        let length = norm(pages, &start);
        scale(&mut start, 1.0 / length);
        Self {
            vectors: vec![start],
            projected: Tridiagonal::default(),
            is_done: false,
        }
    }

    /// How many vectors have images.
    pub(super) fn len(&self) -> usize {
        self.projected.alpha.len()
    }

    pub(super) fn last(&self) -> &[f64] {
        self.vectors.last().map_or(&[], Vec::as_slice)
    }

    /// Takes the image of the last vector.
    pub(super) fn advance(&mut self, pages: &[f64], (mut image, along): Image) {
        let before = self.vectors.len().checked_sub(2);
        let before = before.map(|at| (self.projected.beta[at], self.vectors[at].as_slice()));
        let rest = less_two(pages, &mut image, (along, self.last()), before);
        self.projected.alpha.push(along);
        self.projected.beta.push(rest);
        self.is_done = rest <= along * 1e-14 || self.vectors.len() >= pages.len();
        if !self.is_done {
            scale(&mut image, 1.0 / rest);
            self.vectors.push(image);
        }
    }

    /// Its vectors, to be used again.
    pub(super) fn into_vectors(self) -> Vec<Vec<f64>> {
        self.vectors
    }

    /// The length of what leads out of the span.
    fn rest(&self) -> f64 {
        self.projected.beta.last().copied().unwrap_or(0.0)
    }

    pub(super) fn state(&self) -> State {
        let pairs = self.projected.values();
        let top = pairs.first().map_or(1.0, |pair| pair.0);
        let residual = |at: usize| {
            pairs
                .get(at)
                .map_or(0.0, |pair| self.rest() * pair.1.abs() / top)
        };
        State {
            residual: residual(0),
            second: residual(1),
            values: pairs.iter().map(|pair| pair.0).collect(),
        }
    }

    /// The first Ritz vectors, of unit length over pages and mostly positive.
    pub(super) fn ritz(&self, pages: &[f64], values: &[f64], count: usize) -> Vec<Vec<f64>> {
        let values = values.get(..count).unwrap_or(values);
        let factors = self.projected.vectors(values);
        let vectors = combinations(&self.vectors, &factors).into_iter();
        let vectors = vectors.map(|mut vector| {
            let side: f64 = pages.iter().zip(&vector).map(|(pages, x)| pages * x).sum();
            let length = norm(pages, &vector) * side.signum();
            scale(&mut vector, 1.0 / length);
            vector
        });
        vectors.collect()
    }

    /// The combination of the vectors that comes nearest to `(mu - M)^-1 b` for the unit vector `b` that
    /// the recurrence began at, and the length of what is missing of `b` where that is multiplied by
    /// `mu - M`.
    pub(super) fn resolvent(&self, mu: f64) -> (Vec<f64>, f64) {
        let factors = self.projected.resolvent(mu);
        let missing = self.rest() * factors.last().map_or(0.0, |last| last.abs());
        (factors, missing)
    }

    /// A combination of the vectors.
    pub(super) fn combined(&self, factors: &[f64]) -> Vec<f64> {
        combine(&self.vectors, factors)
    }

    /// The largest value beside this first vector and its value, as far as this recurrence tells. `along`
    /// has the products of the first with as many vectors as it was asked about before.
    fn beside(&self, pages: &[f64], (first, along): (&[f64], &mut Vec<f64>), top: f64) -> Rival {
        let known = self.len();
        along.extend(dots(pages, &self.vectors[along.len()..known], first));
        let (value, factors) = largest_pair(known, |x| {
            let along_first: f64 = along.iter().zip(x).map(|(c, x)| c * x).sum();
            let own = self.projected.times(x).into_iter().zip(&*along);
            own.map(|(own, c)| own - top * c * along_first).collect()
        });
        let out = self.rest() * factors.last().map_or(0.0, |last| last.abs());
        let shared: f64 = along.iter().zip(&factors).map(|(c, s)| c * s).sum();
        let outside = 1.0 - along.iter().map(|c| c * c).sum::<f64>();
        let of_first = top * shared * outside.max(0.0).sqrt();
        Rival {
            apart: 1.0 - value / top,
            residual: out.hypot(of_first) / top,
            factors,
        }
    }
}

/// What a recurrence says of the largest values.
pub(super) struct State {
    pub(super) values: Vec<f64>,
    /// The residuals of the first two, relative to the first value.
    residual: f64,
    second: f64,
}

impl State {
    fn apart(&self) -> f64 {
        let second = self.values.get(1);
        second.map_or(1.0, |second| 1.0 - second / self.values[0])
    }

    /// `1 - theta_2 / theta_1`, from below.
    fn gap(&self) -> f64 {
        self.apart() - self.second
    }

    /// Whether the second value is clearly another one than the first.
    fn is_settled(&self) -> bool {
        self.apart() >= NEAREST && self.second <= self.apart() * UNSETTLED
    }

    /// Whether the vector's error is at most `goal`, as far as this recurrence alone tells.
    fn is_good(&self, goal: f64) -> bool {
        self.is_settled() && self.residual <= goal * self.gap()
    }
}

/// The largest value beside the first.
struct Rival {
    /// How far it lies below the first, relative to that.
    apart: f64,
    /// Relative to the first value.
    residual: f64,
    /// The shares of the vectors in its own.
    factors: Vec<f64>,
}
