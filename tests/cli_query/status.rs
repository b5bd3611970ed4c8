//! `status`: ages, the current states of seeds, and disk space.
//!
//! Bug classes: the age of another batch or refresh than the last, seeds counted by former states, a
//! list of bad records that does not exist, bytes counted twice.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::support::command::{Place, TWO_CORES, record};
use serde_json::{Value, json};

fn status(place: &Place) -> Value {
    place.run(&["status", "bank", "--format", "json"]).json()
}

fn ingest(place: &Place, text: &str) {
    place
        .run_with(&["ingest", "bank", "-"], text.as_bytes())
        .done();
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap().as_secs()
}

#[test]
fn ages_are_of_the_last_batch_and_of_each_plan() {
    let place = Place::with_bank();
    let began = now();
    let empty = status(&place);
    assert_eq!(
        (&empty["last_batch"], &empty["plans"]),
        (&Value::Null, &json!([]))
    );
    place.write("day0.jsonl", TWO_CORES);
    place
        .run(&["ingest", "bank", "--snapshot", "day0.jsonl"])
        .done();
    place
        .run(&["refresh", "bank", "--method", "cores", "--within", "0"])
        .done();
    let other = [
        "refresh", "bank", "--plan", "other", "--method", "cores", "--within", "0", "--seeds", "1",
    ];
    place.run(&other).done();
    place.run(&["refresh", "bank", "--plan", "other"]).done();
    ingest(&place, &record("http://n.example/", &[]));
    let now_is = status(&place);
    let at = now_is["at"].as_u64().unwrap();
    assert!((began..=now()).contains(&at));
    let aged = |of: &Value| {
        let (when, age) = (of["at"].as_u64().unwrap(), of["age"].as_u64().unwrap());
        assert!((began..=at).contains(&when));
        assert_eq!(when + age, at, "{of}");
        assert!(of["seconds"].as_f64().unwrap() > 0.0);
    };
    aged(&now_is["last_batch"]);
    assert_eq!(
        (
            &now_is["last_batch"]["batch"],
            &now_is["last_batch"]["kind"]
        ),
        (&json!(2), &json!("delta"))
    );
    let plans = now_is["plans"].as_array().unwrap();
    let told = |plan: &Value| {
        aged(plan);
        let fields = ["plan", "last_refresh", "batch", "certified"];
        fields.map(|field| plan[field].clone())
    };
    assert_eq!(
        told(&plans[0]),
        [json!("default"), json!(1), json!(1), json!(true)]
    );
    assert_eq!(
        told(&plans[1]),
        [json!("other"), json!(3), json!(1), json!(true)]
    );
    let text = place.run(&["status", "bank"]).done();
    let line = |begins: &str| {
        let mut lines = text.lines();
        let line = lines.find(|line| line.starts_with(begins));
        line.unwrap_or_else(|| panic!("{begins}: {text}"))
    };
    let batch = line("last batch 2, ");
    assert!(batch.contains("s ago (20"), "{text}");
    assert!(
        batch.ends_with("): stdin (delta), 1 record, 0 rejected"),
        "{text}"
    );
    let plan = line("plan default (cores), last refresh 1, ");
    let ends = "), after batch 1, certified: 2 seeds, 2 alive";
    assert!(plan.ends_with(ends), "{text}");
    let plan = line("plan other (cores), last refresh 3, ");
    assert!(plan.ends_with(", certified: 1 seed, 1 alive"), "{text}");
}

