//! Largest eigenpair of `N = A A^T` over a large region, with single-vector Lanczos.
//!
//! A region has fewer hubs than authorities, on crawls at most half as many, and `N` has the
//! eigenvalues of `M = A^T A`. So vectors on the hubs need less memory, and their products less
//! random access.
//!
//! Source: Lanczos (1950), the three-term recurrence without reorthogonalisation, interpreted as by
//! Paige (1980): a Ritz value with a small residual is an eigenvalue, and its vector is as accurate
//! as the residual indicates; copies caused by rounding appear later. Deviations: it starts from
//! the best combination of the Ritz vectors of the previous step, with a small weight everywhere,
//! and a second recurrence, the *rival*, runs beside it.
//!
//! **When it is used.** Most steps start near their solution, and no second place is near it. Then
//! 20 to 40 products are enough. If a second place is near, or convergence is slow,
//! [`super::thick_restart_lanczos`] continues from the current vectors.
//!
//! **The rival.** A recurrence from one vector sees one combination of two places that are nearly
//! equal, and overestimates the gap. So a second recurrence, from noise with weight everywhere and
//! the known vectors of other places, shares the first reads of the links. Its projected matrix
//! without the first vector, `T - theta c c^T`, where `c` are the products of its vectors with the
//! first, has the next value. The residual of its Ritz vector `q`, without its part along the first
//! vector, is that of any Lanczos vector plus `theta (x . q) |x'|`, for the part `x'` of the first
//! vector outside the span. Refining a vector needs no rival: the gap is known.
//!
//! **Error of the vector.** With `theta` the largest Ritz value and `r` its residual, which is
//! orthogonal to the span, `|x - x*| <= r / (theta - lambda_2)` to first order. `lambda_2` is
//! bounded by the larger of the second Ritz value and the rival's, each plus its residual. That is
//! not proved; [`super::certificate`] proves that nothing denser exists.

use crate::watch::{Interrupted, Watch};

use super::certificate::Ones;
use super::dense::largest_pair;
use super::rayleigh_ritz::best_combination;
use super::region::Region;
use super::tridiagonal::Tridiagonal;
use super::vector_block::{
    BufferPool, Buffers, Image, VectorBlock, apply_m_block, column, products,
};
use super::vectors::{add, combinations, dot, dots, norm, scale, subtract_two};
use super::work::Work;
use crate::graph::Role;

/// A second pair is settled if its residual is below this share of its distance from the first.
const SETTLED: f64 = 0.1;
/// Rounding error of a residual, relative to the value.
const ROUNDING: f64 = 4e-15;
/// Pairs nearer to each other than this are left to [`super::thick_restart_lanczos`] and a tighter
/// proof.
const MIN_GAP: f64 = 1e-5;
/// Maximum number of known vectors that a search starts from.
pub(super) const STARTS: usize = 3;
/// These, and the uniform vector.
const BLOCK: usize = STARTS + 1;
/// Weight of the uniform vector in the start.
const UNIFORM_WEIGHT: f64 = 1e-3;
/// Goals below this refine an earlier result; uniform weight would only have to be removed again.
const REFINING_GOAL: f64 = 1e-9;
/// Products during which both recurrences share the reads of the links.
const SHARED_PRODUCTS: usize = 12;
/// Products between two checks of the Ritz values.
const CHECK_INTERVAL: usize = 4;
/// Products before the first check.
const FIRST_CHECK: usize = 8;
/// Maximum number of vectors of a recurrence: 960 bytes for each hub class.
const MAX_VECTORS: usize = 120;
/// Memory limit of the vectors, in bytes; at least half of [`MAX_VECTORS`] are allowed.
const MEMORY: usize = 1 << 29;
/// Maximum number of products of a refinement.
const MAX_REFINEMENT: usize = 60;
/// Residual, relative to the value, that only rounding keeps from being smaller.
const ROUNDING_RESIDUAL: f64 = 1e-13;
/// Error of the vector that is accepted at that residual.
const ACCEPTABLE_ERROR: f64 = 3e-11;
/// Maximum number of the rival's vectors.
const MAX_RIVAL_VECTORS: usize = 40;
/// Further products of a rival that has not settled.
const RIVAL_STEPS: usize = 3;
/// A rival is settled if its residual is below this share of its distance from the first value.
const RIVAL_SETTLED: f64 = 0.5;

