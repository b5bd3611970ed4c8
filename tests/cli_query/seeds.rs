//! The seed list in the formats that crawlers read.

use crate::support::command;
use crate::support::command::{Place, record};
use serde_json::{Value, json};

#[test]
fn text_is_one_url_a_line_in_order() {
    let place = Place::with_seeds();
    let text = "http://h1.example/\nhttp://k1.example/x,y\n";
    assert_eq!(place.run(&["seeds", "bank"]).done(), text);
    assert_eq!(
        place.run(&["seeds", "bank", "--format", "text"]).done(),
        text
    );
}

#[test]
fn json_lines_have_the_evidence() {
    let place = Place::with_seeds();
    let seeds = place
        .run(&["seeds", "bank", "--format", "jsonl"])
        .json_lines();
    let sigma = seeds[0]["sigma"].as_f64().unwrap();
    let score = seeds[0]["hub_score"].as_f64().unwrap();
    assert!((sigma - 3.0).abs() < 1e-6 && (score - 3.0_f64.sqrt().recip()).abs() < 1e-6);
    let mut first = seeds[0].clone();
    first
        .as_object_mut()
        .unwrap()
        .retain(|name, _| name != "sigma" && name != "hub_score");
    assert_eq!(
        first,
        json!({"rank": 1, "url": "http://h1.example/", "site": "h1.example", "method": "cores",
            "plan": "default", "refresh": 1, "core": 1})
    );
    assert_eq!(seeds[1]["url"], "http://k1.example/x,y");
    assert_eq!(seeds.len(), 2);
}

#[test]
fn csv_is_rfc_4180() {
    let place = Place::with_seeds();
    let csv = place.run(&["seeds", "bank", "--format", "csv"]).done();
    let lines: Vec<&str> = csv.split("\r\n").collect();
    assert_eq!(
        lines[0],
        "rank,url,site,method,plan,refresh,core,sigma,hub_score,gain,covered_pages,covered_value,pick,since,seats,by_policy"
    );
    assert!(
        lines[1].starts_with("1,http://h1.example/,h1.example,cores,default,1,1,"),
        "{csv}"
    );
    assert!(lines[1].ends_with(",,,,"), "{csv}");
    // A comma in a field puts it into quotes.
    assert!(
        lines[2].starts_with("2,\"http://k1.example/x,y\",k1.example,"),
        "{csv}"
    );
    assert_eq!(lines[3], "");
    assert_eq!(lines.len(), 4);
    assert!(!csv.replace("\r\n", "").contains(['\r', '\n']));
}

#[test]
fn nutch_lines_are_a_url_and_fields_between_tabs() {
    let place = Place::with_seeds();
    let text = place.run(&["seeds", "bank", "--format", "nutch"]).done();
    let mut scores = Vec::new();
    for (rank, line) in (1..).zip(text.lines()) {
        let mut fields = line.split('\t');
        assert!(fields.next().unwrap().starts_with("http://"), "{line}");
        let fields: Vec<(&str, &str)> =
            fields.map(|field| field.split_once('=').unwrap()).collect();
        assert_eq!(fields[0], ("seed.rank", &*rank.to_string()));
        assert_eq!(fields[1], ("seed.plan", "default"));
        assert_eq!(fields[2], ("seed.method", "cores"));
        let (_, score) = fields
            .iter()
            .find(|(name, _)| *name == "nutch.score")
            .unwrap();
        scores.push(score.parse::<f32>().unwrap());
    }
    assert_eq!(scores, [1.0, 0.5]);
}

#[test]
fn heritrix_lines_are_a_url_and_a_comment() {
    let place = Place::with_seeds();
    let text = place.run(&["seeds", "bank", "--format", "heritrix"]).done();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[0],
        "# 2 seeds of seedbank plan default, method cores, refresh 1"
    );
    assert!(
        lines[1].starts_with("http://h1.example/ # rank 1, core 1, sigma "),
        "{text}"
    );
    assert!(
        lines[2].starts_with("http://k1.example/x,y # rank 2, core 2, sigma "),
        "{text}"
    );
    assert_eq!(lines.len(), 3);
}

