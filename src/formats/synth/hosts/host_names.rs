//! Names of hosts, which ascend with the ids and are computed independently of each other.
//!
//! A domain's label begins with the id of its first host in letters of fixed length, so that labels
//! ascend and are distinct, followed by syllables. The domains of a block of 1,024 hosts are drawn in
//! sequence, so finding the domain of a host costs up to a block.

use super::super::draw::{Draw, Purpose};

/// The number of hosts of a block. Domains do not cross blocks, except those that fill a run.
const BLOCK: u64 = 1 << 10;

/// The number of hosts of a run, which may be a single domain.
const RUN: u64 = 1 << 16;

/// The share of runs that are a single domain.
const WHOLE_RUNS: f64 = 0.02;

/// The reserved top-level domains in order, with the cumulative share of hosts.
const ENDINGS: [(&str, f64); 3] = [("example", 0.6), ("invalid", 0.7), ("test", 1.0)];

/// The labels of additional hosts of small domains in order; the last ones are used first.
const COMMON_LABELS: [&str; 4] = ["blog", "m", "shop", "www"];

const SYLLABLES: [&str; 16] = [
    "ba", "co", "da", "el", "fi", "go", "in", "ka", "lo", "mar", "net", "or", "pu", "ra", "sta",
    "vi",
];

/// A range of host ids with the same domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Domain {
    pub(super) first: u64,
    pub(super) hosts: u64,
}

/// The names of all hosts of a graph.
#[derive(Clone, Copy, Debug)]
pub(super) struct Names {
    hosts: u64,
    /// The number of letters of an id.
    letters: u32,
    draw: Draw,
}

impl Names {
    pub(super) fn new(hosts: u64, rng_seed: u64) -> Self {
        Self {
            hosts,
            letters: letters(hosts),
            draw: Draw::new(rng_seed).child(Purpose::Site),
        }
    }

    /// Returns whether the run that begins with this host is a single domain.
    fn is_single_domain(&self, run: u64) -> bool {
        self.draw.child(Purpose::Section).at(run).chance(WHOLE_RUNS)
    }

    /// Returns the domain that begins with this host.
    pub(super) fn domain_from(&self, first: u64) -> Domain {
        let run = first - first % RUN;
        let end = if first == run && self.is_single_domain(run) {
            run + RUN
        } else {
            let unit = self.draw.child(Purpose::Degree).at(first).unit();
            let block = first - first % BLOCK + BLOCK;
            (first + size(unit)).min(block)
        };
        Domain {
            first,
            hosts: end.min(self.hosts) - first,
        }
    }

    /// Returns the domain of a host.
    pub(super) fn domain_of(&self, host: u64) -> Domain {
        let run = host - host % RUN;
        let mut first = if self.is_single_domain(run) {
            run
        } else {
            host - host % BLOCK
        };
        loop {
            let domain = self.domain_from(first);
            first += domain.hosts;
            if first > host {
                return domain;
            }
        }
    }

    /// Appends the name of a host with its labels reversed.
    pub(super) fn push(&self, host: u64, out: &mut Vec<u8>) {
        self.push_in(self.domain_of(host), host, out);
    }

    /// Like [`Names::push`], for a known domain.
    pub(super) fn push_in(&self, domain: Domain, host: u64, out: &mut Vec<u8>) {
        let place = domain.first as f64 / self.hosts as f64;
        let ending = ENDINGS.iter().find(|(_, end)| place < *end);
        out.extend_from_slice(ending.map_or("test", |(ending, _)| ending).as_bytes());
        out.push(b'.');
        put_letters(domain.first, self.letters, out);
        put_syllables(self.draw.child(Purpose::Word).at(domain.first), out);
        let Some(further) = (host - domain.first).checked_sub(1) else {
            return;
        };
        out.push(b'.');
        let usual = COMMON_LABELS.len() as u64;
        if domain.hosts - 1 <= usual {
            let after = usize::try_from(domain.hosts - 2 - further).ok();
            let label = after.and_then(|after| COMMON_LABELS.iter().rev().nth(after));
            out.extend_from_slice(label.copied().unwrap_or_default().as_bytes());
        } else {
            put_letters(further, letters(domain.hosts), out);
            put_syllables(self.draw.child(Purpose::Extra).at(host), out);
        }
    }
}

/// Converts a uniform number in [0, 1) to the number of hosts of a domain: at least k hosts with
/// probability min(1, (0.6 / k)^(4/3)).
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the float is small and positive"
)]
fn size(unit: f64) -> u64 {
    let root = unit.max(1e-12).sqrt().sqrt();
    ((0.6 / (root * root * root)).min(1e6) as u64).max(1)
}

/// Returns the number of letters that numbers below `below` require.
fn letters(below: u64) -> u32 {
    let mut letters = 1;
    let mut room = 26_u64;
    while room < below {
        room *= 26;
        letters += 1;
    }
    letters
}

/// Appends a number in base 26 with a fixed number of letters, so that texts sort like numbers.
fn put_letters(number: u64, letters: u32, out: &mut Vec<u8>) {
    for place in (0..letters).rev() {
        out.push(b'a' + (number / 26_u64.pow(place) % 26) as u8);
    }
}

/// Appends one to four syllables.
fn put_syllables(draw: Draw, out: &mut Vec<u8>) {
    for count in 0..=draw.below(4) {
        let syllable = SYLLABLES.get(((draw.bits() >> (8 + 4 * count)) % 16) as usize);
        out.extend_from_slice(syllable.copied().unwrap_or_default().as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_ascend_and_are_found_alone() {
        for (hosts, rng_seed) in [(1, 0), (2, 1), (1023, 2), (30_000, 3), (200_000, 60)] {
            let names = Names::new(hosts, rng_seed);
            let mut previous = Vec::new();
            let (mut first, mut domains, mut largest) = (0, 0, 0);
            while first < hosts {
                let domain = names.domain_from(first);
                assert!(domain.hosts > 0);
                domains += 1;
                largest = largest.max(domain.hosts);
                for host in first..first + domain.hosts {
                    let mut name = Vec::new();
                    names.push_in(domain, host, &mut name);
                    assert!(previous < name, "{host} of {hosts}");
                    let mut alone = Vec::new();
                    names.push(host, &mut alone);
                    assert_eq!(name, alone);
                    previous = name;
                }
                first += domain.hosts;
            }
            assert_eq!(first, hosts);
            println!("{hosts} hosts of {domains} domains, at most {largest} of one");
            if hosts == 30_000 {
                let mean = 30_000.0 / f64::from(domains);
                assert!((1.8..2.6).contains(&mean), "{mean} hosts a domain");
            }
        }
    }

    #[test]
    fn a_run_may_be_one_domain() {
        let names = Names::new(1 << 30, 7);
        let whole = (0..1000).filter(|run| names.is_single_domain(run * RUN));
        let whole: Vec<u64> = whole.collect();
        assert!((5..50).contains(&whole.len()), "{}", whole.len());
        let first = whole[0] * RUN;
        let expected = Domain { first, hosts: RUN };
        assert_eq!(names.domain_of(first + 40_000), expected);
    }
}
