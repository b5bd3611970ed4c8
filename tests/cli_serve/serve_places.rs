//! No answer reveals where files are on this machine: inputs and lists that were given by absolute
//! paths appear under the last part of the path.
//!
//! Bug classes: a field with a path as it was typed, a path in an error, an address or a format that
//! was forgotten.

use std::collections::BTreeSet;

use crate::support::command::{Place, record};
use crate::support::http::{Answer, Served, encoded, links};

/// A bank for which everything was named by an absolute path.
fn place() -> Place {
    let place = Place::with_bank();
    let named = |name: &str| place.path(name).to_str().unwrap().to_owned();
    let bank = named("bank");
    let days = place.path("days");
    std::fs::create_dir(&days).unwrap();
    let targets = ["http://a1.example/", "http://a2.example/"];
    let hubs = |sites: &[u32]| -> String {
        let hub = |site: &u32| record(&format!("http://h{site}.example/"), &targets);
        sites.iter().map(hub).collect()
    };
    for (name, text) in [
        ("first.jsonl", hubs(&[1, 2, 3])),
        ("second.jsonl", hubs(&[4, 5]) + "no record\n"),
        ("third.jsonl", "no record\n".to_owned()),
        ("no.txt", "http://h1.example/\n".to_owned()),
        ("pins.txt", "http://h2.example/\n".to_owned()),
        ("out.txt", "http://h3.example/\n".to_owned()),
        ("only.txt", "*\n".to_owned()),
    ] {
        place.write(&format!("days/{name}"), text);
    }
    let ingest = |name: &str| place.run(&["ingest", &bank, &named(name), "--max-rejects", "34"]);
    ingest("days/first.jsonl").done();
    ingest("days/second.jsonl").done();
    let lists = [
        ["--exclude", "no.txt"],
        ["--pin", "pins.txt"],
        ["--exclude-from-graph", "out.txt"],
        ["--only", "only.txt"],
    ];
    for method in [["--method", "cores"], ["--method", "greedy"]] {
        let mut args = vec!["refresh".to_owned(), bank.clone()];
        args.extend(["--plan", method[1]].map(str::to_owned));
        args.extend(method.map(str::to_owned));
        for [flag, list] in lists {
            args.push(flag.to_owned());
            args.push(named(&format!("days/{list}")));
        }
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        place.run(&args).done();
        place.run(&args).done();
    }
    ingest("days/third.jsonl").fails(3);
    place
}

/// Every kind of address that the server has, as the page of each command describes it.
fn addresses() -> Vec<String> {
    let hub = encoded("http://h2.example/");
    let plain = "/ /search?q=h /site?name=h2.example /refresh /refresh?refresh=2 /diff?from=1 /diff?from=1&to=3 \
        /core?refresh=1&core=1 /cores?refresh=1 /plans /evaluate /quotas?pages=3 /batches /compare /metrics /healthz \
        /style.css /icon.svg /none";
    let mut all: Vec<String> = plain.split(' ').map(str::to_owned).collect();
    for plan in ["cores", "greedy", "none"] {
        all.push(format!("/plan?name={plan}"));
        all.push(format!("/refresh?plan={plan}"));
    }
    for page in [
        &hub,
        &encoded("http://h1.example/"),
        &encoded("http://none.example/"),
    ] {
        all.push(format!("/page?url={page}"));
        all.push(format!("/history?url={page}"));
        all.push(format!("/links?url={page}&of=out"));
        for refresh in 1..=5 {
            all.push(format!("/explain?url={page}&refresh={refresh}"));
        }
    }
    for format in ["txt", "jsonl", "csv", "parquet", "none"] {
        all.push(format!("/seeds?refresh=2&format={format}"));
    }
    all
}

/// Asks for an address in every format, and for all that its page leads to.
fn answers(served: &Served) -> Vec<(String, Answer)> {
    let mut left = addresses();
    let mut seen = BTreeSet::new();
    let mut answers = Vec::new();
    while let Some(address) = left.pop() {
        if !seen.insert(address.clone()) {
            continue;
        }
        let answer = served.get(&address);
        if answer.header("content-type").starts_with("text/html") {
            let here = links(answer.text());
            left.extend(here.into_iter().filter(|link| link.starts_with('/')));
        }
        if !address.contains("format=") && address != "/healthz" && !address.starts_with("/v1/") {
            let and = if address.contains('?') { '&' } else { '?' };
            left.push(format!("{address}{and}format=html"));
            left.push(format!("/v1{address}"));
        }
        answers.push((address, answer));
    }
    let lines = ["Content-Type: text/plain"];
    for target in ["/compare?plan=cores", "/v1/compare?plan=greedy"] {
        let list = b"http://h1.example/\nhttp://h2.example/\n";
        answers.push((target.to_owned(), served.ask("POST", target, &lines, list)));
    }
    answers
}

#[test]
fn no_answer_names_a_folder_of_the_machine() {
    let place = place();
    let bank = place.path("bank");
    let served = Served::start(&place, &[bank.to_str().unwrap()]);
    let home = place.path("");
    let home = home.to_str().unwrap().trim_end_matches('/');
    let reveals = |answer: &Answer| {
        let body = String::from_utf8_lossy(&answer.body).into_owned();
        let headers = format!("{:?}", answer.headers);
        let places = [home, "days/", "days%2F", env!("CARGO_MANIFEST_DIR")];
        places
            .into_iter()
            .any(|place| body.contains(place) || headers.contains(place))
    };
    let all = answers(&served);
    let revealing: Vec<&String> = all
        .iter()
        .filter_map(|(address, answer)| reveals(answer).then_some(address))
        .collect();
    assert!(
        revealing.is_empty(),
        "{} of {}: {revealing:#?}",
        revealing.len(),
        all.len()
    );
    assert!(
        all.iter()
            .filter(|(_, answer)| answer.status == 200)
            .count()
            > 100
    );
    // Their names are there.
    let history = served.get("/v1/batches").json();
    assert_eq!(history["batches"][0]["inputs"][0], "first.jsonl");
    let lists = &history["refreshes"][0]["parameters"];
    assert_eq!(lists["exclude"]["name"], "no.txt");
    assert_eq!(lists["pin"]["name"], "pins.txt");
    let plan = served.get("/v1/plan?name=cores").json();
    let command = plan["command"].as_str().unwrap();
    assert!(command.contains("--exclude no.txt"), "{command}");
    let status = served.get("/v1/status").json();
    let rejects = &status["last_batch"]["rejects_file"];
    assert_eq!(rejects, "rejects/batch-000002.jsonl");
    // Nor does an answer say where the bank was after it is gone.
    std::fs::rename(&bank, place.path("moved")).unwrap();
    for (address, answer) in answers(&served) {
        assert!(!reveals(&answer), "{address}: {}", answer.text());
    }
    served.stop();
}
