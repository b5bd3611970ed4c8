//! Links and popularity of hosts.

use super::super::draw::{Draw, Purpose};
use super::{HostsOptions, MAX_LINKS};

/// Cumulative shares of links: to hosts near by, and to these or popular hosts.
const NEAR: f64 = 0.25;
const NEAR_OR_HEAD: f64 = 0.55;

/// The popular hosts are this fraction (1 / 64) of all hosts.
const HEAD: u64 = 64;

/// Sample size and number of rounds of the calibration.
const SAMPLE: u64 = 100;
const ROUNDS: usize = 3;

/// The links of all hosts of a graph.
#[derive(Clone, Debug)]
pub(super) struct Targets {
    hosts: u64,
    dangling: f64,
    /// The minimum outdegree before rounding, of hosts with links.
    min: f64,
    /// The maximum outdegree.
    max: u64,
    /// Host id = popularity * `factor` + `offset`, modulo the number of hosts.
    factor: u64,
    offset: u64,
    /// The start of the sequence of degrees.
    start: u64,
    draw: Draw,
}

impl Targets {
    pub(super) fn new(options: &HostsOptions) -> Self {
        let hosts = options.hosts;
        let draw = Draw::new(options.rng_seed).child(Purpose::Target);
        let mut targets = Self {
            hosts,
            dangling: options.dangling,
            min: 0.0,
            max: MAX_LINKS.min(hosts - 1),
            factor: factor(hosts),
            offset: draw.child(Purpose::Order).below(hosts),
            start: draw.child(Purpose::Degree).bits(),
            draw,
        };
        targets.calibrate(options.links);
        targets
    }

    /// Sets the scale of degrees so that the mean number of distinct links per host is `links`.
    ///
    /// The mean is measured on a sample in which every host represents the same number of links, so that it
    /// includes the few hosts with the highest degrees.
    fn calibrate(&mut self, links: f64) {
        let linking = 1.0 - self.dangling;
        if self.max == 0 || linking <= 0.0 || links <= 0.0 {
            self.dangling = 1.0;
            return;
        }
        let mut wanted = links / linking;
        let mut out = Vec::new();
        for _ in 0..ROUNDS {
            self.min = min_degree(wanted, self.max as f64);
            let mut found = 0.0;
            for place in 0..SAMPLE {
                let root = (place as f64 + 0.5) / SAMPLE as f64;
                let weight = 4.0 * root * root * root / SAMPLE as f64;
                let host = self.draw.child(Purpose::Order).at(place).below(self.hosts);
                self.links(host, self.degree_at(root), &mut out);
                found += weight * out.len() as f64;
            }
            if found > 0.0 {
                wanted *= (links / linking / found).clamp(0.1, 10.0);
            }
        }
        self.min = min_degree(wanted, self.max as f64);
    }

    /// Returns the degree for a uniform number in (0, 1), given as its fourth root.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the float is positive and at most the maximum degree"
    )]
    fn degree_at(&self, root: f64) -> u64 {
        let degree = self.min / (root * root * root);
        ((degree + 0.5).min(self.max as f64) as u64).max(1)
    }

    /// Returns the number of links of a host, including duplicates.
    ///
    /// Hosts use a low-discrepancy sequence in [0, 1), so that the share of hosts without links and the sum
    /// of degrees are as requested in graphs of any size.
    fn degree(&self, host: u64) -> u64 {
        let turn = host.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let unit = (self.start.wrapping_add(turn) >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0);
        if unit < self.dangling {
            return 0;
        }
        let unit = (unit - self.dangling) / (1.0 - self.dangling);
        self.degree_at(unit.max(1e-12).sqrt().sqrt())
    }

    /// Writes the links of a host in ascending order.
    pub(super) fn links_of(&self, host: u64, out: &mut Vec<u64>) {
        self.links(host, self.degree(host), out);
    }

    /// Writes the distinct ones among `degree` links of a host.
    fn links(&self, host: u64, degree: u64, out: &mut Vec<u64>) {
        out.clear();
        let draw = self.draw.at(host);
        let window = (degree * 4).max(64).min(self.hosts);
        for slot in 0..degree {
            let draw = draw.at(slot);
            let kind = draw.unit();
            let number = draw.child(Purpose::Popular);
            let to = if kind < NEAR {
                let ahead = (host + 1 + popular(number, window)) % self.hosts;
                let behind = (host + self.hosts - ahead % self.hosts + host) % self.hosts;
                if draw.bits() & 1 == 0 { ahead } else { behind }
            } else if kind < NEAR_OR_HEAD {
                self.at(popular(number, (self.hosts / HEAD).max(1)))
            } else {
                self.at(popular(number, self.hosts))
            };
            if to != host {
                out.push(to);
            }
        }
        out.sort_unstable();
        out.dedup();
    }

    /// Returns the host with a popularity rank, from 0.
    pub(super) const fn at(&self, popularity: u64) -> u64 {
        (popularity * self.factor + self.offset) % self.hosts
    }
}

