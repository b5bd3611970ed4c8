use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::ingest::interner::Interner;
use crate::ingest::location::{SiteMode, UrlRules};
use crate::ingest::summary::ReadSummary;
use crate::ingest::{Event, JsonLines, LineFormat};

/// The event of a record with these outlinks, and what was counted.
fn read(outlinks: &str) -> (Result<Event, Fault>, ReadSummary) {
    let mut parser = PieceParser::new(SiteMode::Host.with(UrlRules::Whatwg), Interner::default());
    let line = format!(r#"{{"url":"http://a.example/","outlinks":{outlinks}}}"#);
    let event = JsonLines.read(&line, &mut parser);
    (
        event.map(|event| event.located(&parser.urls)),
        parser.summary,
    )
}

#[test]
fn an_object_is_its_url() {
    let strings = r#"["http://b.example/","http://c.example/","http://a.example/#x",
        "http://c.example/","ftp://d.example/","http://b.example/\ud800"]"#;
    let objects = r#"[{"url":"http://b.example/","text":["b",{"url":7}],"":0},
        {"\ud800":1,"href":"http:\/\/c.example/","\u0075rl":null},
        {"href":7,"rel":"x","url":"http://a.example/#x"},
        {"u\u0072l":"http://c.example/","href":null,"x":1,"x":2},
        {"href":"ftp://d.example/"},
        {"url":"http://b.example/\ud800"}]"#;
    let (expected, counts) = read(strings);
    assert!(expected.is_ok());
    assert_eq!((counts.self_links, counts.duplicate_outlinks), (1, 1));
    assert_eq!(
        counts.dropped_outlinks,
        BTreeMap::from([(DropReason::Scheme, 1), (DropReason::Invalid, 1)])
    );
    assert_eq!(read(objects), (expected, counts));
}

#[test]
fn what_is_no_link_costs_itself() {
    let deep = "[".repeat(50_000) + &"]".repeat(50_000);
    let deep_object = "{\"url\":".repeat(50_000) + "1" + &"}".repeat(50_000);
    for element in [
        "7",
        "-1e400",
        "null",
        "true",
        "false",
        "[]",
        &deep,
        r#"["http://b.example/"]"#,
        "{}",
        r#"{"text":"b"}"#,
        r#"{"URL":"http://b.example/"}"#,
        r#"{"url":null,"href":null}"#,
        r#"{"url":7}"#,
        r#"{"href":["http://b.example/"]}"#,
        r#"{"url":false,"href":"http://b.example/"}"#,
        r#"{"url":"http://b.example/","url":"http://c.example/"}"#,
        r#"{"href":null,"url":"http://b.example/","\u0068ref":null}"#,
        &deep_object,
    ] {
        let (event, counts) = read(&format!(r#"["http://b.example/",{element},"/x"]"#));
        assert_eq!(
            event,
            read(r#"["http://b.example/","/x"]"#).0,
            "{element:.80}"
        );
        let dropped = BTreeMap::from([(DropReason::WrongType, 1)]);
        assert_eq!(counts.dropped_outlinks, dropped, "{element:.80}");
    }
}

/// A URL, a duplicate or something that is dropped; written as a string or as one of the objects.
fn link() -> impl Strategy<Value = (String, u8)> {
    let text = prop_oneof![
        4 => "http://[abc]\\.example/[a-c]{0,2}",
        1 => "[a-c:/\"\\\\\u{e9}]{0,4}",
    ];
    (text, 0..6_u8)
}

fn written(text: &str, form: u8) -> String {
    let text = serde_json::Value::from(text);
    match form {
        0 => format!(r#"{{"url":{text}}}"#),
        1 => format!(r#"{{ "href" : {text} , "text" : [{{}}] }}"#),
        2 => format!(r#"{{"href":"http://z.example/","url":{text}}}"#),
        3 => format!(r#"{{"url":null,"rel":null,"href":{text}}}"#),
        _ => text.to_string(),
    }
}

proptest! {
    #[test]
    fn objects_and_strings_mixed_say_what_strings_say(
        links in proptest::collection::vec(link(), 0..8),
    ) {
        let list = |form: &dyn Fn(u8) -> u8| {
            let texts: Vec<String> = links
                .iter()
                .map(|(text, given)| written(text, form(*given)))
                .collect();
            read(&format!("[{}]", texts.join(",")))
        };
        let strings = list(&|_| u8::MAX);
        prop_assert!(strings.0.is_ok());
        prop_assert_eq!(&list(&|given| given), &strings);
        prop_assert_eq!(&list(&|given| given % 4), &strings);
    }
}

/// What a list comes to: the numbers of its URLs, and what was left out.
type Said = (Vec<UrlNumber>, ReadSummary);

/// A list of outlinks, read without parsing JSON and by the parser; `None` where that way does not
/// take it.
fn both_ways(raw: &str) -> (Option<Said>, Option<Said>) {
    let read = |simple: bool| {
        let mut parser =
            PieceParser::new(SiteMode::Host.with(UrlRules::Whatwg), Interner::default());
        let url = "http://a.example/";
        let mut page = LinkingPage::new(parser.page(url).unwrap(), url);
        let mut list = Outlinks {
            page: &mut page,
            parser: &mut parser,
        };
        let links = if simple {
            list.simple(raw)
        } else {
            Some(list.parsed(raw))
        };
        links.map(|links| (links, parser.summary))
    };
    (read(true), read(false))
}

#[test]
fn lists_of_plain_strings_are_cut_at_their_quotes() {
    for (raw, simple) in [
        ("[]", true),
        ("[ \n ]", false),
        (r#"["http://a.example/1"]"#, true),
        (
            "[ \"http://a.example/1\"\t,\r\n\"http://a.example/\" , \"x\" ]",
            true,
        ),
        (r#"["http://a.example/,[]"]"#, true),
        (r#"["http:\/\/a.example/1"]"#, false),
        (r#"["http://a.example/1", 7]"#, false),
        (r#"[7, "http://a.example/1"]"#, false),
        (r#"[["http://a.example/1"]]"#, false),
        (r#"["http://a.example/1", {"a": "b"}]"#, false),
        (
            r#"["http://a.example/1", null, "http://a.example/2"]"#,
            false,
        ),
    ] {
        let (cut, parsed) = both_ways(raw);
        assert_eq!(cut.is_some(), simple, "{raw}");
        assert!(cut.is_none() || cut == parsed, "{raw}");
    }
}

proptest! {
    #[test]
    fn a_list_that_is_cut_is_what_the_parser_reads(
        pieces in proptest::collection::vec(
            (
                "[ \n\t]{0,2}",
                prop_oneof![
                    4 => "\"http://[ab]\\.example/[a-c,\\[\\]{}: ]{0,3}\"",
                    1 => "\"[a-z\\\\]{0,3}\"",
                    1 => Just("7".to_owned()),
                    1 => Just("[\"http://a.example/\"]".to_owned()),
                    1 => Just("{\"a\":\"b\"}".to_owned()),
                ],
            ),
            0..5,
        ),
    ) {
        let texts: Vec<String> = pieces.iter().map(|(space, text)| format!("{space}{text}{space}")).collect();
        let raw = format!("[{}]", texts.join(","));
        prop_assume!(serde_json::from_str::<IgnoredAny>(&raw).is_ok());
        let (cut, parsed) = both_ways(&raw);
        if cut.is_some() {
            prop_assert_eq!(cut, parsed);
        }
    }
}
