//! The order of two places, and its messages.

use super::super::principal::{Doubt, Principal, TIED};
use super::super::replay::VALUE_ERROR;
use crate::graph::codec::{Decoder, Encoder};

/// Relative accuracy of sigmas.
const ROUNDING: f64 = 1e-12;

/// What decides the order of two places.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) sigma: f64,
    /// Proved upper bound on sigma.
    pub(super) upper: f64,
    pub(super) gap: f64,
    /// The largest sigma, with which this one is tied.
    pub(super) top: f64,
    pub(super) best: u32,
    /// Whether the bound can be tightened.
    pub(super) is_loose: bool,
}

impl Place {
    pub(super) fn new(principal: &Principal, top: f64, best: u32) -> Self {
        Self {
            sigma: principal.sigma,
            upper: principal.upper,
            gap: principal.gap,
            top,
            best,
            is_loose: principal.is_loosely_bounded(),
        }
    }

    /// Returns whether this place comes before another one: if both are tied with the largest sigma, the one whose best
    /// authority has the smallest URL.
    pub(super) fn is_before(&self, other: &Self) -> bool {
        let limit = self.top.max(other.top) * (1.0 - TIED);
        if self.sigma.min(other.sigma) >= limit {
            self.best < other.best
        } else {
            self.sigma > other.sigma
        }
    }

    /// Returns whether the sigmas are nearer to each other than they are proved at first.
    pub(super) fn is_near(&self, other: &Self) -> bool {
        let top = self.sigma.max(other.sigma);
        (self.sigma - other.sigma).abs() <= 2.0 * VALUE_ERROR * top
    }

    /// Returns why it is uncertain that this place comes before another one; `None` if it does.
    pub(super) fn doubt_beside(&self, other: &Self) -> Option<Doubt> {
        let is_proved = other.upper <= other.sigma * (1.0 + TIED);
        if !is_proved && other.upper > self.sigma * (1.0 - 2.0 * TIED) {
            return Some(Doubt::Value { gap: other.gap });
        }
        // A tie is undecided within rounding of its threshold, and if a place is tied with the largest sigma of its own
        // graph but not with that of both.
        let limit = self.top.max(other.top) * (1.0 - TIED);
        let at_edge = limit * (1.0 - ROUNDING)..=limit * (1.0 + ROUNDING);
        let is_undecided =
            |of: &Self| at_edge.contains(&of.sigma) || (of.sigma < limit && of.top > limit);
        let is_undecided = is_undecided(self) || is_undecided(other);
        is_undecided.then_some(Doubt::Comparison { error: ROUNDING })
    }

    pub(super) fn encode(&self) -> Encoder {
        let mut message = Encoder::default();
        message.number(self.best.into());
        message.number(self.is_loose.into());
        for number in [self.sigma, self.upper, self.gap, self.top] {
            message.0.extend(number.to_le_bytes());
        }
        message
    }

    pub(super) fn decode(message: &mut Decoder<'_>) -> Option<Self> {
        let best = message.index()?;
        let is_loose = message.number()? != 0;
        let mut numbers = [0.0; 4];
        for number in &mut numbers {
            let (bytes, rest) = message.0.split_first_chunk()?;
            (*number, message.0) = (f64::from_le_bytes(*bytes), rest);
        }
        let [sigma, upper, gap, top] = numbers;
        Some(Self {
            sigma,
            upper,
            gap,
            top,
            best,
            is_loose,
        })
    }
}

/// Appends why something is uncertain.
pub(crate) fn encode_doubt(doubt: Option<Doubt>, message: &mut Encoder) {
    let (kind, numbers) = match doubt {
        None => (0, [0.0; 2]),
        Some(Doubt::Value { gap }) => (1, [gap, 0.0]),
        Some(Doubt::Vector { gap, error }) => (2, [gap, error]),
        Some(Doubt::Comparison { error }) => (3, [error, 0.0]),
    };
    message.number(kind);
    message
        .0
        .extend(numbers.into_iter().flat_map(f64::to_le_bytes));
}

/// Reads why something is uncertain. Returns `None` if the message is not as expected.
#[expect(
    clippy::option_option,
    reason = "that nothing is uncertain is not that the message is damaged"
)]
pub(crate) fn decode_doubt(message: &mut Decoder<'_>) -> Option<Option<Doubt>> {
    let kind = message.number()?;
    let mut numbers = [0.0; 2];
    for number in &mut numbers {
        let (bytes, rest) = message.0.split_first_chunk()?;
        (*number, message.0) = (f64::from_le_bytes(*bytes), rest);
    }
    let [first, second] = numbers;
    Some(match kind {
        0 => None,
        1 => Some(Doubt::Value { gap: first }),
        2 => Some(Doubt::Vector {
            gap: first,
            error: second,
        }),
        3 => Some(Doubt::Comparison { error: first }),
        _ => return None,
    })
}
