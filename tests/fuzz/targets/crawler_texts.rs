//! Lists, indexes, logs and dumps of crawlers and archives: a text is refused, or is read in its
//! order, and every page of it has a normal URL; read as what its first bytes say, it never fails
//! otherwise.

use std::convert::Infallible;
use std::fs;

use seedbank::ingest::{
    Event, Format, Input, InputError, Location, Naming, Position, ReadError, read_batch,
};
use seedbank::watch::Unwatched;

use super::json_lines::is_normal;
use super::{kind, texts};

/// The formats, by the first byte of an input.
const FORMATS: [Format; 8] = [
    Format::Urls,
    Format::Sitemap,
    Format::Cdx,
    Format::Json,
    Format::Nutch,
    Format::Heritrix,
    Format::HeritrixLinks,
    Format::Browsertrix,
];

pub(super) fn run(data: &[u8]) {
    let (kind, text) = kind(data);
    let format = FORMATS.get(usize::from(kind & 15)).cloned();
    let format = format.or_else(|| Format::named("auto")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("input");
    fs::write(&path, text).unwrap();
    let mut sources = format.sources(&[Input::File(path)]);
    let naming = Naming::default();
    let mut last = 0;
    let mut records = 0;
    let normal = |url: &Location| is_normal(url, naming);
    let mut sink = |at: Position, event: Event| {
        let (Position::Line(number) | Position::Record(number)) = at else {
            panic!("a line or a record: {at:?}");
        };
        assert!(number >= last, "{number} after {last}");
        last = number;
        if !event.is_record() {
            return Ok(());
        }
        records += 1;
        match event {
            Event::Record(record) => {
                normal(&record.url);
                if let Some(to) = &record.redirect {
                    normal(to);
                    assert_ne!(*to, record.url);
                }
                let outlinks = record.outlinks.unwrap_or_default();
                assert!(outlinks.is_sorted_by(|a, b| a < b), "{outlinks:?}");
            }
            Event::Outlink { from, to } => {
                normal(&from);
                normal(&to);
                assert_ne!(from, to);
            }
            _ => {}
        }
        Ok::<(), Infallible>(())
    };
    match read_batch(&mut sources, naming, &Unwatched, &mut sink) {
        Ok(summary) => assert_eq!(summary.records, records),
        // A text may begin as if it were compressed.
        Err(ReadError::Input(
            InputError::Format(_)
            | InputError::Columns(_)
            | InputError::Truncated(_)
            | InputError::NotRecords(_)
            | InputError::Damaged { .. },
        )) => {}
        Err(error) => panic!("{error}"),
    }
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = texts(
        &[0, 8],
        &["# x\nhttp://a.example/\tx=1\n+http://(example,\nhttp://b.example/ # y\n"],
    );
    seeds.extend(texts(
        &[1, 8],
        &[
            "<?xml version=\"1.0\"?><!DOCTYPE x [<!ENTITY a \"b\">]><s:urlset xmlns:s=\"x\" xmlns:h=\"http://www.w3.org/1999/xhtml\"><s:url><s:loc>http://a.example/?a&amp;b&#50;<![CDATA[&c]]></s:loc><h:link rel=\"alternate\" href=\"/x\"/></s:url><s:url/></s:urlset>",
            "<sitemapindex><sitemap><loc>http://a.example/</loc></sitemap></sitemapindex>",
        ],
    ));
    seeds.extend(texts(
        &[2, 8],
        &[
            " CDX N b a m s k r V g\nexample,a)/ 20261119040000 http://a.example/ text/html 301 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA /x 1 g\n CDX a s\nhttp://a.example/ 404\n",
            "!x\nexample,a)/ 20261119040000 {\"url\": \"http://a.example/\", \"status\": 200, \"digest\": \"-\", \"mime\": \"warc/revisit\"}\n",
        ],
    ));
    seeds.extend(texts(
        &[3, 8],
        &[
            "[{\"url\": \"http://a.example/\", \"outlinks\": [\"}]\\\"\"]}, 1, \"x\", []]",
            "{\n\"url\": \"http://a.example/\"}{\"url\": \"http://b.example/\"} null",
        ],
    ));
    seeds.extend(texts(
        &[4, 8],
        &[
            "http://a.example/\tVersion: 7\nStatus: 5 (db_redir_perm)\nFetch time: Sat Dec 19 04:00:00 UTC 2026\nRetry interval: 2592000 seconds (30 days)\nSignature: null\nMetadata: \n \t_pst_=moved(12), lastModified=0: http://b.example/\n\n",
            "Url,Status code,Status name,Fetch Time,x\n\"http://a.example/\",2,\"db_fetched\",Sat Dec 19 04:00:00 PDT 2026,x,0,1.5552E7,30.0,1.0,\"9f\",\"_pst_:success(1), lastModified=0|||\"\n",
            "{\"url\": \"http://a.example/\", \"statusCode\": 3, \"statusName\": \"db_gone\", \"fetchTime\": \"x\", \"retriesSinceFetch\": 0, \"metadata\": {\"_pst_\": \"gone(11)\"}}\n",
            "http://b.example/\tInlinks:\n fromUrl: http://a.example/ anchor: x metadata: \n fromUrl: http://b.example/ anchor: \n\n",
        ],
    ));
    seeds.extend(texts(
        &[5, 6, 8],
        &["2026-11-19T04:00:01.123Z   200       1299 http://a.example/x LR http://a.example/ text/html #014 20261119040000574+225 sha1:A - -\n20261119040001123 404 - http://b.example/ 1+L http://a.example/ x #1 - - - 2t\n"],
    ));
    seeds.extend(texts(
        &[7, 8],
        &["{\"format\":\"json-pages-1.0\",\"id\":\"pages\"}\n{\"url\":\"http://a.example/\",\"ts\":\"2026-11-19T04:00:00.000Z\",\"loadState\":0,\"status\":200}\n{\"url\":\"http://b.example/\",\"reason\":\"robotsTxt\",\"ts\":\"2026-11-19T04:00:00.000Z\"}\n"],
    ));
    seeds
}
