//! Declarations of the plan parameters, one item each.
//!
//! A declaration determines the field of [`PlanOptions`] with its name in plan files, in JSON and
//! in the bank; the flag with its help; the JSON Schema; the range check; and how the parameter
//! merges with what the plan stored ([`PlanOptions::merged_over`]).
//!
//! A declaration consists of a doc comment, which is also the help and the description in the
//! schema, a name, a type, and a [`super::parameter::Declaration`]. Doc comments name other parameters in backticks,
//! as plan files do; the command line prints them as flags.

use std::sync::LazyLock;

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

use super::parameter;
use super::parameter::{Access, Declaration, Section, TakenBy, switch, value, weight};
use super::{Duplicates, Goal, HeldOutVerdict, Method, Pages, Scope, TunedParameter, TuningRecord};
use crate::engine::policy::{Limit, List};
use seedbank_algorithms::cores::{self, CoreParams, Density, Growth, Hits, Pick};
use seedbank_algorithms::cover::global::{HOLDOUTS, TUNE_VISITS, TUNE_VISITS_PER_LINK, ValueBy};
use seedbank_algorithms::cover::{CoverParams, Covered, Revisit, Share, Value, limits};
use seedbank_algorithms::crawl_limits::Crawls;
use seedbank_algorithms::slack::Slack;