/// Principal pair of a region, with further Ritz pairs.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// The largest eigenvalue.
    pub(super) lambda: f64,
    /// `1 - lambda_2 / lambda_1`, a lower bound as far as the recurrences can tell.
    pub(super) gap: f64,
    /// Upper bound on the error of the first vector, in length.
    pub(super) error: f64,
    pub(super) values: Vec<f64>,
    /// Vectors on the hubs of unit length over pages, start vectors of later searches. The first is
    /// nonnegative up to its error.
    pub(super) vectors: Vec<Vec<f64>>,
}

/// Finds the principal pair of a region from these start vectors on its hubs, with an error of the
/// vector of at most `goal`; otherwise returns the current vectors.
///
/// Cost: one read of all entries per product; the first products of both recurrences share them.
pub(super) fn principal(
    region: &Region,
    warm: &[Vec<f64>],
    goal: f64,
    pool: &mut BufferPool,
    work: &mut Work,
    watch: &dyn Watch,
) -> Result<(Reached, Ones), Interrupted> {
    let (mut lanczos, mut rival, ones) = start_recurrences(region, warm, goal, work)?;
    let found = iterate(region, &mut lanczos, &mut rival, goal, pool, work, watch);
    pool.last_products = lanczos.len();
    pool.recycle(lanczos.vectors);
    pool.recycle(rival.vectors);
    Ok((found?, ones))
}

/// Iterates until the error of the vector is at most `goal`.
fn iterate(
    region: &Region,
    lanczos: &mut Recurrence,
    rival: &mut Recurrence,
    goal: f64,
    pool: &mut BufferPool,
    work: &mut Work,
    watch: &dyn Watch,
) -> Result<Reached, Interrupted> {
    let side = region.hub_side();
    let pages = side.pages;
    let max_vectors = (MEMORY / (8 * pages.len().max(1))).clamp(MAX_VECTORS / 2, MAX_VECTORS);
    // Consecutive steps take about the same number of products.
    let first_check = (pool.last_products * 2 / 3).clamp(FIRST_CHECK, MAX_VECTORS / 4);
    loop {
        watch.proceed()?;
        if rival.vectors.len() <= SHARED_PRODUCTS && !rival.is_done {
            let [image, other] = pool.multiply_pair(side, lanczos.last(), rival.last(), work);
            lanczos.advance(region, image)?;
            rival.advance(region, other)?;
        } else {
            lanczos.advance(region, pool.multiply(side, lanczos.last(), work))?;
        }
        let length = lanczos.len();
        let is_last = lanczos.is_done || length >= max_vectors;
        if !is_last && (length < first_check || !length.is_multiple_of(CHECK_INTERVAL)) {
            continue;
        }
        let state = lanczos.state();
        // Once the first value is exact to rounding, the second Ritz value may be a copy of it: then
        // only the rival counts.
        let is_at_rounding = state.residual <= ROUNDING_RESIDUAL && !state.is_settled();
        if !lanczos.is_done && !state.is_good(goal) && !is_at_rounding {
            if is_last {
                return Ok(Err(lanczos.ritz(region, &state.values, STARTS)?));
            }
            continue;
        }
        let mut vectors = lanczos.ritz(region, &state.values, STARTS)?;
        let mut along = Vec::new();
        // The rival must confirm the gap before the vector is accepted.
        let gap = loop {
            let pair = rival.orthogonal_pair(pages, &vectors[0], &mut along, state.values[0]);
            if pair.relative_gap < MIN_GAP || rival.len() >= MAX_RIVAL_VECTORS {
                return Ok(Err(vectors));
            }
            if rival.is_done || pair.residual <= pair.relative_gap * RIVAL_SETTLED {
                vectors.insert(1, rival.combined(&pair.factors));
                let gap = pair.relative_gap - pair.residual;
                break if is_at_rounding {
                    gap
                } else {
                    state.gap().min(gap)
                };
            }
            for _ in 0..RIVAL_STEPS {
                if !rival.is_done {
                    rival.advance(region, pool.multiply(side, rival.last(), work))?;
                }
            }
        };
        let error = state.residual / gap;
        let goal = if is_at_rounding {
            goal.max(ACCEPTABLE_ERROR)
        } else {
            goal
        };
        if gap > 0.0 && (error <= goal || lanczos.is_done) {
            vectors.truncate(STARTS);
            return Ok(Ok(Found {
                lambda: state.values[0],
                gap,
                // Rounding leaves a part of the second vector in the first.
                error: error + ROUNDING / gap,
                values: vec![state.values[0], state.values[0] * (1.0 - gap)],
                vectors,
            }));
        }
        if is_last {
            return Ok(Err(vectors));
        }
    }
}

