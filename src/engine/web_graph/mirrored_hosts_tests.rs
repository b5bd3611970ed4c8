use super::*;

/// A host with its pages: path, content if the page is crawled.
type Host<'a> = &'a [(&'a str, Option<u8>)];

/// Finds mirrored hosts among hosts that are numbered in this order.
fn find(hosts: &[Host<'_>], redirects: &[[u32; 2]]) -> OfSite {
    let mut crawled = Vec::new();
    let mut pages = Vec::new();
    for (host, of_host) in (0..).zip(hosts) {
        for (path, content) in *of_host {
            let digest = content.map(|content| [content; 16]);
            pages.push(HostPage::new(
                host,
                &format!("http://{host}/{path}"),
                digest,
            ));
            crawled.push(content.is_some());
        }
    }
    OfSite::find(&pages, |place| Some(crawled[place as usize]), redirects)
}

#[test]
fn pages_that_are_not_crawled_are_taken_for_their_twins() {
    let one: Host<'_> = &[("a", Some(1)), ("b", Some(2)), ("c", None), ("e", None)];
    let other: Host<'_> = &[("a", Some(1)), ("b", None), ("c", None), ("d", None)];
    let found = find(&[one, other], &[]);
    assert_eq!(found.hosts, [([0, 1], 1, 0)]);
    let mut taken_for = found.taken_for.clone();
    taken_for.sort_unstable();
    // `b` of the other host for that of the first one, which is crawled; of `c`, none is.
    assert_eq!(taken_for, [[5, 1], [6, 2]]);
    let named = found.named(|host| ["one", "other"][host as usize]);
    assert_eq!((named[0].equal, named[0].taken), (1, 2));
}

#[test]
fn hosts_part_when_their_contents_do() {
    let one: Host<'_> = &[("a", Some(1)), ("b", Some(2)), ("c", Some(3))];
    let other: Host<'_> = &[("a", Some(1)), ("b", Some(5)), ("c", Some(4)), ("d", None)];
    let found = find(&[one, other], &[]);
    assert!(found.hosts.is_empty() && found.taken_for.is_empty());
    // The same content everywhere, such as an error page, counts once.
    let paths: Vec<String> = (0..20).map(|path| path.to_string()).collect();
    let errors: Vec<(&str, Option<u8>)> = paths.iter().map(|path| (&**path, Some(9))).collect();
    let found = find(&[&errors, &errors], &[]);
    assert_eq!(found.hosts, [([0, 1], 1, 0)]);
}

#[test]
fn a_redirect_to_the_same_path_is_equal_content() {
    let http: Host<'_> = &[("a", None), ("b", None), ("c", None)];
    let https: Host<'_> = &[("a", Some(1)), ("b", Some(2)), ("c", None)];
    assert!(find(&[http, https], &[]).hosts.is_empty());
    assert!(find(&[http, https], &[[0, 4]]).hosts.is_empty());
    let found = find(&[http, https], &[[0, 3], [1, 4]]);
    assert_eq!(found.hosts, [([0, 1], 2, 0)]);
    assert!(found.taken_for.contains(&[5, 2]));
}

#[test]
fn mirrors_of_one_host_are_mirrors_of_each_other() {
    let hosts: [Host<'_>; 3] = [
        &[("b", Some(2)), ("x", None)],
        &[("a", Some(1)), ("x", None)],
        &[("a", Some(1)), ("b", Some(2)), ("x", None)],
    ];
    let mut taken_for = find(&hosts, &[]).taken_for;
    taken_for.sort_unstable();
    assert_eq!(taken_for, [[3, 1], [6, 1]]);
}
