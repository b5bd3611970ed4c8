//! Whatever a plan in Rust is made of, it resolves: no mix of its parameters fails.

use super::super::kinds::{
    Greedy, MaxOut, MaxScc, MaxWeight, Oldest, OutDegree, Pagerank, Random, RootScc,
};
use super::super::{CrawlLimits, Density, Growth, Method, Parameter, ResolvedPlan};
use super::*;
use seedbank_algorithms::cover::Seats;

/// Resolves the plan as a new one.
fn resolved<K>(plan: Plan<K>) -> (PlanOptions, ResolvedPlan) {
    let options: PlanOptions = plan.into();
    let options = options.complete_new(|| Ok::<u64, ()>(7)).unwrap();
    let resolved = options.resolve();
    let resolved = resolved.unwrap_or_else(|e| panic!("{options:?}: {e}"));
    (options, resolved)
}

fn with_policies<K: Kind>(plan: Plan<K>) -> Plan<K> {
    plan.exclude(List::parse("no", "*.pdf"))
        .only(List::parse("only", "a.example"))
        .exclude_from_graph(List::parse("out", "b.example"))
        .pin(List::parse("pin", "http://a.example/"))
        .min_quality(Value(500_000))
        .max_failures(2)
        .max_per_site(3)
        .max_per_domain(Limit::None)
        .max_changes(5)
}

fn with_values<K: HasHops + HasValues>(plan: Plan<K>) -> Plan<K> {
    plan.hops(3)
        .positive_only(false)
        .value_base(Value::units(2))
        .value_spam(Value(0))
        .value_clicked(Value::units(5))
        .value_quality(Value::units(1))
        .p_uniq(Value(0))
}

fn budget() -> Budget {
    let crawl = CrawlLimits::NONE;
    Budget::pages(2_000)
        .holdouts(3)
        .tune_visits(1_000)
        .no_tune()
        .crawl(crawl)
}

/// Which goal, method and scope is what a plan begins with.
#[test]
fn every_parameter_can_be_set() {
    let web = with_policies(with_values(Plan::coverage().seeds(1))).budget(budget());
    let web = web.fetch_cost(Value(1)).value_known(Value(1));
    let web = web
        .duplicates(Duplicates::Once)
        .keep_seeds(Slack::ONE_PERCENT)
        .revisit(Revisit::Auto);
    let sites = Plan::sites().depth(1).covered(Covered::Zero);
    let size = CoreRule::Size {
        size: 9,
        new_members: 2,
    };
    let cores = Plan::cores().classic_hits(60).pick(Pick::Best).rule(size);
    let cores = cores.max_hubs(1).keep_spam(true).pages(Pages::All);
    let all: [PlanOptions; 8] = [
        web.into(),
        sites.clone().per_site(1).into(),
        sites.seeds_in_total(9, Share::Pages).into(),
        cores.min_hubs(1).min_authorities(1).min_hub_sites(1).into(),
        Plan::cores().rule(CoreRule::default()).succeed().into(),
        Plan::importance().into(),
        Plan::learned()
            .seeds(1)
            .budget(9)
            .fetch_cost(Value(1))
            .into(),
        Plan::over_web(Random).rng_seed(1).into(),
    ];
    let set = |parameter: &&Parameter| all.iter().any(|options| parameter.is_given(options));
    let parameters = Parameter::all().iter();
    let missing: Vec<&str> = parameters
        .filter(|parameter| !set(parameter))
        .map(|parameter| &*parameter.name)
        .collect();
    // The goal importance sets it.
    assert_eq!(missing, ["value-by"]);
}

