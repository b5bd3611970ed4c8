//! Texts of crawlers and archives on the command line: recognised without a flag.

use crate::support::command::Place;
use crate::support::crawler_texts::examples;

#[test]
fn no_flag_is_needed() {
    let place = Place::with_bank();
    for example in examples() {
        if example.name == "heritrix links" {
            continue;
        }
        let name = example.name.replace(' ', "-");
        place.write(&name, &example.text);
        let report = place
            .run(&["ingest", "bank", &name, "--max-loss", "100"])
            .done();
        assert!(
            report.starts_with("batch ") || report.starts_with("nothing changed"),
            "{name}: {report}"
        );
        assert!(!report.contains("rejected"), "{name}: {report}");
    }
    let args = ["ingest", "bank", "--input", "heritrix-links", "heritrix"];
    let report = place.run(&args).done();
    let passed = "4 records that are not pages (no_link 4)\n";
    assert!(report.contains(passed), "{report}");
}