/// Returns a number in 0..n with density proportional to x^(-2/3).
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the float is in 0..n"
)]
fn popular(draw: Draw, n: u64) -> u64 {
    let unit = draw.unit();
    ((unit * unit * unit * n as f64) as u64).min(n.saturating_sub(1))
}

/// Returns a number coprime to the number of hosts, near its golden section.
fn factor(hosts: u64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "less than the number of hosts"
    )]
    let start = (hosts as f64 * 0.618_033_988_749_894_9) as u64;
    let is_coprime = |factor: &u64| {
        let (mut a, mut b) = (hosts, *factor);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a == 1
    };
    (start.max(1)..=hosts).find(is_coprime).unwrap_or(1)
}

/// Returns the minimum of a truncated distribution with tail x^(-4/3), maximum `max` and this mean.
///
/// With t the cubic root of min / max, the mean is max * t^3 * (4 - 3t), which increases with t.
fn min_degree(mean: f64, max: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let t = f64::midpoint(low, high);
        if max * t * t * t * (4.0 - 3.0 * t) < mean {
            low = t;
        } else {
            high = t;
        }
    }
    max * low * low * low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_host_has_a_popularity() {
        for hosts in [1, 2, 3, 64, 97, 1000, 65_536] {
            let targets = Targets::new(&HostsOptions::new(hosts));
            let mut all: Vec<u64> = (0..hosts).map(|place| targets.at(place)).collect();
            all.sort_unstable();
            assert_eq!(all, (0..hosts).collect::<Vec<u64>>());
        }
    }

    #[test]
    fn degrees_have_the_mean_and_the_tail_asked_for() {
        for hosts in [20_000, 200_000] {
            let targets = Targets::new(&HostsOptions::new(hosts));
            let mut links = Vec::new();
            let mut indegrees = vec![0_u32; usize::try_from(hosts).unwrap()];
            let (mut edges, mut dangling, mut largest) = (0, 0_u32, 0);
            for host in 0..hosts {
                targets.links_of(host, &mut links);
                assert!(links.is_sorted_by(|a, b| a < b));
                assert!(links.iter().all(|to| *to < hosts && *to != host));
                edges += links.len();
                dangling += u32::from(links.is_empty());
                largest = largest.max(links.len());
                for to in &links {
                    indegrees[usize::try_from(*to).unwrap()] += 1;
                }
            }
            indegrees.sort_unstable_by(|a, b| b.cmp(a));
            let (mean, share) = (
                edges as f64 / hosts as f64,
                f64::from(dangling) / hosts as f64,
            );
            println!("{mean} {share} {largest} {:?}", &indegrees[..5]);
            assert!((mean / 30.87 - 1.0).abs() < 0.05, "{mean} links a host");
            assert!((share - 0.7556).abs() < 0.01, "{share} without links");
            // Heavy tails both ways: a hundred times the mean and more.
            assert!(largest > 3_000, "{largest}");
            assert!(indegrees[0] > 1_000, "{}", indegrees[0]);
        }
    }

    #[test]
    fn small_graphs_have_as_many_links_as_they_have_room_for() {
        for hosts in 1..20 {
            let targets = Targets::new(&HostsOptions {
                dangling: 0.0,
                ..HostsOptions::new(hosts)
            });
            let mut links = Vec::new();
            for host in 0..hosts {
                targets.links_of(host, &mut links);
                assert!(links.iter().all(|to| *to < hosts && *to != host));
            }
        }
    }
}