#[test]
fn seeds_are_counted_by_what_they_are_today() {
    let place = Place::with_bank();
    // Five hubs with authorities of their own, and links to each other's seed.
    let to = |hub: usize| [0, 1].map(|n| format!("http://a{hub}-{n}.example/"));
    let all: String = (0..5)
        .map(|hub| {
            let to = to(hub);
            record(&format!("http://h{hub}.example/"), &[&to[0], &to[1]])
        })
        .collect();
    place.write("day0.jsonl", &all);
    place
        .run(&["ingest", "bank", "--snapshot", "day0.jsonl"])
        .done();
    place
        .run(&["refresh", "bank", "--method", "cores", "--within", "0"])
        .done();
    // A plan whose list has a page that is only linked to, by a pin.
    place.write("pins.txt", "http://a0-0.example/\n");
    let pinned = ["refresh", "bank", "--plan", "pinned", "--pin", "pins.txt"];
    place.run(&pinned).done();
    let seeds = |plan: usize| status(&place)["plans"][plan]["seeds"].clone();
    assert_eq!(
        seeds(0),
        json!({"listed": 5, "alive": 5, "gone": 0, "alias": 0, "unlinked": 0, "forgotten": 0})
    );
    ingest(
        &place,
        "{\"url\": \"http://h0.example/\", \"gone\": true}\n\
         {\"url\": \"http://h1.example/\", \"redirect\": \"http://h2.example/\"}\n\
         {\"url\": \"http://h2.example/\", \"spam\": true}\n",
    );
    // Spam is still a page; the pinned page has lost its only link.
    assert_eq!(
        seeds(0),
        json!({"listed": 5, "alive": 3, "gone": 1, "alias": 1, "unlinked": 0, "forgotten": 0})
    );
    let pinned = seeds(1);
    assert_eq!(
        ["gone", "alias", "unlinked"].map(|state| &pinned[state]),
        [&json!(1), &json!(1), &json!(1)]
    );
    let states = ["alive", "gone", "alias", "unlinked", "forgotten"];
    let counted = states.map(|state| pinned[state].as_u64());
    let sum: u64 = counted.into_iter().flatten().sum();
    assert_eq!(pinned["listed"], sum);
    let text = place.run(&["status", "bank"]).done();
    assert!(
        text.contains(": 5 seeds, 3 alive, 1 gone, 1 alias\n"),
        "{text}"
    );
    assert!(
        text.contains("alive, 1 gone, 1 alias, 1 unlinked\n"),
        "{text}"
    );
    // A list that had a forgotten page is another one without it, whatever the refresh says.
    let forget = ["forget", "bank", "http://h3.example/"];
    place.run(&forget).done();
    assert_eq!(
        seeds(0),
        json!({"listed": 5, "alive": 2, "gone": 1, "alias": 1, "unlinked": 0, "forgotten": 1})
    );
    place
        .run(&["refresh", "bank", "--method", "cores", "--within", "0"])
        .done();
    let list = place.run(&["seeds", "bank", "--if-changed"]);
    assert_eq!(list.err, "");
    assert!(!list.done().contains("h3.example"));
}

#[test]
fn rejects_of_the_last_batch_are_told_with_their_file() {
    let place = Place::with_bank();
    let bad = "no\nnor this\n{\"url\": \"http://a.example/\", \"outlinks\": []}\n";
    place.write("bad.jsonl", bad);
    let args = ["ingest", "bank", "bad.jsonl", "--max-rejects", "90"];
    place.run(&args).done();
    let last = status(&place)["last_batch"].clone();
    let file = "bank/rejects/batch-000001.jsonl";
    assert_eq!(
        ["records", "rejected", "rejects_file"].map(|field| &last[field]),
        [&json!(3), &json!(2), &json!(file)]
    );
    let text = place.run(&["status", "bank"]).done();
    let words = format!("3 records, 2 rejected, listed in {file}\n");
    assert!(text.contains(&words), "{text}");
    // A file that somebody removed is not named.
    fs::remove_file(place.path(file)).unwrap();
    let last = status(&place)["last_batch"].clone();
    assert_eq!(
        (&last["rejected"], &last["rejects_file"]),
        (&json!(2), &Value::Null)
    );
    // Nor is one that the user named, nor that of another batch.
    place
        .run(&[&args[..], &["--again", "--rejects", "mine.jsonl"]].concat())
        .done();
    let last = status(&place)["last_batch"].clone();
    assert_eq!(
        (&last["batch"], &last["rejects_file"]),
        (&json!(2), &Value::Null)
    );
}

#[test]
fn the_folder_is_counted_as_du_counts_it() {
    let place = Place::with_seeds();
    let told = status(&place);
    let groups = told["groups"].as_array().unwrap();
    let names: Vec<&Value> = groups.iter().map(|group| &group["group"]).collect();
    assert_eq!(names, ["pages", "links", "history", "refreshes", "bank"]);
    for group in groups {
        let tables = told["tables"].as_array().unwrap().iter();
        let of_group = tables.filter(|table| table["group"] == group["group"]);
        let bytes: u64 = of_group.map(|table| table["bytes"].as_u64().unwrap()).sum();
        assert_eq!(group["bytes"], bytes, "{group}");
    }
    let du = std::process::Command::new("du")
        .args(["-s", "--block-size=1"])
        .arg(place.path("bank"))
        .output();
    let du = String::from_utf8(du.unwrap().stdout).unwrap();
    let bytes: u64 = du.split_whitespace().next().unwrap().parse().unwrap();
    assert_eq!(told["folder_bytes"], bytes);
    // A file with two names, which most of a bank's are, counts once.
    let before = fs::metadata(place.path("bank/SEEDBANK")).unwrap();
    fs::hard_link(place.path("bank/SEEDBANK"), place.path("bank/spill/again")).unwrap();
    assert_eq!(
        fs::metadata(place.path("bank/SEEDBANK")).unwrap().nlink(),
        2
    );
    let again = status(&place)["folder_bytes"].as_u64().unwrap();
    assert!(before.blocks() > 0 && again < bytes + before.blocks() * 512);
}
