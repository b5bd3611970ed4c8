use super::*;

fn links(page: &str) -> Vec<String> {
    let html = Html::read(page.as_bytes());
    html.links().map(|(link, _)| link.to_owned()).collect()
}

#[test]
fn links_are_those_that_a_reader_can_follow() {
    for (page, found) in [
        (
            "<a href=/a>a</a><AREA HREF='/b'><a href=\"/c?x=1&amp;y=2\">",
            &["/a", "/b", "/c?x=1&y=2"][..],
        ),
        ("<a name=x><a href><a href=''>", &["", ""]),
        ("<a href=/a href=/b>", &["/a"]),
        ("<script>'<a href=/a>'</script><a href=/b>", &["/b"]),
        (
            "<script><!-- <script> </script> <a href=/a> --></script><a href=/b>",
            &["/b"],
        ),
        (
            "<style><a href=/a></style><title><a href=/b></title><textarea><a href=/c></textarea>",
            &[],
        ),
        ("<!-- <a href=/a> --><a href=/b>", &["/b"]),
        (
            "<noscript><a href=/a></noscript><template><a href=/b></template>",
            &["/a", "/b"],
        ),
        (
            "<noframes><a href=/a></noframes><iframe><a href=/b></iframe>",
            &["/a"],
        ),
        (
            "<svg><title/><style/><script/><a href=/a></svg><a href=/b>",
            &["/a", "/b"],
        ),
        ("<svg/><title><a href=/a></title>", &[]),
        ("<svg><p><title><a href=/a></title>", &[]),
        (
            "<svg><foreignObject><title><a href=/a></title></foreignObject><title/><a href=/b>",
            &["/b"],
        ),
        ("<math><![CDATA[<a href=/a>]]></math><a href=/b>", &["/b"]),
        ("<title>x</TITLE ><a href=/a", &[]),
        ("<a\nhref = /a >", &["/a"]),
        ("<a href='/&#x61;&eacute;&notit;'>", &["/a\u{e9}&notit;"]),
        ("</a href=/a>", &[]),
        ("<svg><svg></svg><title/></svg><a href=/a>", &["/a"]),
        // An element of HTML that ends, ends what is open in it.
        ("<div><svg></div><title><a href=/a></title>", &[]),
        ("<span><svg><g></span><title><a href=/a></title>", &[]),
        ("<h1><math></h2><title><a href=/a></title>", &[]),
        ("<table><td><svg></table><title><a href=/a></title>", &[]),
        ("<svg></p><title><a href=/a></title>", &[]),
        // None is open that would, or not up to there.
        ("<svg></div><title/><a href=/a>", &["/a"]),
        ("<span><div><svg></span><title/><a href=/a>", &["/a"]),
        ("<div><td><svg></div><title/><a href=/a>", &["/a"]),
        ("<a><svg><a></a><title/><a href=/a>", &["/a"]),
        ("<form><svg></form><title/><a href=/a>", &["/a"]),
        ("<ul><li><svg></ul><title><a href=/a></title>", &[]),
        ("<li><ul><svg></li><title/><a href=/a>", &["/a"]),
        (
            "<svg><foreignObject><div></svg><title><a href=/a></title>",
            &[],
        ),
        (
            "<svg><desc><title><a href=/a></title></desc><title/><a href=/b>",
            &["/b"],
        ),
        ("<link href=/a><img src=/b><iframe src=/c></iframe>", &[]),
        // What leads on from a page without a link in its text.
        (
            "<frameset><frame src=/a><FRAME SRC='/b'></frameset>",
            &["/a", "/b"],
        ),
        (
            "<link rel=next href=/a><link rel='Prev' href=/b><link rel=alternate hreflang=de href=/c>",
            &["/a", "/b", "/c"],
        ),
        (
            "<link rel='alternate stylesheet' href=/a><link rel=icon href=/b>",
            &[],
        ),
        (
            "<meta http-equiv=Refresh content=\"0; URL='/a'\"><meta http-equiv=refresh content=30>",
            &["/a"],
        ),
        ("<meta name=refresh content='0;url=/a'>", &[]),
    ] {
        assert_eq!(links(page), found, "{page}");
    }
    let odd = Html::read(b"<a href='/\xff\xe2\x82'>");
    assert_eq!(odd.links().collect::<Vec<_>>(), [("/\u{fffd}\u{fffd}", "")]);
}

#[test]
fn heads_say_what_links_are_relative_to() {
    let html = Html::read(
        b"<base target=x><base href=/x/><base href=/y/>\
              <link rel=stylesheet href=/s><link rel='alternate CANONICAL' href=z><link rel=canonical href=zz>\
              <meta name=Robots content='noindex, NoFollow'><a rel=' me nofollow' href=q>",
    );
    assert_eq!(html.base.as_deref(), Some("/x/"));
    assert_eq!(html.canonical.as_deref(), Some("z"));
    assert!(html.asks_not_to_follow);
    assert_eq!(html.links().collect::<Vec<_>>(), [("q", " me nofollow")]);
    assert!(!Html::read(b"<meta name=keywords content=none>").asks_not_to_follow);
}
