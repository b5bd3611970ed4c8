//! No answer reveals where files are on this machine: inputs and lists that were given by absolute
//! paths appear under the last part of the path.
//!
//! Bug classes: a field with a path as it was typed, a path in an error, an address or a format that
//! was forgotten.

use std::collections::BTreeSet;

use crate::support::command::Place;
use crate::support::http::{Answer, Served, encoded, links};

/// A bank for which everything was named by an absolute path.
fn place() -> Place {
    let place = Place::with_bank();
    let named = |name: &str| place.path(name).to_str().unwrap().to_owned();
    let bank = named("bank");
    let days = place.path("days");
    std::fs::create_dir(&days).unwrap();
    let hubs = |sites: &[u32]| -> String {
        let line = |site: &u32| {
            format!(
                "{{\"url\":\"http://h{site}.example/\",\"outlinks\":[\"http://a1.example/\",\"http://a2.example/\"]}}\n"
            )
        };
        sites.iter().map(line).collect()
    };
    place.write("days/first.jsonl", hubs(&[1, 2, 3]));
    place.write("days/second.jsonl", hubs(&[4, 5]) + "no record\n");
    place.write("days/sites.jsonl", "");
    place.write("days/no.txt", "http://h1.example/\n");
    place.write("days/pins.txt", "http://h2.example/\n");
    place.write("days/out.txt", "http://h3.example/\n");
    place.write("days/only.txt", "*\n");
    place
        .run(&["ingest", &bank, &named("days/first.jsonl")])
        .done();
    let second = named("days/second.jsonl");
    place
        .run(&["ingest", &bank, &second, "--max-rejects", "100"])
        .done();
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
    place.write("days/third.jsonl", "no record\n");
    place
        .run(&["ingest", &bank, &named("days/third.jsonl")])
        .fails(3);
    place
}

/// Every kind of address that the server has, as the page of each command describes it.
fn addresses() -> Vec<String> {
    let hub = encoded("http://h2.example/");
    let mut all: Vec<String> = [
        "/",
        "/search?q=h",
        "/site?name=h2.example",
        "/refresh",
        "/refresh?refresh=2",
        "/diff?from=1",
        "/diff?from=1&to=3",
        "/core?refresh=1&core=1",
        "/cores?refresh=1",
        "/plans",
        "/evaluate",
        "/quotas?pages=3",
        "/batches",
        "/compare",
        "/metrics",
        "/healthz",
        "/style.css",
        "/icon.svg",
        "/none",
    ]
    .map(str::to_owned)
    .into();
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
    let told = |answer: &Answer| {
        let body = String::from_utf8_lossy(&answer.body).into_owned();
        let headers = format!("{:?}", answer.headers);
        let places = [home, "days/", "days%2F", env!("CARGO_MANIFEST_DIR")];
        places
            .into_iter()
            .any(|place| body.contains(place) || headers.contains(place))
    };
    let all = answers(&served);
    let telling: Vec<&String> = all
        .iter()
        .filter_map(|(address, answer)| told(answer).then_some(address))
        .collect();
    assert!(
        telling.is_empty(),
        "{} of {}: {telling:#?}",
        telling.len(),
        all.len()
    );
    assert!(
        all.iter()
            .filter(|(_, answer)| answer.status == 200)
            .count()
            > 100
    );
    // What they are called is there still.
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
    // Nor is it told where the bank was when there is none any more.
    std::fs::rename(&bank, place.path("moved")).unwrap();
    for (address, answer) in answers(&served) {
        assert!(!told(&answer), "{address}: {}", answer.text());
    }
    served.stop();
}
