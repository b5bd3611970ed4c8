//! What the scores of a plan's seeds are.

use crate::engine::plan::{CoverMethod, Method, PlanOptions, Scope, ValueBy};

/// The title of the scores of a list, and a sentence that explains what they measure.
pub(super) struct ScoreMeaning {
    pub(super) title: &'static str,
    pub(super) sentence: &'static str,
}

/// Returns what the scores are by which a plan selects its seeds.
pub(super) fn meaning(plan: &PlanOptions) -> ScoreMeaning {
    let (title, sentence) = match plan.method.unwrap_or_default() {
        Method::Cores => (
            "Sigma of its core",
            "Sigma is the singular value of the links around a core: it is large if many pages link to many \
             common pages.",
        ),
        Method::Cover(CoverMethod::Random) => {
            ("Score", "The seeds are drawn at random, without scores.")
        }
        Method::Cover(CoverMethod::Pagerank) => (
            "PageRank on its site",
            "The score is the PageRank of the page on the graph of its site.",
        ),
        Method::Cover(CoverMethod::OutDegree) => (
            "Links on its site",
            "The score is the number of links to crawled pages of the site.",
        ),
        Method::Cover(CoverMethod::MaxOut) => (
            "Links to uncovered pages",
            "The score is the number of links to pages of the site that no earlier seed covers.",
        ),
        Method::Cover(_) if plan.learned == Some(true) => (
            "New links gained",
            "The score is the number of new links that fetches of the seed and the pages that it links to are \
             expected to bring, without pages of earlier seeds, minus the cost of fetching them.",
        ),
        Method::Cover(_) if plan.value_by == Some(ValueBy::Pagerank) => (
            "PageRank gained",
            "The score is the PageRank of the pages that a crawl from the seed finds and no earlier seed finds, \
             minus the cost of fetching them.",
        ),
        Method::Cover(_) if plan.scope == Some(Scope::Web) => (
            "Value gained, units",
            "The score is the value of the pages that a crawl from the seed finds and no earlier seed finds, \
             minus the cost of fetching them. By default a crawled page is worth 1 unit.",
        ),
        Method::Cover(_) => (
            "Value gained, units",
            "The score is the value of the pages of its site that a crawl from the seed finds and no earlier \
             seed finds. By default a page is worth 1 unit, and clicks and links to uncrawled pages add to it.",
        ),
    };
    ScoreMeaning { title, sentence }
}
