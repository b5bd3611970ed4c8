use super::*;

/// Begins a file with new bytes.
fn begun(folder: &Path, name: &str) -> AtomicFile {
    let destination = Destination::new("--out", &folder.join(name), Path::new("/no/bank"));
    let mut file = AtomicFile::new(destination.unwrap()).unwrap();
    file.write_all(b"new").unwrap();
    file
}

fn read(folder: &Path, name: &str) -> Option<String> {
    fs::read_to_string(folder.join(name)).ok()
}

fn names(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

#[test]
fn two_files_get_their_names_together() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("a"), "old").unwrap();
    persist_all([begun(folder, "a"), begun(folder, "b")]).unwrap();
    assert_eq!(read(folder, "a").as_deref(), Some("new"));
    assert_eq!(read(folder, "b").as_deref(), Some("new"));
    assert_eq!(names(folder), 2);
}

/// The second place becomes a folder, which a file cannot replace.
#[test]
fn where_the_second_fails_the_first_is_rolled_back() {
    for was_there in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        if was_there {
            fs::write(folder.join("a"), "old").unwrap();
        }
        let files = [begun(folder, "a"), begun(folder, "b")];
        fs::create_dir(folder.join("b")).unwrap();
        let error = persist_all(files).unwrap_err();
        assert!(matches!(&error, CliError::File { path, .. } if path.ends_with("b")));
        assert_eq!(read(folder, "a").as_deref(), was_there.then_some("old"));
        assert_eq!(names(folder), 1 + usize::from(was_there));
    }
}

#[test]
fn where_the_first_cannot_be_rolled_back_it_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let persisted = Persisted {
        path: at("a"),
        place: at("a"),
        replaced: Replaced::Unsaved,
    };
    let failed = failed(&at("b"))(io::Error::other("no"));
    let text = roll_back(vec![persisted], &at("b"), failed).text();
    assert!(text.ends_with("b: no"), "{text}");
    assert!(text.contains("/a was replaced"), "{text}");
}
