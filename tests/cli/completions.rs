//! What completion scripts are offered.

use crate::support::command::Place;

/// The candidates for the last word of a line, with their descriptions.
fn completed(place: &Place, words: &[&str]) -> Vec<String> {
    let mut command = place.command(&["--", "seedbank"]);
    let ended = place.run_command(command.args(words).env("SEEDBANK_COMPLETE", "fish"));
    assert_eq!(ended.err, "");
    ended.done().lines().map(str::to_owned).collect()
}

#[test]
fn completions_know_the_bank() {
    let place = Place::with_seeds();
    let sites = ["refresh", "bank", "--plan", "sites", "--method", "greedy"];
    place.run(&sites).done();
    assert_eq!(
        completed(&place, &["seeds", "bank", "--plan", ""]),
        [
            "default\tcores, last refresh 1",
            "sites\tgreedy, last refresh 2"
        ]
    );
    assert_eq!(
        completed(&place, &["plans", "bank", "show", "s"]),
        ["sites\tgreedy, last refresh 2"]
    );
    let refreshes = completed(&place, &["cores", "bank", "--refresh", ""]);
    assert_eq!(
        refreshes[1], "1\tplan default, after batch 1, 2 seeds",
        "{refreshes:?}"
    );
    assert_eq!(completed(&place, &["diff", "bank", "1"]).len(), 1);
    // Without a bank, or with something else in its place, there is nothing to offer.
    for words in [
        ["seeds", "--plan", ""],
        ["seeds", "day0.jsonl", "--plan"],
        ["seeds", "nowhere", "--refresh"],
    ] {
        let words = [&words[..], &[""]].concat();
        let found = completed(&place, &words);
        assert!(
            !found.iter().any(|line| line.contains("last refresh")),
            "{found:?}"
        );
    }
    // Commands, flags, values and files.
    let commands = completed(&place, &["inges"]);
    assert!(
        commands[0].starts_with("ingest\tApply a batch"),
        "{commands:?}"
    );
    let flags = completed(&place, &["ingest", "bank", "--max-r"]);
    assert!(flags[0].starts_with("--max-rejects\t"), "{flags:?}");
    let formats = completed(&place, &["seeds", "bank", "--format", "nu"]);
    assert!(formats[0].starts_with("nutch\t"), "{formats:?}");
    assert_eq!(
        completed(&place, &["ingest", "bank", "day"]),
        ["day0.jsonl"]
    );
}