/// Reduces the error of a vector on the hubs of a region, given the gap to the next value. Returns
/// its value, its error and the vector; `None` if the goal was not reached.
///
/// Cost: one read of all entries per product.
pub(super) fn refine(
    region: &Region,
    start: &[Vec<f64>],
    gap: f64,
    goal: f64,
    pool: &mut BufferPool,
    work: &mut Work,
    watch: &dyn Watch,
) -> Result<Option<(f64, f64, Vec<f64>)>, Interrupted> {
    let Some(start) = start.first().filter(|_| gap >= MIN_GAP) else {
        return Ok(None);
    };
    let side = region.hub_side();
    let mut lanczos = Recurrence::new(region, start.clone())?;
    let mut found = None;
    while found.is_none() && !lanczos.is_done && lanczos.len() < MAX_REFINEMENT {
        watch.proceed()?;
        lanczos.advance(region, pool.multiply(side, lanczos.last(), work))?;
        let state = lanczos.state();
        let error = state.residual / gap;
        if error <= goal || state.residual <= ROUNDING_RESIDUAL && error <= ACCEPTABLE_ERROR {
            let vector = lanczos.ritz(region, &state.values, 1)?.swap_remove(0);
            found = Some((state.values[0], error + ROUNDING / gap, vector));
        }
    }
    pool.recycle(lanczos.vectors);
    Ok(found)
}

/// The pair found, or the current vectors.
pub(super) type Reached = Result<Found, Vec<Vec<f64>>>;

/// Starts both recurrences: one from the best combination of the start vectors, and its rival.
/// Cost: one read of the entries for all start vectors together, and one for the row sums.
fn start_recurrences(
    region: &Region,
    warm: &[Vec<f64>],
    goal: f64,
    work: &mut Work,
) -> Result<(Recurrence, Recurrence, Ones), Interrupted> {
    let side = region.hub_side();
    let pages = side.pages;
    // The uniform weight is that of the row sums, whose image is computed along with the starts'.
    let sums = region.apply_a(&vec![1.0; region.authorities().len()], work);
    let warm: Vec<&Vec<f64>> = warm
        .iter()
        .filter(|vector| norm(pages, vector) > 0.0)
        .take(STARTS)
        .collect();
    // One read of the links serves all start vectors.
    let mut block: VectorBlock<BLOCK> = vec![[0.0; BLOCK]; pages.len()];
    for (at, row) in block.iter_mut().enumerate() {
        for (entry, vector) in row.iter_mut().zip(&warm) {
            *entry = vector[at];
        }
        row[STARTS] = sums[at];
    }
    let mut buffers: Buffers<BLOCK> = Default::default();
    let image = apply_m_block(side, &block, &mut buffers, work);
    let (gram, projected) = products(pages, &block, &buffers[0]);
    let best = best_combination(&gram, &projected);
    let combined = |rows: &VectorBlock<BLOCK>| -> Vec<f64> {
        let sum = |row: &[f64; BLOCK]| row.iter().zip(best).map(|(entry, part)| entry * part).sum();
        rows.iter().map(sum).collect()
    };
    let (mut start, mut start_image) = (combined(&block), combined(&buffers[0]));
    // The start must be mostly positive.
    let direction: f64 = pages.iter().zip(&start).map(|(pages, x)| pages * x).sum();
    let length = norm(pages, &start) * direction.signum();
    let uniform_weight = if goal < REFINING_GOAL {
        0.0
    } else {
        UNIFORM_WEIGHT
    };
    let all = norm(pages, &sums);
    for (vector, one) in [
        (&mut start, &sums),
        (&mut start_image, &column(&buffers[0], STARTS)),
    ] {
        scale(vector, 1.0 / length);
        add(vector, uniform_weight / all, one);
    }
    // The rival starts from noise and the other places, without the first vector.
    let mut other = noise(pages.len());
    let length = norm(pages, &other);
    scale(&mut other, 1.0 / length);
    for vector in warm.iter().skip(1) {
        add(&mut other, 1.0 / norm(pages, vector), vector);
    }
    let length = norm(pages, &start);
    let projection = dot(pages, &start, &other) / (length * length);
    add(&mut other, -projection, &start);
    let mut lanczos = Recurrence::new(region, start)?;
    scale(&mut start_image, 1.0 / length);
    let alpha = dot(pages, lanczos.last(), &start_image);
    lanczos.advance(region, (start_image, alpha))?;
    let rival = Recurrence::new(region, other)?;
    Ok((lanczos, rival, Ones { sums, image }))
}

