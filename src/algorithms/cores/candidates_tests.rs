use super::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn the_best_is_the_best_of_a_scan(
        classes in prop::collection::vec((0_u32..4, 0_u32..4, 0_u32..1000), 1..40),
        need in 1_u32..4,
    ) {
        let scores: Vec<f64> = classes.iter()
            .enumerate()
            .map(|(i, c)| f64::from(c.0) * (1.0 + 1e-12 * i as f64))
            .collect();
        let errors: Vec<f64> = scores.iter().map(|score| score * 1e-13).collect();
        let mut candidates = Candidates::new(&scores, &errors, None);
        for (i, &(_, links, page)) in (0_u32..).zip(&classes) {
            candidates.set(i, 9, 0);
            candidates.set(i, links, 1000 * page + i);
        }
        let fit: Vec<(f64, u32)> = (0_u32..).zip(&classes)
            .filter(|(_, c)| c.1 >= need)
            .map(|(i, c)| (scores[i as usize], 1000 * c.2 + i))
            .collect();
        let best = fit.iter().map(|f| f.0).fold(-1.0, f64::max);
        let page = fit.iter().filter(|f| f.0 >= best * (1.0 - TIED)).map(|f| f.1).min();
        let chosen = candidates.best(need);
        prop_assert_eq!(chosen.as_ref().map(|c| c.page), page);
        if let Some(chosen) = chosen {
            let class = classes[chosen.position as usize];
            prop_assert_eq!(chosen.links, class.1);
            prop_assert_eq!(chosen.unclear, Unclear::Few(Vec::new()));
        }
    }

    #[test]
    fn ties_that_errors_leave_open_are_reported(
        classes in prop::collection::vec((0_u32..6, 0_u32..4, -1.0_f64..1.0, 0.0_f64..3e-9), 1..30),
        need in 1_u32..4,
    ) {
        let scores: Vec<f64> = classes.iter()
            .enumerate()
            .map(|(i, c)| 1.0 + f64::from(c.0) * 7e-10 + 1e-13 * i as f64)
            .collect();
        let errors: Vec<f64> = classes.iter().map(|c| c.3).collect();
        let mut candidates = Candidates::new(&scores, &errors, None);
        let page = |i: u32| (i * 7919) % 1009;
        for (i, class) in (0_u32..).zip(&classes) {
            candidates.set(i, class.1, page(i));
        }
        // Some true scores within the errors.
        let truth: Vec<(f64, u32)> = (0_u32..).zip(&classes)
            .filter(|(_, c)| c.1 >= need)
            .map(|(i, c)| (scores[i as usize] + c.2 * c.3 * 0.999, page(i)))
            .collect();
        let best = truth.iter().map(|f| f.0).fold(-1.0, f64::max);
        let tied = truth.iter().filter(|f| f.0 >= best * (1.0 - TIED));
        let truth = tied.map(|f| f.1).min();
        match candidates.best(need) {
            None => prop_assert_eq!(truth, None),
            Some(Chosen { page: chosen, unclear: Unclear::Few(few), .. }) => {
                let open: Vec<u32> = few.into_iter().map(page).collect();
                prop_assert!(truth == Some(chosen) || truth.is_some_and(|t| open.contains(&t)));
            }
            Some(_) => prop_assert!(false, "so few are listed"),
        }
    }
}
