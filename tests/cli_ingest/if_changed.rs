//! `seeds --if-changed`: a list is printed only if it changed.
//!
//! Bug classes: a changed list that is not reported, above all after a missed day; a file that is
//! touched or lost although nothing changed; a difference that is not compared.

use std::fs;
use std::os::unix::fs::MetadataExt;

use crate::support::command::{Ended, Place, record};

/// The first of the two seeds goes.
const GONE: &str = "{\"url\": \"http://h1.example/\", \"gone\": true}\n";

fn seeds(place: &Place, more: &[&str]) -> Ended {
    place.run(&[&["seeds", "bank", "--if-changed"], more].concat())
}

/// Nothing on standard output, and these words on standard error.
#[track_caller]
fn is_as_before(ended: &Ended, words: &str) {
    assert_eq!((ended.status, &*ended.out), (Some(5), ""), "{ended:?}");
    assert_eq!(ended.err, format!("nothing changed: {words}\n"));
}

fn ingest(place: &Place, text: &str) {
    place
        .run_with(&["ingest", "bank", "-"], text.as_bytes())
        .done();
}

#[test]
fn without_a_file_it_is_the_refresh_before() {
    let place = Place::with_seeds();
    let whole = place.run(&["seeds", "bank"]).done();
    let first = seeds(&place, &[]);
    assert_eq!(
        first.err,
        "plan default has no earlier refresh to compare refresh 1 with\n"
    );
    assert_eq!(first.done(), whole);
    place
        .run(&["refresh", "bank", "--method", "cores", "--within", "0"])
        .done();
    let told = "refresh 2 of plan default has the same list as refresh 1";
    is_as_before(&seeds(&place, &[]), told);
    // Scores and numbers of refreshes are not compared, pages and their order are.
    for format in ["jsonl", "csv", "nutch", "heritrix"] {
        is_as_before(&seeds(&place, &["--format", format]), told);
    }
    is_as_before(&seeds(&place, &["--out", "-"]), told);
    assert_eq!(seeds(&place, &["-q"]).err, "");

    // Another plan's refreshes do not come between.
    let other = ["refresh", "bank", "--plan", "other", "--density", "90"];
    place.run(&other).done();
    place
        .run(&["refresh", "bank", "--method", "cores", "--within", "0"])
        .done();
    is_as_before(
        &seeds(&place, &[]),
        "refresh 4 of plan default has the same list as refresh 2",
    );
    ingest(&place, GONE);
    place
        .run(&["refresh", "bank", "--method", "cores", "--within", "0"])
        .done();
    let changed = seeds(&place, &[]);
    assert_eq!(changed.err, "");
    assert_eq!(
        changed.done(),
        "http://h2.example/\nhttp://k1.example/x,y\n"
    );
}

#[test]
fn the_best_of_a_list_and_its_order_count() {
    let place = Place::with_seeds();
    // Two more hubs: the second core has four now, and comes first.
    let to = ["http://b1.example/", "http://b2.example/"];
    let more: String = (3..9)
        .map(|hub| record(&format!("http://k{hub}.example/"), &to))
        .collect();
    ingest(&place, &more);
    place
        .run(&["refresh", "bank", "--method", "cores", "--within", "0"])
        .done();
    let list = place.run(&["seeds", "bank"]).done();
    let before = place.run(&["seeds", "bank", "--refresh", "1"]).done();
    let of = |text: &str| -> Vec<String> { text.lines().map(str::to_owned).collect() };
    let mut back = of(&before);
    back.reverse();
    assert_eq!(of(&list), back);
    assert_eq!(seeds(&place, &[]).done(), list);
    // Now the last seed alone changes.
    ingest(&place, GONE);
    place
        .run(&["refresh", "bank", "--method", "cores", "--within", "0"])
        .done();
    assert_ne!(place.run(&["seeds", "bank"]).done(), list);
    let told = "refresh 3 of plan default has the same list as refresh 2";
    is_as_before(&seeds(&place, &["--limit", "1"]), told);
    assert_eq!(seeds(&place, &["--limit", "2"]).done().lines().count(), 2);
    // A list that is longer than before is another one.
    place
        .run(&[
            "refresh", "bank", "--method", "cores", "--within", "0", "--seeds", "1",
        ])
        .done();
    seeds(&place, &[]).done();
    seeds(&place, &["--limit", "2"]).done();
    is_as_before(
        &seeds(&place, &["--limit", "1"]),
        "refresh 4 of plan default has the same list as refresh 3",
    );
}

#[test]
fn with_a_file_it_is_what_the_file_holds() {
    let place = Place::with_seeds();
    let about = |name: &str| {
        let about = fs::metadata(place.path(name)).unwrap();
        (about.ino(), about.mtime(), about.mtime_nsec())
    };
    let read = |name: &str| fs::read_to_string(place.path(name)).unwrap();
    let to = |more: &[&str]| seeds(&place, &[&["--out", "seeds.txt"], more].concat());
    let list = place.run(&["seeds", "bank"]).done();
    // Without a file it is new, and with one it is left alone.
    let made = to(&[]);
    assert_eq!((&*made.err, made.status), ("", Some(0)));
    assert_eq!(read("seeds.txt"), list);
    let before = about("seeds.txt");
    is_as_before(&to(&[]), "seeds.txt already has this list");
    assert_eq!(about("seeds.txt"), before);
    // What the refresh before had does not matter: a day was missed, and the list is told late.
    ingest(&place, GONE);
    place
        .run(&["refresh", "bank", "--method", "cores", "--within", "0"])
        .done();
    place
        .run(&["refresh", "bank", "--method", "cores", "--within", "0"])
        .done();
    assert_eq!(seeds(&place, &[]).status, Some(5));
    to(&[]).done();
    assert_ne!(read("seeds.txt"), list);
    assert_ne!(about("seeds.txt"), before);
    is_as_before(&to(&[]), "seeds.txt already has this list");
    // Somebody else's change is undone, at any length.
    let list = read("seeds.txt");
    let other = list.replace("http", "HTTP");
    for text in [&*other, &list[1..], "", &list.repeat(2)] {
        place.write("seeds.txt", text);
        to(&[]).done();
        assert_eq!(read("seeds.txt"), list);
    }
    // Bytes count: another format, another refresh in it, and seeds that died.
    to(&["--format", "csv"]).done();
    to(&["--format", "csv"]).fails_quietly();
    place
        .run(&["refresh", "bank", "--method", "cores", "--within", "0"])
        .done();
    to(&["--format", "csv"]).done();
    to(&["--alive"]).done();
    to(&["--alive"]).fails_quietly();
    ingest(
        &place,
        "{\"url\": \"http://h2.example/\", \"gone\": true}\n",
    );
    to(&["--alive"]).done();
    assert_eq!(read("seeds.txt"), "http://k1.example/x,y\n");
    // What cannot be compared is wrong usage.
    let told = seeds(&place, &["--alive"]).fails(2);
    assert!(told.contains("requires --out FILE"), "{told}");
    assert_eq!(
        crate::support::command::names(&place.path("")),
        ["bank", "day0.jsonl", "seeds.txt"]
    );
}

impl Ended {
    /// Ended with status 5, and nothing on standard output.
    #[track_caller]
    fn fails_quietly(&self) {
        assert_eq!((self.status, &*self.out), (Some(5), ""), "{self:?}");
    }
}