#[test]
fn crawlers_have_lists_of_their_own() {
    let place = Place::with_seeds();
    let list = |format: &str| {
        let text = place.run(&["seeds", "bank", "--format", format]).done();
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let urls = list("text");
    // StormCrawler: what Nutch has, without a score.
    let nutch = list("nutch");
    let without = nutch.iter().map(|line| line.rsplit_once('\t').unwrap().0);
    assert_eq!(list("stormcrawler"), without.collect::<Vec<_>>());
    // Browsertrix: a list of items in YAML, each a URL in quotes.
    let yaml = list("browsertrix");
    assert_eq!(yaml[0], "seeds:");
    let items = yaml[1..].iter().map(|item| {
        let url = item.strip_prefix("  - url: ").unwrap();
        serde_json::from_str::<String>(url).unwrap()
    });
    assert_eq!(items.collect::<Vec<_>>(), urls);
    // Scrapy: one array, the better seed with the higher priority.
    let requests: Value = serde_json::from_str(&list("scrapy").join("\n")).unwrap();
    let jsonl = list("jsonl");
    for (at, request) in requests.as_array().unwrap().iter().enumerate() {
        assert_eq!(request["url"], *urls[at]);
        assert_eq!(request["priority"], urls.len() - at);
        let seed: Value = serde_json::from_str(&jsonl[at]).unwrap();
        assert_eq!(request["meta"]["seed"], seed);
    }
    assert_eq!(requests.as_array().unwrap().len(), urls.len());
    // Crawlee: one array, in order.
    let requests: Value = serde_json::from_str(&list("crawlee").join("\n")).unwrap();
    let expected = urls.iter().zip(&jsonl).map(|(url, seed)| {
        let seed: Value = serde_json::from_str(seed).unwrap();
        json!({"url": url, "userData": {"seed": seed}})
    });
    assert_eq!(requests, expected.collect::<Value>());
    // URLFrontier: an item a line, whose metadata are lists of strings.
    for (at, line) in list("urlfrontier").iter().enumerate() {
        let item: Value = serde_json::from_str(line).unwrap();
        let info = &item["discovered"]["info"];
        assert_eq!(
            (&item["ID"], &info["url"]),
            (&info["url"], &urls[at].as_str().into())
        );
        assert_eq!(
            info["key"],
            if at == 0 { "h1.example" } else { "k1.example" }
        );
        let rank = (at + 1).to_string();
        assert_eq!(info["metadata"]["seed.rank"]["values"], json!([rank]));
    }
}

#[test]
fn a_list_is_split_by_sites() {
    let place = Place::with_seeds();
    let urls = place.run(&["seeds", "bank"]).done();
    let split = ["seeds", "bank", "--out", "urls.txt", "--split", "3"];
    place.run(&split).done();
    let parts = [1, 2, 3].map(|n| place.path(&format!("urls-{n}.txt")));
    let parts = parts.map(|part| std::fs::read_to_string(part).unwrap());
    let urls: Vec<&str> = urls.split_inclusive('\n').collect();
    assert_eq!(parts, [urls[0], urls[1], ""]);
    assert!(!place.path("urls.txt").exists());
    let told = place.run(&["seeds", "bank", "--split", "2"]).fails(2);
    assert!(told.contains("--out"), "{told}");
    let told = place.run(&["seeds", "bank", "--split", "2", "--out", "-"]);
    assert!(told.fails(2).contains("the name of a file"));
}

#[test]
fn an_empty_refresh_has_an_empty_list() {
    let place = Place::with_bank();
    place.write("day0.jsonl", record("http://a.example/", &[]));
    place.run(&["ingest", "bank", "day0.jsonl"]).done();
    let ended = place.run(&["refresh", "bank", "--method", "cores", "--within", "0"]);
    assert_eq!(ended.status, Some(5), "{ended:?}");
    assert!(
        ended.out.starts_with("refresh 1 of plan default"),
        "{ended:?}"
    );
    for (format, list) in [
        ("text", ""),
        ("jsonl", ""),
        ("nutch", ""),
        ("heritrix", ""),
        ("stormcrawler", ""),
        ("browsertrix", "seeds: []\n"),
        ("scrapy", "[]\n"),
        ("crawlee", "[]\n"),
        ("urlfrontier", ""),
    ] {
        let printed = place.run(&["seeds", "bank", "--format", format]).done();
        assert_eq!(printed, list, "{format}");
    }
    let csv = place.run(&["seeds", "bank", "--format", "csv"]).done();
    assert_eq!(csv.lines().count(), 1);
    let cores = place.run(&["cores", "bank"]);
    assert!(cores.err.contains("no cores"), "{cores:?}");
    assert_eq!(cores.done(), "");
}

/// A place where the first of two seeds has been reported as gone since the refresh.
fn with_a_dead_seed() -> Place {
    let place = Place::with_seeds();
    place.write(
        "gone.jsonl",
        "{\"url\": \"http://h1.example/\", \"gone\": true}\n",
    );
    place.run(&["ingest", "bank", "gone.jsonl"]).done();
    place
}

#[test]
fn dead_seeds_are_told_and_can_be_left_out() {
    let place = Place::with_seeds();
    for more in [&[][..], &["--alive"]] {
        let ended = place.run(&[&["seeds", "bank"], more].concat());
        assert_eq!(ended.err, "");
        assert_eq!(ended.done().lines().count(), 2);
    }
    let place = with_a_dead_seed();
    let told = "warning: 1 of 2 seeds is dead: gone or no longer a page (refresh the plan, or omit them with --alive)\n";
    let left_out = "warning: 1 of 2 seeds is dead: gone or no longer a page (omitted; refresh the plan to replace them)\n";
    for format in ["text", "jsonl", "csv", "nutch", "heritrix"] {
        let seeds = ["seeds", "bank", "--format", format];
        let all = place.run(&seeds);
        assert_eq!(all.err, told, "{format}");
        let alive = place.run(&[&seeds[..], &["--alive"]].concat());
        assert_eq!(alive.err, left_out, "{format}");
        let (all, alive) = (all.done(), alive.done());
        let of_both = |url: &str| [&all, &alive].map(|list| list.matches(url).count());
        assert_eq!(of_both("http://h1.example/"), [1, 0], "{format}");
        assert_eq!(of_both("http://k1.example/x,y"), [1, 1], "{format}");
        // Its rank stays, and so does its score where there is one.
        assert_eq!(alive.lines().last(), all.lines().last(), "{format}");
        for more in [&["-q"][..], &["-q", "--alive"]] {
            let quiet = place.run(&[&seeds[..], more].concat());
            assert_eq!(quiet.err, "", "{format}");
            quiet.done();
        }
    }
}

#[test]
fn json_lines_say_which_seeds_are_dead() {
    let place = with_a_dead_seed();
    let seeds = place.run(&["seeds", "bank", "--format", "jsonl"]);
    let seeds = seeds.json_lines();
    assert_eq!(
        (&seeds[0]["alive"], &seeds[0]["rank"]),
        (&json!(false), &json!(1))
    );
    assert_eq!(
        (seeds[1].get("alive"), &seeds[1]["rank"]),
        (None, &json!(2))
    );
    let alive = place.run(&["seeds", "bank", "--format", "jsonl", "--alive"]);
    assert_eq!(alive.json_lines(), seeds[1..]);
}

#[test]
fn seeds_are_dead_as_of_today_in_every_refresh() {
    let place = with_a_dead_seed();
    place
        .run(&["refresh", "bank", "--method", "cores", "--within", "0"])
        .done();
    let ended = place.run(&["seeds", "bank"]);
    assert_eq!(ended.err, "");
    assert!(!ended.done().contains("h1.example"));
    let earlier = place.run(&["seeds", "bank", "--refresh", "1"]);
    assert!(earlier.err.contains("1 of 2 seeds is dead"), "{earlier:?}");
    let gone = "{\"url\": \"http://k1.example/x,y\", \"gone\": true}\n";
    place.write("more.jsonl", gone);
    place.run(&["ingest", "bank", "more.jsonl"]).done();
    let none = place.run(&["seeds", "bank", "--refresh", "1", "--alive"]);
    assert!(none.err.contains("2 of 2 seeds are dead"), "{none:?}");
    assert_eq!(none.done(), "");
    // A page that comes back is a seed again.
    place.write("back.jsonl", command::record("http://k1.example/x,y", &[]));
    place.run(&["ingest", "bank", "back.jsonl"]).done();
    let back = place.run(&["seeds", "bank", "--refresh", "1", "--alive"]);
    assert_eq!(back.done(), "http://k1.example/x,y\n");
}