macro_rules! parameters {
    ($(
        section $section:ident, taken by $taken_by:ident {$(
            $(#[doc = $doc:literal])+
            $field:ident: $type:ty = $details:expr;
        )+}
    )+) => {
        /// A plan's parameters as far as they were given; names as on the command line. They come from
        /// plan files and banks. In Rust, a [`Plan`](super::Plan) has only those that fit together.
        #[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
        #[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
        #[schemars(
            description = "A plan's parameters as far as they were given; names as on the command line.",
            transform = with_defaults
        )]
        pub struct PlanOptions {
            $($(
                $(#[doc = $doc])+
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $field: Option<$type>,
            )+)+
            /// How `hops`, `fetch-cost` and `value-known` were tuned; set by refreshes, not allowed in
            /// plan files.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub tuned: Option<TuningRecord>,
            /// How the plan's list compares with baselines; set by refreshes, not allowed in plan files.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub judged: Option<HeldOutVerdict>,
        }

        static PARAMETERS: LazyLock<Vec<Parameter>> = LazyLock::new(|| {
            vec![$($({
                let details: Declaration<PlanOptions, $type> = $details;
                Parameter::new(
                    Section::$section,
                    TakenBy::$taken_by,
                    stringify!($field),
                    concat!($($doc),+),
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
        /// What a crawl from the seeds is for: sets the method and its parameters; parameters given
        /// beside it override them.
        goal: Goal = value("GOAL").default_is("coverage for a new plan");
        /// How seeds are selected.
        method: Method = value("METHOD")
            .default_is("that of the goal")
            .clears(|method, stored| PlanOptions::clear_for_method(*method, stored));
        /// Number of seeds: by cores one from each core; by a cover method a total that is
        /// distributed over the sites; over the web the length of the list.
        seeds: u32 = value("N")
            .range(1..)
            .default_is("100 by cores and over the web")
            .clears(|_, stored| stored.per_site = None);
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
            .clears(|_, stored| (stored.core_size, stored.new_members) = (None, None));
        /// What happens if the best page would lower the density too far.
        growth: Growth = value("RULE")
            .default(Growth::default())
            .clears(|_, stored| (stored.core_size, stored.new_members) = (None, None));
        /// Complete a core at this number of pages instead of by density.
        core_size: u32 = value("N")
            .range(2..)
            .clears(|_, stored| (stored.density, stored.growth) = (None, None));
        /// With `core-size`: the number of new hubs, and of new authorities, in each round.
        new_members: u32 = value("N")
            .range(1..)
            .default(1)
            .clears(|_, stored| (stored.density, stored.growth) = (None, None));
        /// Maximum number of hubs of a core.
        max_hubs: u32 = value("N").range(1..).default_is("no limit");
        /// Which hub of a core becomes the seed.
        pick: Pick = value("RULE")
            .default(Pick::default())
            .clears(|_, stored| stored.succeed = None);
        /// Maximum distance, in percent, of a core's singular value below the largest remaining one:
        /// 0 for exact cores; 0.5 to 50 for cores that are proven to be that close and change less
        /// from day to day.
        within: Slack = value("PERCENT").default_is("1 for a new plan, unless `hits` = classic");
        /// Keep the seed list stable: as with `pick` stable, and replace a seed of the previous
        /// refresh that is gone, spam or no longer a hub by its successor.
        succeed: bool = switch(false).clears(|on, stored| {
            if *on {
                stored.pick = None;
            }
        });
        /// Include spam pages.
        keep_spam: bool = switch(false);
        /// Which pages are ranked.
        pages: Pages = value("PAGES").default(Pages::default());
    }

    section Cover, taken by Cover {
        /// Seeds per site.
        per_site: u32 = value("N")
            .range(1..)
            .default(limits::PER_SITE)
            .clears(|_, stored| (stored.seeds, stored.share) = (None, None));
        /// With `seeds`: how the total is distributed over the sites.
        share: Share = value("WHAT")
            .default(Share::default())
            .clears(|_, stored| stored.per_site = None);
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
        /// Value of an uncrawled outlink, added to the page that has the link. Over the web, uncrawled
        /// pages count themselves, so each would count again for every link to it.
        p_uniq: Value = value("SHARE")
            .range(limits::SHARES)
            .default_is("by each site's content digests; 0 for a new plan over the web")
            .values_pages();
        /// Stop before a seed that adds nothing.
        positive_only: bool = switch(CoverParams::default().positive_only);
        /// For random: the seed of the random numbers.
        rng_seed: u64 = value("N").default(CoverParams::default().rng_seed);
    }

    section Web, taken by Cover {
        /// Select on each site separately, or one list of `seeds` crawled pages over the whole web,
        /// with all crawled and known pages and all links.
        scope: Scope = value("SCOPE")
            .default(Scope::default())
            .clears(|scope, stored| PlanOptions::clear_for_scope(*scope, stored));
    }

    section Web, taken by Web {
        /// Value of a page that is known only from links.
        value_known: Value = value("VALUE")
            .range(limits::WEIGHTS)
            .default_is("0, or tuned for the budget")
            .values_pages();
        /// What determines the value of a page.
        value_by: ValueBy = value("WHAT")
            .default(ValueBy::default())
            .values_pages()
            .clears(|by, stored| {
                if stored.value_by != Some(*by) {
                    stored.clear_tuning();
                }
            });
        /// For the goal discovery: the value of a page is the number of new links that its next fetch is
        /// expected to bring, learned from past fetches. Whether that finds more is shown by `seedbank evaluate
        /// BANK methods --next`.
        learned: bool = switch(false).clears(|on, stored| {
            if *on {
                stored.clear_tuning();
                (stored.value_known, stored.value_by) = (None, None);
                (stored.tune_visits, stored.holdouts) = (None, None);
                (stored.revisit, stored.keep_seeds) = (None, None);
                stored.duplicates = None;
            }
        });
        /// Cost of each reached page; subtracted from its value.
        fetch_cost: Value = value("VALUE")
            .range(limits::PRICES)
            .default_is("0, or tuned for the budget; with `learned` half of the mean value");
        /// For greedy: how crawled pages with the same content digest count, in values and among seeds. Pages
        /// without a digest count each.
        duplicates: Duplicates = value("WHICH")
            .default_is("each; once for a new plan with a budget and goal coverage or discovery")
            .clears(|duplicates, stored| {
                if stored.duplicates.unwrap_or_default() != *duplicates {
                    stored.clear_tuning();
                }
            });
        /// What a crawled page is worth by the time since its last fetch: nothing for half of this number of days, half of its
        /// value until all of them have passed, then all of it; counted up to the last fetch in the bank. A page that is known to
        /// have changed since is worth all of it. `auto`: the time in which crawls of `budget` fetch as many pages as were ever
        /// crawled.
        revisit: Revisit = value("DAYS|auto|off")
            .default_is("off; auto for a new plan with a goal and a budget")
            .values_pages();
        /// For greedy: how much less, in percent, the list may be worth than a new one while seeds of the previous list
        /// stay; 0 for a new list each time.
        keep_seeds: Slack = value("PERCENT").default_is("1 for the goal coverage with `revisit` off, else 0");
        /// Number of pages that the crawl will fetch. The first refresh tunes `hops`, `fetch-cost` and
        /// `value-known` for it, as far as they are not given.
        budget: u64 = value("N").range(1..).clears(|budget, stored| {
            if stored.budget != Some(*budget) {
                stored.clear_tuning();
            }
        });
        /// With `budget`: the crawl that tuning and the verdict simulate, as limits separated by commas:
        /// `per-site=N`, the most pages of a site; `depth=N`, the most links from a seed; `sites-at-once=N`, the most
        /// sites in a round, which fetches one page of each; `rounds=N`; `round=N,per-site-round=N`;
        /// `duration=6h,delay=10s`; `fail=P%`; `enter=seeds|crawled`. N may be P% of `budget`. Or a crawler: heritrix,
        /// nutch, scrapy or browsertrix. `none` is breadth-first without limits. `panel`, the default of goals: five
        /// crawls, for a list that is good for most crawlers.
        crawl: Crawls = value("LIMITS").clears(|crawls, stored| {
            if stored.crawl.unwrap_or_default() != *crawls {
                stored.clear_tuning();
            }
        });
        /// With `budget`: maximum number of page visits of tuning. Hops at which a search from every
        /// page takes more than that, or more than a 32nd of it and of the default, are not tried.
        tune_visits: u64 = value("N").default_is(&format!(
            "{TUNE_VISITS}, or {TUNE_VISITS_PER_LINK} for each link if that is more"
        ));
        /// With `budget`: number of times that tuning holds out a random tenth of the crawled pages; 0
        /// compares settings by the pages that they are selected for.
        holdouts: u32 = value("N").range(0..=100).default(HOLDOUTS);
        /// With `budget`: keep what was tuned. Otherwise a refresh tunes the plan again once the crawled pages have
        /// grown or shrunk by half.
        no_tune: bool = switch(false);
    }

    section Policies, taken by Any {
        /// Maximum number of seeds of a site; `none` removes the limit.
        max_per_site: Limit = value("N|none")
            .default_is("none, or tuned for the budget")
            .clears(|limit, stored| {
                if stored.max_per_site != Some(*limit) {
                    stored.clear_tuning();
                } else if let Some(tuned) = &mut stored.tuned {
                    tuned.parameters.retain(|of| *of != TunedParameter::MaxPerSite);
                }
            });
        /// Maximum number of seeds of a registrable domain with all its subdomains; `none` removes
        /// the limit.
        max_per_domain: Limit = value("N|none");
        /// Pages that are never seeds: a file with one site (`.example.org` includes subdomains), URL
        /// prefix, shape (`*.pdf`) or expression (`re:...`) per line, or a single such line; `@media` for
        /// documents, images and archives; `@traps` for paths that repeat themselves; `none` removes the list.
        exclude: List = value("FILE|LINE");
        /// The only pages that can be seeds, as for `exclude`.
        only: List = value("FILE|LINE");
        /// Pages excluded from the graph, and so from being seeds, as for `exclude`.
        exclude_from_graph: List = value("FILE|LINE");
        /// Pages that are always seeds and come first: a file with one URL per line, or a URL.
        pin: List = value("FILE|URL");
    }

    section Policies, taken by Cores {
        /// Minimum number of hubs of a core that gives a seed.
        min_hubs: u32 = value("N").default(0);
        /// Minimum number of authorities of a core that gives a seed.
        min_authorities: u32 = value("N").default(0);
        /// Minimum number of sites of the hubs of a core that gives a seed: the hubs of a page template
        /// are on one site.
        min_hub_sites: u32 = value("N").default(0);
    }

    section Policies, taken by Any {
        /// Minimum quality of a seed; a page of unknown quality has 0.
        min_quality: Value = value("QUALITY").range(limits::SHARES).default(Value::default());
        /// Number of consecutive failed fetches after which a page cannot be a seed; 0 allows any
        /// number.
        max_failures: u32 = value("N").default_is(&format!(
            "{} for a new plan with a goal, else 0",
            Goal::MAX_FAILURES
        ));
        /// Maximum number of seeds that differ from the plan's previous list; pages that can no
        /// longer be seeds leave regardless.
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

/// Adds ranges and defaults to the descriptions in the JSON Schema of [`PlanOptions`].
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
