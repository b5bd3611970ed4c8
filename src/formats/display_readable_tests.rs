use proptest::prelude::*;
use url::Url;

use super::*;

/// A URL as the standard writes it.
fn written(path: &str) -> String {
    Url::parse(&format!("https://a.example/{path}"))
        .unwrap()
        .into()
}

#[test]
fn words_are_decoded_where_they_are_clear() {
    for word in [
        "café",
        "Müller",
        "Łódź",
        "naïve",
        "Ελλάδα",
        "Москва",
        "їжак",
        "สวัสดี",
        "น้ำ",
        "ก็",
        "日本語",
        "ひらがな",
        "東京タワー",
        "서울",
        "日本2026abc",
        "x?q=été&r=naïve",
        "Köln/Straße",
    ] {
        let url = written(word);
        assert!(url.contains('%'), "{url}");
        assert_eq!(readable(&url), format!("https://a.example/{word}"));
    }
}

#[test]
fn what_could_be_something_else_stays() {
    for word in [
        // Greek or Cyrillic that could be ASCII, or stands beside it.
        "раураl",
        "соса",
        "НОТЕ",
        "ΚΑΙ",
        "Αpple",
        "Москваx",
        // Signs that look like those of a URL.
        "a／b",
        "a∕b",
        "aノb",
        "一",
        "ー",
        "a․b",
        "a⁄b",
        "x＝1",
        // Directions, blanks, invisible ones, controls, accents on their own, others.
        "\u{202e}fdp",
        "a\u{a0}b",
        "a\u{200b}b",
        "a\u{3000}b",
        "a\u{85}b",
        "e\u{301}",
        "\u{feff}x",
        "שלום",
        "سلام",
        "हिन्दी",
        "😀",
        "ﬁ",
        "Å\u{212b}",
        "ſ",
        "ı",
        "²",
        "café\u{301}",
        // Marks where none is written, and letters that two others give.
        "ก่่",
        "เเ",
        "ํา",
        "่ก",
        // Two scripts in a word.
        "éя",
        "日본",
    ] {
        let url = written(word);
        assert!(url.contains('%'), "{word:?} {url}");
        assert_eq!(readable(&url), url, "{word:?}");
    }
    for url in [
        "https://a.example/%C3%A",
        "https://a.example/%c3%a9",
        "https://a.example/%C3",
        "https://a.example/%E0%A4",
        "https://a.example/a%20b%2Fc%25C3%A9%00%0A",
        "https://xn--bcher-kva.example/",
        "ftp://a.example/caf%C3%A9",
        "caf%C3%A9",
    ] {
        assert_eq!(readable(url), url);
    }
}

#[test]
fn only_urls_of_a_text_are_decoded() {
    assert_eq!(
        readable("50%C3%A9 of https://a.example/%C3%A9, http://b.example/%C3%BC\n%C3%A9"),
        "50%C3%A9 of https://a.example/é, http://b.example/ü\n%C3%A9"
    );
}

proptest! {
    /// Decoded and parsed again it is the same URL, and nothing in it steers.
    #[test]
    fn what_is_shown_gives_the_same_url_back(
        path in "([a-zа-яα-ωก-๛é-ž一-乐ノー\u{202e}\u{301} /?&=%.\u{1f980}]|%[0-9A-Fa-f]{2}){0,20}"
    ) {
        let url = written(&path);
        let shown = readable(&url);
        prop_assert!(!shown.chars().any(crate::display::is_invisible_control), "{}", shown);
        prop_assert_eq!(String::from(Url::parse(&shown).unwrap()), url);
    }

    #[test]
    fn any_text_is_shown(text in ".{0,60}", url in "https://[a-zA-F0-9%/]{0,40}") {
        let _ = readable(&text);
        let _ = readable(&url);
    }
}
