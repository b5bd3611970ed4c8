//! Exact cores of a graph that several processes share.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::graph::codec::{Decoder, Encoder};
use crate::graph::exchange::{exchange, message_of_first};
use crate::graph::{HubShare, Remaining, Role, Touched};
use crate::rank::{
    ConvergedShare, Gathered, Principal, SharedNext, Work, decode_doubt, encode_doubt,
};
use crate::watch::{Interrupted, Watch};

use super::core::Core;
use super::extract::extract_shared;
use super::near_cores::{NearClasses, NearPage};
use super::params::CoreParams;
use super::select::{CoresError, Extraction, core};

/// Finds exact cores, in all processes at the same time.
pub(super) struct ExactCores<'a> {
    share: &'a HubShare,
    params: &'a CoreParams,
    ranker: ConvergedShare,
    /// In process 0, the place of the last core, if it was gathered there.
    last: Option<Arc<Principal>>,
    /// In process 0, the classes near cores among those of this gathering.
    near: (u32, NearClasses),
}

/// The place of a core.
pub(super) enum CorePlace {
    /// In the components that processes share: the scores, and the number of pages of the core in each local class.
    Shared(Arc<Principal>, [BTreeMap<u32, u32>; 2]),
    /// In a component that process 0 has gathered.
    Gathered,
}

impl<'a> ExactCores<'a> {
    /// Starts with the whole graph. Components with up to `max_gathered` pages are gathered in process 0; pages in both roles
    /// count twice.
    pub(super) fn new(
        share: &'a Arc<HubShare>,
        left: &Remaining,
        params: &'a CoreParams,
        max_gathered: u64,
    ) -> Result<Self, Interrupted> {
        Ok(Self {
            share,
            params,
            ranker: ConvergedShare::new(share, left, max_gathered)?,
            last: None,
            near: (0, NearClasses::default()),
        })
    }

    /// Returns the next core, without a seed; `None` if no link is left.
    pub(super) fn next(
        &mut self,
        left: &Remaining,
        rank: u32,
        visits: &mut Work,
        watch: &dyn Watch,
    ) -> Result<Option<(Core, CorePlace)>, CoresError> {
        let mut next = self.ranker.next(left, watch)?;
        loop {
            match next {
                None => return Ok(None),
                Some(SharedNext::Gathered(doubt)) => {
                    let mut core = self.gathered_core(rank, visits, watch)?;
                    core.doubt = core.doubt.or(doubt);
                    return Ok(Some((core, CorePlace::Gathered)));
                }
                Some(SharedNext::Shared(principal, doubt)) => {
                    let extracted = extract_shared(self.share, left, &principal, self.params)?;
                    *visits += extracted.grown.visits;
                    let is_unsure = extracted.grown.is_unsure() || principal.doubt.is_some();
                    if !is_unsure || principal.is_exact {
                        let mut core = core(&principal, extracted.grown);
                        core.doubt = core.doubt.or(doubt);
                        return Ok(Some((core, CorePlace::Shared(principal, extracted.pages))));
                    }
                    // More accurate scores may decide it, or rank a gathered place first.
                    drop(principal);
                    next = self.ranker.refine(left, watch)?;
                }
            }
        }
    }

    /// Returns in all processes the core that process 0 finds first.
    fn gathered_core(
        &mut self,
        rank: u32,
        visits: &mut Work,
        watch: &dyn Watch,
    ) -> Result<Core, CoresError> {
        let mut message = Encoder::default();
        if let Some(gathered) = self.ranker.gathered() {
            let no_hub = CoresError::NoHub { rank };
            let next = gathered.take_next(watch)?.ok_or(no_hub.clone())?;
            let Gathered {
                graph,
                left,
                ranker,
                ..
            } = gathered;
            let mut extraction = Extraction {
                graph,
                left,
                params: self.params,
                visits,
                watch,
            };
            let (_, extracted) = extraction.refine_until_clear(ranker, next, &no_hub)?;
            let (principal, grown) = extracted.ok_or(no_hub)?;
            encode(&core(&principal, grown), &mut message);
            self.last = Some(principal);
        }
        let communicator = self.share.communicator();
        let message = message_of_first(communicator, || message)?;
        let core = decode(&mut Decoder(&message));
        Ok(core.ok_or_else(|| self.share.malformed())?)
    }

