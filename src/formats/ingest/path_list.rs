//! Lists of the paths of inputs, as Common Crawl publishes them.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use super::open::{Input, InputError};
use super::progress::Progress;
use super::source::Stop;
use seedbank_algorithms::watch::Watch;

/// The most bytes of a list; that of a whole crawl of Common Crawl has 15 MB.
const MAX_LIST: usize = 256 << 20;

/// The most bytes of a path: more than any system and any server accepts.
const MAX_PATH: usize = 16 << 10;

/// Bytes read at a time.
const CHUNK: usize = 1 << 20;

/// Returns the inputs of a list of paths, one per line. Each is appended to `base`, after a slash; `None` if the
/// paths are whole. Blank lines and those that begin with `#` are skipped.
pub fn path_list(list: &Input, base: Option<&str>, watch: &dyn Watch) -> Result<Vec<Input>, Stop> {
    let mut opened = list.open(&Progress::new(watch))?;
    let mut text = Vec::new();
    let mut chunk = vec![0; CHUNK];
    loop {
        watch.proceed()?;
        let (length, failed) = opened.fill(&mut chunk);
        text.extend_from_slice(chunk.get(..length).unwrap_or_default());
        if let Some(error) = failed {
            return Err(opened.error(error, 0).into());
        }
        if text.len() > MAX_LIST {
            let error = InputError::TooMuchMemory {
                file: list.to_string(),
                what: "more paths than a list may have".to_owned(),
                max: MAX_LIST,
            };
            return Err(error.into());
        }
        if length < chunk.len() {
            break;
        }
    }
    let base = base.map(|base| base.trim_end_matches('/'));
    let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let paths = lines.zip(1..);
    let paths = paths.filter(|(line, _)| !line.is_empty() && !line.starts_with(b"#"));
    let inputs = paths.map(|(path, line)| {
        let mut whole = Vec::new();
        let mut path = path;
        if let Some(base) = base {
            whole.extend_from_slice(base.as_bytes());
            whole.push(b'/');
            path = path.strip_prefix(b"/").unwrap_or(path);
        }
        whole.extend_from_slice(path);
        if whole.len() > MAX_PATH {
            return Err(InputError::LongPath {
                list: list.to_string(),
                line,
                bytes: whole.len(),
                max: MAX_PATH,
            });
        }
        Ok(Input::File(OsString::from_vec(whole).into()))
    });
    Ok(inputs.collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use seedbank_algorithms::watch::Unwatched;

    #[test]
    fn paths_are_appended_to_the_base() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("list");
        std::fs::write(&list, "a/b.gz\r\n\n# c\n/d.gz").unwrap();
        let list = Input::File(list);
        let read = |base| path_list(&list, base, &Unwatched).unwrap();
        let files = |names: &[&str]| -> Vec<Input> {
            names.iter().map(|name| Input::File(name.into())).collect()
        };
        assert_eq!(
            read(Some("s3://b/")),
            files(&["s3://b/a/b.gz", "s3://b/d.gz"])
        );
        assert_eq!(read(Some("data")), files(&["data/a/b.gz", "data/d.gz"]));
        assert_eq!(read(None), files(&["a/b.gz", "/d.gz"]));
    }

    #[test]
    fn a_path_that_nothing_accepts_is_refused_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("list");
        std::fs::write(&list, format!("# c\na.gz\n{}\n", "x".repeat(70_000))).unwrap();
        let read = path_list(&Input::File(list), Some("http://h/"), &Unwatched);
        let Err(Stop::Input(error)) = read else {
            panic!("{read:?}");
        };
        let expected = InputError::LongPath {
            list: folder.path().join("list").display().to_string(),
            line: 3,
            bytes: 70_009,
            max: 16_384,
        };
        assert_eq!(error.to_string(), expected.to_string());
    }
}
