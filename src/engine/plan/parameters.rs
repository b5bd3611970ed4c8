//! The parameters of plans: each is declared here, once.
//!
//! From a declaration come the field of [`PlanOptions`] with its name in plan files, in answers and
//! in the bank; the flag with its help; the JSON Schema; the check of the range; and how the
//! parameter merges with what the plan stored ([`PlanOptions::over`]).
//!
//! A declaration is a doc comment, which is also the help and the schema's description, a name, a
//! type, and [`Details`]. Doc comments name other parameters in backticks, as plan files do; the
//! command line prints them as flags.

use std::sync::LazyLock;

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

use super::details::{Access, Details, switch, value, weight};
use super::parameter::{self, Section, TakenBy};
use super::{Method, Pages, Scope, Tuned};
use crate::engine::policy::{Limit, List};
use seedbank_algorithms::cores::{self, CoreParams, Density, Growth, Hits, Pick, Slack};
use seedbank_algorithms::cover::global::{TUNE_VISITS, ValueBy};
use seedbank_algorithms::cover::{CoverParams, Covered, Share, Value, limits};

macro_rules! parameters {
    ($(
        section $section:ident, taken by $taken_by:ident {$(
            $(#[doc = $doc:literal])+
            $field:ident: $type:ty = $details:expr;
        )+}
    )+) => {
        /// A plan's parameters as far as they were given; names as on the command line.
        #[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
        #[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
        #[schemars(transform = with_defaults)]
        pub struct PlanOptions {
            $($(
                $(#[doc = $doc])+
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $field: Option<$type>,
            )+)+
            /// How the plan came by `hops` and `fetch-cost` if they were tried; stored by a refresh,
            /// and not for plan files.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub tuned: Option<Tuned>,
        }

        static PARAMETERS: LazyLock<Vec<Parameter>> = LazyLock::new(|| {
            vec![$($({
                let details: Details<PlanOptions, $type> = $details;
                Parameter::new(
                    Section::$section,
                    TakenBy::$taken_by,
                    (stringify!($field), concat!($($doc),+)),
                    Access {
                        get: |options| &options.$field,
                        get_mut: |options| &mut options.$field,
                    },
                    details,
                )
            },)+)+]
        });
    };
}

parameters! {
    section Plan, taken by Any {
        /// How seeds are selected.
        method: Method = value("METHOD")
            .default(Method::default())
            .sets_aside(|method, stored| PlanOptions::set_method_aside(*method, stored));
        /// How many seeds: by cores one from each core; by a cover method a total that is shared out
        /// over the sites; over the web the length of the list.
        seeds: u32 = value("N")
            .range(1..)
            .default_is("100 by cores and over the web")
            .sets_aside(|_, stored| stored.per_site = None);
    }

    section Cores, taken by Cores {
        /// How pages are ranked.
        hits: Hits = value("MODE").default(Hits::default());
        /// Iterations of classic HITS.
        iterations: u32 = value("N")
            .range(cores::ITERATIONS)
            .default(CoreParams::default().iterations);
        /// The percentage of possible links from a core's hubs to its authorities that must exist.
        density: Density = value("PERCENT")
            .default(Density::default())
            .sets_aside(|_, stored| (stored.core_size, stored.new_members) = (None, None));
        /// What happens if the best page would lower the density too far.
        growth: Growth = value("RULE")
            .default(Growth::default())
            .sets_aside(|_, stored| (stored.core_size, stored.new_members) = (None, None));
        /// Complete a core at this number of pages instead of by density.
        core_size: u32 = value("N")
            .range(2..)
            .sets_aside(|_, stored| (stored.density, stored.growth) = (None, None));
        /// With `core-size`: the number of new hubs, and of new authorities, in each round.
        new_members: u32 = value("N")
            .range(1..)
            .default(1)
            .sets_aside(|_, stored| (stored.density, stored.growth) = (None, None));
        /// The most hubs of a core.
        max_hubs: u32 = value("N").range(1..).default_is("no limit");
        /// Which hub of a core becomes the seed.
        pick: Pick = value("RULE")
            .default(Pick::default())
            .sets_aside(|_, stored| stored.succeed = None);
        /// How far below the largest singular value that remains a core's may lie, in per cent: 0 for
        /// exact cores, 0.5 to 50 for cores that are proven to be that close and that change less
        /// from day to day.
        within: Slack = value("PERCENT").default(Slack::default());
        /// Keep the seed list stable: as with `pick` stable, and a seed of the previous refresh that
        /// is gone, is spam or is no hub any more is replaced by its successor.
        succeed: bool = switch(false).sets_aside(|on, stored| {
            if *on {
                stored.pick = None;
            }
        });
        /// Let spam pages take part.
        keep_spam: bool = switch(false);
        /// Which pages take part.
        pages: Pages = value("PAGES").default(Pages::default());
    }

    section Cover, taken by Cover {
        /// Seeds per site.
        per_site: u32 = value("N")
            .range(1..)
            .default(limits::PER_SITE)
            .sets_aside(|_, stored| (stored.seeds, stored.share) = (None, None));
        /// With `seeds`: by what the total is shared out.
        share: Share = value("WHAT")
            .default(Share::default())
            .sets_aside(|_, stored| stored.per_site = None);
        /// A seed covers the pages within this number of hops.
        hops: u32 = value("N")
            .range(limits::HOPS)
            .default_is("5, or over the web 2 for greedy and max-weight");
        /// For max-weight, max-scc and root-scc: a page is picked by the value within this number of
        /// hops.
        depth: u32 = value("N").default_is("2, or `hops` if that is less");
        /// For max-weight and max-scc: what happens to pages that a seed covers.
        covered: Covered = value("WHAT").default(Covered::Zero);
        /// Value of a page that is neither spam nor clicked.
        value_base: Value = weight(|weights| &mut weights.base);
        /// Value of a spam page.
        value_spam: Value = weight(|weights| &mut weights.spam);
        /// Value of a clicked page.
        value_clicked: Value = weight(|weights| &mut weights.clicked);
        /// What a quality of 1 adds to a page's value; a lower quality adds in proportion.
        value_quality: Value = weight(|weights| &mut weights.quality);
        /// Value of an uncrawled outlink.
        p_uniq: Value = value("SHARE")
            .range(limits::SHARES)
            .default_is("by each site's content digests")
            .values_pages();
        /// Stop before a seed that adds nothing.
        positive_only: bool = switch(CoverParams::default().positive_only);
        /// For random: the seed of the random numbers.
        rng_seed: u64 = value("N").default(CoverParams::default().rng_seed);
    }

    section Web, taken by Cover {
        /// Each site by itself, or one list over the whole web: all pages, crawled and known, and all
        /// links; `seeds` of its crawled pages.
        scope: Scope = value("SCOPE")
            .default(Scope::default())
            .sets_aside(|scope, stored| PlanOptions::set_scope_aside(*scope, stored));
    }

    section Web, taken by Web {
        /// Value of a page that is known only from links.
        value_known: Value = value("VALUE")
            .range(limits::WEIGHTS)
            .default(Value::default())
            .values_pages();
        /// What pages are worth.
        value_by: ValueBy = value("WHAT")
            .default(ValueBy::default())
            .values_pages()
            .sets_aside(|by, stored| {
                if stored.value_by != Some(*by) {
                    stored.forget_tuning();
                }
            });
        /// What every reached page costs; subtracted from its value.
        fetch_cost: Value = value("VALUE").range(limits::PRICES).default(Value::default());
        /// How many pages the crawl will fetch. The first refresh tries hops 1 to 4 and several costs,
        /// and stores the pair that gathers the most value; the list is ordered so that its head is
        /// good too.
        budget: u64 = value("N").range(1..).sets_aside(|budget, stored| {
            if stored.budget != Some(*budget) {
                stored.forget_tuning();
            }
        });
        /// With `budget`: the most page visits of a search from every page; hops that need more are
        /// not tried.
        tune_visits: u64 = value("N").default(TUNE_VISITS);
    }

    section Policies, taken by Any {
        /// The most seeds of a site; `none` removes the limit.
        max_per_site: Limit = value("N|none");
        /// The most seeds of a registrable domain with all its subdomains; `none` removes the limit.
        max_per_domain: Limit = value("N|none");
        /// Pages that are never seeds: a file with one site (`.example.org` includes subdomains), URL
        /// prefix, shape (`*.pdf`) or expression (`re:...`) a line; `@media` stands for documents,
        /// images and archives; `none` removes the list.
        exclude: List = value("FILE");
        /// The only pages that can be seeds; a file as for `exclude`.
        only: List = value("FILE");
        /// Pages that take no part in ranking or covering either; a file as for `exclude`.
        exclude_from_graph: List = value("FILE");
        /// Pages that are always seeds and come first: a file with one URL a line.
        pin: List = value("FILE");
    }

    section Policies, taken by Cores {
        /// The fewest hubs of a core that gives a seed.
        min_hubs: u32 = value("N").default(0);
        /// The fewest authorities of a core that gives a seed.
        min_authorities: u32 = value("N").default(0);
    }

    section Policies, taken by Any {
        /// The least quality of a seed; a page of unknown quality has 0.
        min_quality: Value = value("QUALITY").range(limits::SHARES).default(Value::default());
        /// The most seeds that differ from the plan's last list; pages that can no longer be seeds
        /// leave regardless.
        max_changes: Limit = value("N|none");
    }
}

/// A parameter of plans.
pub type Parameter = parameter::Parameter<PlanOptions>;

impl Parameter {
    /// All parameters, in the order of [`PlanOptions`].
    #[must_use]
    pub fn all() -> &'static [Self] {
        &PARAMETERS
    }

    /// The parameter of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::all().iter().find(|parameter| parameter.name == name)
    }
}

/// Adds the defaults to the JSON Schema of [`PlanOptions`], and words the ranges.
fn with_defaults(schema: &mut Schema) {
    let properties = schema.get_mut("properties");
    let Some(properties) = properties.and_then(serde_json::Value::as_object_mut) else {
        return;
    };
    for parameter in Parameter::all() {
        let description = properties
            .get_mut(&parameter.name)
            .and_then(|property| property.get_mut("description"));
        if let Some(serde_json::Value::String(description)) = description {
            if let Some(expected) = &parameter.expected {
                *description = format!("{description} Range: {expected}.");
            }
            if let Some(default) = &parameter.default {
                *description = format!("{description} Default: {default}.");
            }
        }
    }
}