    /// Must be called after the pages of a core were removed. `touched` are the local classes that lost some, and `left`
    /// what remains.
    pub(super) fn core_removed(
        &mut self,
        left: &Remaining,
        touched: &Touched,
        core: &Core,
    ) -> Result<(), Interrupted> {
        self.ranker.pages_removed(left, touched, core.pages())
    }

    /// Adds the own classes near the last core, which was in a component that process 0 has gathered, and was removed.
    ///
    /// Cost: some 15 bytes for each class near it, and each process.
    pub(super) fn add_near_gathered(
        &mut self,
        near: &mut NearClasses,
        core: &Core,
        rank: u32,
    ) -> Result<(), Interrupted> {
        let share = self.share;
        let mut found = Vec::new();
        let gatherings = self.ranker.gatherings();
        if let Some(principal) = self.last.take()
            && let Some(Gathered { graph, left, .. }) = self.ranker.gathered()
        {
            if self.near.0 != gatherings {
                self.near = (gatherings, NearClasses::new(graph));
            }
            found = self.near.1.add(graph, left, &principal, rank, core);
        }
        let mut found = found.into_iter();
        exchange(
            share.communicator(),
            |messages| {
                let Some(page) = found.next() else {
                    return false;
                };
                for message in messages {
                    message.number(u64::from(page.role == Role::Hub));
                    message.number(page.page.into());
                    message.number(page.links.into());
                    message.0.extend(page.score.to_le_bytes());
                }
                true
            },
            |_, message| {
                let is_hub = message.number()? != 0;
                let (page, links) = (message.index()?, message.index()?);
                let page = NearPage {
                    role: if is_hub { Role::Hub } else { Role::Authority },
                    page,
                    links,
                    score: float(message)?,
                };
                near.add_page(share.graph(), page, rank);
                Some(())
            },
        )
    }

    /// Returns the work of this process.
    pub(super) fn work(&self) -> Work {
        self.ranker.work()
    }
}

fn float(message: &mut Decoder<'_>) -> Option<f64> {
    let (bytes, rest) = message.0.split_first_chunk()?;
    message.0 = rest;
    Some(f64::from_le_bytes(*bytes))
}

/// Appends a core without its seed.
fn encode(core: &Core, message: &mut Encoder) {
    let floats = |message: &mut Encoder, numbers: &[f64]| {
        let numbers = numbers.iter();
        message
            .0
            .extend(numbers.flat_map(|number| number.to_le_bytes()));
    };
    message.number(core.edges);
    floats(message, &[core.sigma, core.density]);
    encode_doubt(core.doubt, message);
    for (pages, scores) in [
        (&core.hubs, &core.hub_scores),
        (&core.authorities, &core.authority_scores),
    ] {
        message.number(pages.len() as u64);
        for page in pages {
            message.number((*page).into());
        }
        floats(message, scores);
    }
    message.0.extend(core.sides.as_bytes());
}

/// Reads a core without its seed. Returns `None` if the message is not as expected.
fn decode(message: &mut Decoder<'_>) -> Option<Core> {
    let edges = message.number()?;
    let (sigma, density) = (float(message)?, float(message)?);
    let doubt = decode_doubt(message)?;
    let side = |message: &mut Decoder<'_>| {
        let count = message.index()?;
        let pages = (0..count).map(|_| message.index());
        let pages = pages.collect::<Option<Vec<u32>>>()?;
        let scores = (0..count).map(|_| float(message));
        Some((pages, scores.collect::<Option<Vec<f64>>>()?))
    };
    let (hubs, hub_scores) = side(message)?;
    let (authorities, authority_scores) = side(message)?;
    Some(Core {
        sigma,
        sigma_bound: None,
        density,
        edges,
        seed: 0,
        gives_seed: false,
        sides: String::from_utf8(message.0.to_vec()).ok()?,
        hubs,
        authorities,
        hub_scores,
        authority_scores,
        doubt,
    })
}
