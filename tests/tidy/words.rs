//! Who chooses which words: how something is typed is for the command line to say, and for some files
//! of `answers`, which have those of its sentences that a browser shows too. The rest of the library names
//! parameters, and gives what to do about an error as a variant.

use super::{fail_on, files, product, root, sources};

/// The files of `answers` whose sentences name flags.
const WITH_FLAGS: [&str; 5] = ["explain", "phrases", "places", "plans", "sentence"];

/// The pages of the server that say what to type when there is nothing to show yet.
const WITH_COMMANDS: [&str; 2] = ["evaluate", "home"];

/// The commands, as they are typed.
fn commands() -> Vec<String> {
    let text = std::fs::read_to_string(root().join("src/cli/args.rs")).unwrap();
    let after = text.split("enum Command {").nth(1).unwrap();
    let variants = after.split('}').next().unwrap().lines();
    let commands: Vec<String> = variants
        .filter_map(|line| line.trim().split_once('('))
        .map(|(name, _)| name.to_lowercase())
        .collect();
    assert!(commands.contains(&"refresh".to_owned()), "{commands:?}");
    commands
}

/// Whether a line of code has a flag in it. No operator of Rust looks like one.
fn has_flag(line: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    line.match_indices("--").any(|(at, dashes)| {
        let begins = !line[..at].ends_with(is_part);
        let rest = &line[at + dashes.len()..];
        // A name may be put in where it is written out.
        begins && rest.starts_with(|c: char| c.is_ascii_lowercase() || c == '{')
    })
}

/// Whether a line of code says how to call the program.
fn has_command(line: &str, commands: &[String]) -> bool {
    line.split("seedbank ").skip(1).any(|after| {
        let word = after.split(|c: char| !c.is_ascii_alphanumeric()).next();
        word.is_some_and(|word| commands.iter().any(|command| command == word))
    })
}

#[test]
fn only_the_command_line_speaks_of_flags_and_commands() {
    let commands = commands();
    let mut found = Vec::new();
    let mut used = Vec::new();
    for (path, text) in sources("src") {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let is_test = name == "tests" || name.ends_with("_tests");
        if is_test || path.starts_with("src/cli") {
            continue;
        }
        let may_name = path.starts_with("src/answers") && WITH_FLAGS.contains(&&*name);
        for (number, line) in product(&text) {
            let is_typed = has_flag(line) || has_command(line, &commands);
            if is_typed && may_name {
                used.push(name.to_string());
            } else if is_typed {
                found.push(format!("{}:{number}: {}", path.display(), line.trim()));
            }
        }
    }
    for (path, text) in files("src", "html") {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        if path.starts_with("src/serve/html") && WITH_COMMANDS.contains(&&*name) {
            continue;
        }
        for (number, line) in (1..).zip(text.lines()) {
            if has_flag(line) || has_command(line, &commands) {
                found.push(format!("{}:{number}: {}", path.display(), line.trim()));
            }
        }
    }
    fail_on("the command line's words in the library", &found);
    let needless = WITH_FLAGS.map(str::to_owned);
    let needless: Vec<String> = needless
        .into_iter()
        .filter(|name| !used.contains(name))
        .collect();
    fail_on("files of src/answers that name no flag any more", &needless);
}

#[test]
fn flags_and_commands_are_found() {
    for line in [
        r#""pass --max-loss 100""#,
        r#""`--depth {depth}` is too much""#,
        "--new-members goes with it",
        r#""run `refresh --cold`""#,
        r#"format!("--{name}")"#,
        "<code>--{{ name }}</code>",
    ] {
        assert!(has_flag(line), "{line}");
    }
    for line in [
        "let x = a - -b;",
        "<!-- a remark",
        "{%- if x -%}",
        "http://xn--bcher-kva.example/",
        "a -- b",
        "// ----- ",
    ] {
        assert!(!has_flag(line), "{line}");
    }
    let commands = commands();
    assert!(has_command("run `seedbank check` first", &commands));
    assert!(!has_command(
        "another version of seedbank; seedbank bank",
        &commands
    ));
}
