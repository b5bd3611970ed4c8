//! Fits the two free parameters of the link model to the requested mean link counts.
//!
//! The number of links of a page depends on sizes, sections and topics: duplicates merge, and a small
//! site has few targets. Both means are therefore measured on an evenly spread sample of the pages of
//! day 0, and corrected in a few rounds. Inter-site links outside blogrolls are a fixed share; for exact
//! means they are measured as well, on a larger sample, since the lengths of link lists vary widely.

use super::links::{LinkDraws, OWN_SHARE};
use super::site::Site;
use super::web_model::Web;

const SAMPLE: u64 = 2000;
const EXACT_SAMPLE: u64 = 200_000;
const ROUNDS: usize = 5;

impl Web {
    /// Sets the share of sections with a blogroll, and the scale of degrees.
    pub(super) fn calibrate(&mut self) {
        let sample = self.sample();
        let count = sample.len().max(1) as f64;
        let inter = self.options.inter_site_links;
        let intra = (self.options.links - inter).max(0.0);
        let mut links = Vec::new();
        for _ in 0..ROUNDS {
            let draws = LinkDraws::new(self);
            let (mut carried, mut own) = (0, 0);
            for (site, page) in &sample {
                let roll = self.roll(site, site.section(*page), 0);
                carried += roll.len();
                if self.options.exact_means {
                    self.own_links(site, *page, 0, &draws, &roll, &mut links);
                    own += links.len();
                }
            }
            let by_rolls = if self.options.exact_means {
                (inter - own as f64 / count).max(0.0)
            } else {
                inter * (1.0 - OWN_SHARE)
            };
            self.roll_share = corrected(self.roll_share, by_rolls, carried as f64 / count).min(1.0);
            let mut found = 0;
            for (site, page) in &sample {
                self.intra_links(site, *page, 0, &draws, &mut links);
                found += links.len();
            }
            self.degree_scale = corrected(self.degree_scale, intra, found as f64 / count);
        }
    }

    fn sample(&self) -> Vec<(Site, u32)> {
        let pages = self.options.pages;
        let count = pages.min(if self.options.exact_means {
            EXACT_SAMPLE
        } else {
            SAMPLE
        });
        let mut wanted = (0..count).map(|i| i * pages / count).peekable();
        let mut sample = Vec::new();
        let mut first = 0;
        for (number, &size) in (0..).zip(&self.sizes) {
            while let Some(at) = wanted.next_if(|&at| at < first + u64::from(size)) {
                if let Ok(page) = u32::try_from(at - first) {
                    sample.push((self.site(number), page));
                }
            }
            first += u64::from(size);
        }
        sample
    }
}

/// Scales a parameter that gave `found` instead of `wanted`; doubles it if nothing was found.
fn corrected(number: f64, wanted: f64, found: f64) -> f64 {
    let factor = if wanted <= 0.0 {
        0.0
    } else if found > 0.0 {
        (wanted / found).clamp(0.1, 10.0)
    } else {
        2.0
    };
    (number * factor).min(1e4)
}