/// A Lanczos recurrence from one vector.
pub(super) struct Recurrence {
    /// Unit vectors over pages, mutually orthogonal up to rounding. The last one has no image yet,
    /// unless the recurrence is done.
    vectors: Vec<Vec<f64>>,
    /// The matrix projected on the vectors with images, with the norm of the residual.
    projected: Tridiagonal,
    /// Whether the span is invariant.
    pub(super) is_done: bool,
}

impl Recurrence {
    pub(super) fn new(region: &Region, mut start: Vec<f64>) -> Result<Self, Interrupted> {
        let length = region.norm(Role::Hub, &start)?;
        scale(&mut start, 1.0 / length);
        Ok(Self {
            vectors: vec![start],
            projected: Tridiagonal::default(),
            is_done: false,
        })
    }

    /// Returns the number of vectors with images.
    pub(super) fn len(&self) -> usize {
        self.projected.alpha.len()
    }

    pub(super) fn last(&self) -> &[f64] {
        self.vectors.last().map_or(&[], Vec::as_slice)
    }

    /// Adds the image of the last vector.
    pub(super) fn advance(&mut self, region: &Region, image: Image) -> Result<(), Interrupted> {
        let (mut image, alpha) = image;
        let previous = self.vectors.len().checked_sub(2);
        let previous = previous.map(|at| (self.projected.beta[at], self.vectors[at].as_slice()));
        let pages = region.hub_pages();
        let last = self.last();
        let [square] = region.sums(Role::Hub, |range| {
            let previous = previous.map(|(beta, vector)| (beta, &vector[range.clone()]));
            let (image, last) = (&mut image[range.clone()], &last[range.clone()]);
            [subtract_two(&pages[range], image, alpha, last, previous)]
        })?;
        let beta = square.sqrt();
        self.projected.alpha.push(alpha);
        self.projected.beta.push(beta);
        self.is_done = beta <= alpha * 1e-14 || self.vectors.len() >= region.count(Role::Hub);
        if !self.is_done {
            scale(&mut image, 1.0 / beta);
            self.vectors.push(image);
        }
        Ok(())
    }

    pub(super) fn into_vectors(self) -> Vec<Vec<f64>> {
        self.vectors
    }

    fn residual_norm(&self) -> f64 {
        self.projected.beta.last().copied().unwrap_or(0.0)
    }

    pub(super) fn state(&self) -> RitzState {
        let pairs = self.projected.values();
        let top = pairs.first().map_or(1.0, |pair| pair.0);
        let residual = |at: usize| {
            pairs
                .get(at)
                .map_or(0.0, |pair| self.residual_norm() * pair.1.abs() / top)
        };
        RitzState {
            residual: residual(0),
            second_residual: residual(1),
            values: pairs.iter().map(|pair| pair.0).collect(),
        }
    }

