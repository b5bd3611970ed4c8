//! Goals: a refresh equals one from scratch, and two plans made for the same goal on the same state are the same.
//!
//! Bug classes: tuning or a verdict that depends on the order of work, a setting that a later refresh tunes
//! again, a list that reuses seeds of another goal.

use seedbank::engine::PlanOptions;
use seedbank::engine::plan::{Goal, Slack};
use seedbank::synth::{SynthOptions, day_text};

use crate::support::banks::TestBank;

fn options(goal: Goal) -> PlanOptions {
    PlanOptions {
        goal: Some(goal),
        seeds: Some(6),
        budget: (goal != Goal::Communities && goal != Goal::Sites).then_some(60),
        // Within a bound, cores depend on the history.
        within: (goal == Goal::Communities).then_some(Slack::EXACT),
        min_hub_sites: (goal == Goal::Communities).then_some(1),
        ..PlanOptions::default()
    }
}

#[test]
fn a_refresh_for_a_goal_is_one_from_scratch() {
    for rng_seed in 0..u64::from(crate::support::cases(1)) {
        let crawl = SynthOptions {
            days: 3,
            rng_seed,
            ..SynthOptions::new(250)
        };
        let bank = TestBank::new();
        bank.delta(&day_text(&crawl, 0).unwrap());
        let mut made = Vec::new();
        for goal in Goal::ALL {
            let first = bank.refresh(goal.name(), &options(goal), false);
            assert!(first.view.seeds > 0, "{}", goal.name());
            // The same plan again, on another number of threads, is the same in everything.
            let twin = format!("{}-twin", goal.name());
            let one = rayon::ThreadPoolBuilder::new().num_threads(1).build();
            let second = one
                .unwrap()
                .install(|| bank.refresh(&twin, &options(goal), false));
            assert_eq!(first.view.parameters, second.view.parameters);
            assert_eq!(
                (&first.tuning, &first.verdict),
                (&second.tuning, &second.verdict)
            );
            assert_eq!(bank.bare_seeds(goal.name()), bank.bare_seeds(&twin));
            made.push((goal, first.view.parameters));
        }
        for day in 1..=3 {
            bank.delta(&day_text(&crawl, day).unwrap());
            for (goal, parameters) in &made {
                let name = goal.name();
                let daily = bank.refresh(name, &PlanOptions::default(), false);
                let mut parameters = parameters.clone();
                if let Some(judged) = &mut parameters.judged {
                    // The verdict is on the list of the first day.
                    judged.age_batches = daily.view.batch - judged.batch;
                }
                assert_eq!((&daily.view.parameters, daily.tuning), (&parameters, None));
                let seeds = bank.bare_seeds(name);
                bank.refresh(name, &PlanOptions::default(), true);
                assert_eq!(seeds, bank.bare_seeds(name), "{name} on day {day}");
            }
        }
        bank.is_sound();
    }
}
