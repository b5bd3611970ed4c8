use super::*;

fn compile(expressions: &[String]) -> RegexSets {
    let mut sets = RegexSets::new(Haystack::Text);
    let mut compiled = CompiledSize::default();
    for expression in expressions {
        sets.add(expression, &mut compiled, BadPattern::Expression)
            .unwrap();
    }
    sets.finish().unwrap();
    sets
}

#[test]
fn the_first_expression_is_found_in_any_set() {
    // Each takes tens of kilobytes, so they make several sets.
    let expressions: Vec<String> = (0..100)
        .map(|at| format!(r"^x{at}-\w?y|^z{at}-\w"))
        .collect();
    let sets = compile(&expressions);
    assert!(sets.sets.len() > 2, "{}", sets.sets.len());
    for at in 0..100 {
        assert_eq!(sets.first_match(&format!("x{at}-y")), Some(at));
    }
    assert_eq!(sets.first_match("y"), None);
    let twice = compile(&["b".to_owned(), "a".to_owned(), "ab".to_owned()]);
    assert_eq!(twice.first_match("ab"), Some(0));
    assert_eq!(twice.first_match("a"), Some(1));
    assert_eq!(compile(&[]).first_match(""), None);
}

#[test]
fn sizes_are_limited_by_line_and_by_list() {
    let mut sets = RegexSets::new(Haystack::Text);
    let mut compiled = CompiledSize::default();
    let mut add = |expression: &str| sets.add(expression, &mut compiled, BadPattern::Expression);
    let long = "a".repeat(MAX_TEXT_BYTES + 1);
    assert_eq!(
        add(&long),
        Err(BadPattern::TooLong {
            found: 16_385,
            most: 16_384
        })
    );
    let large = Err(BadPattern::LineTooLarge { most: 8 << 20 });
    assert_eq!(add("((a{100}){100}){100}"), large);
    assert_eq!(add(r"\w{1000}"), large);
    assert!(matches!(add("("), Err(BadPattern::Expression(_))));
    // Between one and two MiB each.
    let mut count = 0;
    let refused = loop {
        match add(&format!(r"^x{count}\w{{100}}")) {
            Ok(()) => count += 1,
            Err(refused) => break refused,
        }
    };
    assert!((20..60).contains(&count), "{count}");
    let BadPattern::ListTooLarge { found, most } = refused else {
        panic!("{refused}");
    };
    assert!(found > most && found < most + (4 << 20), "{found}");
}

#[test]
fn the_width_of_a_list_is_limited() {
    let refused = |expressions: &[&str]| {
        let mut sets = RegexSets::new(Haystack::Text);
        let mut compiled = CompiledSize::default();
        let mut add =
            |expression: &&str| sets.add(expression, &mut compiled, BadPattern::Expression);
        expressions.iter().try_for_each(&mut add).err()
    };
    let too_slow = |found| {
        let (most, free) = (512, 64);
        Some(BadPattern::TooSlow { found, most, free })
    };
    assert_eq!(refused(&[".{1,900}.{1,900}!"]), too_slow(1737));
    assert_eq!(refused(&["[ab]{1,300}c", "[ab]{1,300}d"]), None);
    assert_eq!(
        refused(&["[ab]{1,300}c", "[ab]{1,300}d", ".{1,300}!"]),
        too_slow(711)
    );
    // Each of these is written out.
    assert_eq!(refused(&[&"[ab]".repeat(577)]), too_slow(513));
    assert_eq!(refused(&[&"[ab]".repeat(576), "^.{2000,}"]), None);
    let narrow = ["[ab]{1,64}"; 1000];
    assert_eq!(refused(&narrow), None);
}