#[test]
fn every_plan_over_the_web_resolves() {
    let coverage = with_policies(with_values(Plan::coverage()));
    let coverage = coverage.seeds(20).budget(budget());
    let (options, plan) = resolved(coverage.fetch_cost(Value(1)).value_known(Value(1)));
    let ResolvedPlan::Web(choice) = plan else {
        panic!("{plan:?}");
    };
    assert_eq!(
        (choice.seeds, choice.budget, choice.holdouts),
        (20, Some(2_000), 3)
    );
    assert_eq!(options.max_per_site, Some(Limit::AtMost(3)));
    // A budget alone replaces what was given with the one before it.
    let (options, _) = resolved(Plan::discovery().budget(budget()).budget(9));
    assert_eq!((options.budget, options.holdouts), (Some(9), None));
    // Without a budget, a goal has that of the last delta.
    assert_eq!(resolved(Plan::importance().hops(2)).0.budget, Some(7));
    let importance = with_policies(Plan::importance().seeds(1).budget(budget()));
    resolved(importance.hops(1).positive_only(true).fetch_cost(Value(0)));
    resolved(with_values(Plan::over_web(Greedy).budget(budget())).fetch_cost(Value(1)));
    resolved(with_values(Plan::over_web(MaxWeight).depth(2)).fetch_cost(Value(1)));
    resolved(with_values(Plan::over_web(MaxOut)).value_known(Value(1)));
    resolved(with_values(Plan::over_web(Random).rng_seed(1)));
    resolved(with_policies(Plan::over_web(Pagerank).seeds(1)));
    resolved(with_policies(Plan::over_web(OutDegree).seeds(1)));
    resolved(with_policies(Plan::over_web(Oldest).seeds(1)).revisit(Revisit::Days(2)));
}

#[test]
fn every_plan_on_sites_resolves() {
    fn both<K: HasSites + HasHops + HasValues>(plan: &Plan<K>) {
        let plan = with_policies(with_values(plan.clone()));
        let total = plan.clone().per_site(3).seeds_in_total(50, Share::Value);
        let (_, ResolvedPlan::Cover(choice)) = resolved(total.clone()) else {
            panic!("{total:?}");
        };
        assert_eq!(choice.seats, Seats::Shared(50, Share::Value));
        let (_, each) = resolved(total.per_site(4));
        assert!(matches!(each, ResolvedPlan::Cover(choice) if choice.seats == Seats::PerSite(4)));
    }
    both(&Plan::sites().depth(3).covered(Covered::Remove));
    both(&Plan::on_sites(Random).rng_seed(3));
    both(&Plan::on_sites(Pagerank));
    both(&Plan::on_sites(OutDegree));
    both(&Plan::on_sites(MaxOut));
    both(&Plan::on_sites(MaxWeight).depth(3).covered(Covered::Remove));
    both(&Plan::on_sites(MaxScc).depth(3).covered(Covered::Remove));
    both(&Plan::on_sites(RootScc).depth(3));
    both(&Plan::on_sites(Greedy));
}

#[test]
fn every_plan_by_cores_resolves() {
    fn all<K: HasCores + HasSeeds>(plan: &Plan<K>) {
        let plan = with_policies(plan.clone().seeds(9).max_hubs(4).keep_spam(true));
        let plan = plan.pages(Pages::Crawled).min_hubs(1).min_authorities(1);
        let by_size = CoreRule::Size {
            size: 9,
            new_members: 2,
        };
        let by_density = CoreRule::Density {
            density: Density::COMPLETE,
            growth: Growth::Literal,
        };
        for rule in [by_size, by_density] {
            let other = if rule == by_size { by_density } else { by_size };
            let plan = plan.clone().min_hub_sites(1).rule(other).rule(rule);
            let classic = plan.clone().within(Slack::ONE_PERCENT).classic_hits(60);
            let converged = plan.classic_hits(60).within(Slack::ONE_PERCENT);
            for plan in [classic, converged] {
                for plan in [
                    plan.clone().pick(Pick::Best).succeed(),
                    plan.succeed().pick(Pick::Best),
                ] {
                    let (options, ResolvedPlan::Cores(cores)) = resolved(plan) else {
                        panic!("it is by cores");
                    };
                    assert_eq!(options.method, Some(Method::Cores));
                    assert_eq!(cores.params.rule, rule);
                    assert_eq!(cores.succeed, options.succeed == Some(true));
                }
            }
        }
    }
    all(&Plan::communities());
    all(&Plan::cores());
}