    /// Returns the first Ritz vectors, of unit length over pages and mostly positive.
    pub(super) fn ritz(
        &self,
        region: &Region,
        values: &[f64],
        count: usize,
    ) -> Result<Vec<Vec<f64>>, Interrupted> {
        let values = values.get(..count).unwrap_or(values);
        let factors = self.projected.vectors(values);
        let pages = region.hub_pages();
        let mut vectors = combinations(&self.vectors, &factors);
        for vector in &mut vectors {
            let [side, square] = region.sums(Role::Hub, |range| {
                let (pages, vector) = (&pages[range.clone()], &vector[range]);
                let side = pages.iter().zip(vector).map(|(pages, x)| pages * x);
                [side.sum(), dot(pages, vector, vector)]
            })?;
            let length = square.sqrt() * side.signum();
            scale(vector, 1.0 / length);
        }
        Ok(vectors)
    }

    /// Returns the factors of the combination of the vectors nearest to `(mu - M)^-1 b`, for the
    /// unit vector `b` that the recurrence started from, and the length of the residual of `(mu -
    /// M) y = b`.
    pub(super) fn resolvent(&self, mu: f64) -> (Vec<f64>, f64) {
        let factors = self.projected.resolvent(mu);
        let missing = self.residual_norm() * factors.last().map_or(0.0, |last| last.abs());
        (factors, missing)
    }

    pub(super) fn combined(&self, factors: &[f64]) -> Vec<f64> {
        combinations(&self.vectors, &[factors.to_vec()]).swap_remove(0)
    }

    /// Returns the largest pair orthogonal to this first vector, as seen by this recurrence.
    /// `along` caches the products of the first vector with the vectors.
    fn orthogonal_pair(
        &self,
        pages: &[f64],
        first: &[f64],
        along: &mut Vec<f64>,
        top: f64,
    ) -> Rival {
        let known = self.len();
        along.extend(dots(pages, &self.vectors[along.len()..known], first));
        let (value, factors) = largest_pair(known, |x| {
            let along_first: f64 = along.iter().zip(x).map(|(c, x)| c * x).sum();
            let own = self.projected.times(x).into_iter().zip(&*along);
            own.map(|(own, c)| own - top * c * along_first).collect()
        });
        let out = self.residual_norm() * factors.last().map_or(0.0, |last| last.abs());
        let shared: f64 = along.iter().zip(&factors).map(|(c, s)| c * s).sum();
        let outside = 1.0 - along.iter().map(|c| c * c).sum::<f64>();
        let along_first_vector = top * shared * outside.max(0.0).sqrt();
        Rival {
            relative_gap: 1.0 - value / top,
            residual: out.hypot(along_first_vector) / top,
            factors,
        }
    }
}

/// The largest Ritz values of a recurrence.
pub(super) struct RitzState {
    pub(super) values: Vec<f64>,
    /// Residual of the first, relative to the first value.
    residual: f64,
    /// Residual of the second, relative to the first value.
    second_residual: f64,
}

impl RitzState {
    fn relative_gap(&self) -> f64 {
        let second = self.values.get(1);
        second.map_or(1.0, |second| 1.0 - second / self.values[0])
    }

    /// Returns a lower bound on `1 - theta_2 / theta_1`.
    fn gap(&self) -> f64 {
        self.relative_gap() - self.second_residual
    }

    /// Returns whether the second value is clearly distinct from the first.
    fn is_settled(&self) -> bool {
        self.relative_gap() >= MIN_GAP && self.second_residual <= self.relative_gap() * SETTLED
    }

    /// Returns whether the vector's error is at most `goal`, as far as this recurrence shows.
    fn is_good(&self, goal: f64) -> bool {
        self.is_settled() && self.residual <= goal * self.gap()
    }
}

/// The largest pair orthogonal to the first.
struct Rival {
    /// Distance below the first value, relative to it.
    relative_gap: f64,
    /// Relative to the first value.
    residual: f64,
    /// Shares of the vectors of the recurrence.
    factors: Vec<f64>,
}

/// Returns a pseudorandom vector with weight everywhere and mean about 0: Marsaglia's xorshift sequence (2003).
fn noise(length: usize) -> Vec<f64> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    (0..length).map(|_| next() - 0.5).collect()
}
