//! `.ci/rocksdb/c++`, which `make` puts before the compiler: a fake compiler notes what it is asked for.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

use super::root;

/// The files of a made-up RocksDB; more than there are units, and no multiple.
const FILES: usize = 23;

/// Two that are not compiled: the crate has its own of the first, and no program uses the second.
const LEFT_OUT: [&str; 2] = ["util/build_version.cc", "tools/dump/db_dump_tool.cc"];

/// Returns the version of librocksdb-sys that the script names, or that Cargo.lock has.
fn version(file: &str, before: &str) -> String {
    let text = fs::read_to_string(root().join(file)).unwrap();
    let after = text.split_once(before).unwrap().1;
    after.split('"').next().unwrap().to_owned()
}

fn checked() -> String {
    version(".ci/rocksdb/c++", "checked=\"")
}

/// The folder of a crate, and a compiler that notes the files that it is given.
struct Crate {
    folder: tempfile::TempDir,
}

impl Crate {
    /// A compiler that refuses files whose names contain `refused`.
    fn new(refused: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("bin")).unwrap();
        let compiler = folder.path().join("bin/c++");
        let script = format!(
            "#!/bin/sh\necho \"$*\" >>calls\nfor a in \"$@\"; do\n\
             case $a in {refused}) echo 'error: redefinition' >&2; exit 1 ;; esac\n\
             [ \"$p\" = -o ] && : >\"$a\"\np=$a\ndone\nexit 0\n"
        );
        fs::write(&compiler, script).unwrap();
        fs::set_permissions(&compiler, fs::Permissions::from_mode(0o755)).unwrap();
        let mut files: Vec<String> = (0..FILES).map(|n| format!("db/file{n}.cc")).collect();
        LEFT_OUT[0].clone_into(&mut files[15]);
        LEFT_OUT[1].clone_into(&mut files[18]);
        fs::write(
            folder.path().join("rocksdb_lib_sources.txt"),
            files.join("\n") + "\n",
        )
        .unwrap();
        Self { folder }
    }

    fn files(&self) -> Vec<String> {
        self.read("rocksdb_lib_sources.txt")
    }

    /// Compiles a file as the crate's build script does.
    fn compile(&self, package: &str, version: &str, file: &str, object: &str) -> Output {
        let folder = self.folder.path().join("bin");
        let script = root().join(".ci/rocksdb");
        Command::new(script.join("c++"))
            .args(["-O1", "-DNDEBUG=1", "-o", object, "-c"])
            .arg(format!("rocksdb/{file}"))
            .current_dir(self.folder.path())
            .env(
                "PATH",
                format!("{}:{}:/usr/bin:/bin", script.display(), folder.display()),
            )
            .env("CARGO_PKG_NAME", package)
            .env("CARGO_PKG_VERSION", version)
            .output()
            .unwrap()
    }

    /// Compiles all files; returns what was written to standard error.
    fn compile_all(&self) -> String {
        let mut stderr = String::new();
        for (n, file) in self.files().iter().enumerate() {
            if file == LEFT_OUT[0] {
                continue;
            }
            let output = self.compile("librocksdb-sys", &checked(), file, &format!("{n}.o"));
            stderr += &String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{file}: {stderr}");
            assert!(self.folder.path().join(format!("{n}.o")).exists(), "{file}");
        }
        stderr
    }

    fn read(&self, name: &str) -> Vec<String> {
        let text = fs::read_to_string(self.folder.path().join(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

#[test]
fn the_version_that_was_checked_is_the_one_in_use() {
    let locked = version("Cargo.lock", "name = \"librocksdb-sys\"\nversion = \"");
    assert_eq!(
        checked(),
        locked,
        "read what .ci/rocksdb/names.py prints for {locked} (.github/CONTRIBUTING.md), then name it in .ci/rocksdb/c++"
    );
}

#[test]
fn every_file_that_is_used_is_compiled_once_with_the_same_flags() {
    let rocksdb = Crate::new("none");
    assert_eq!(rocksdb.compile_all(), "");
    let calls = rocksdb.read("calls");
    let units: Vec<&String> = calls.iter().filter(|call| call.contains(".o.cc")).collect();
    assert_eq!(units.len(), 4, "{calls:?}");
    for unit in units {
        assert!(unit.starts_with("-O1 -DNDEBUG=1 "), "{unit}");
    }
    assert!(
        !calls.iter().any(|call| call.contains("rocksdb/")),
        "{calls:?}"
    );
    let mut included: Vec<String> = Vec::new();
    for n in 0..FILES {
        included.extend(rocksdb.read(&format!("{n}.o.cc")));
    }
    let expected: Vec<String> = rocksdb
        .files()
        .iter()
        .filter(|file| !LEFT_OUT.contains(&file.as_str()))
        .map(|file| format!("#include \"rocksdb/{file}\""))
        .collect();
    assert_eq!(included, expected);
}

#[test]
fn files_that_do_not_compile_together_are_compiled_alone() {
    let rocksdb = Crate::new("2.o.cc");
    let stderr = rocksdb.compile_all();
    assert!(
        stderr.contains(
            "RocksDB: compiling file by file what does not compile together (part 3 of 4)"
        ),
        "{stderr}"
    );
    let together: BTreeSet<String> = rocksdb.read("2.o.cc").into_iter().collect();
    let calls = rocksdb.read("calls");
    let alone: BTreeSet<String> = calls
        .iter()
        .flat_map(|call| call.split(' '))
        .filter(|argument| argument.starts_with("rocksdb/"))
        .map(|file| format!("#include \"{file}\""))
        .collect();
    assert!(!together.is_empty());
    assert_eq!(alone, together);
    assert!(
        calls
            .iter()
            .any(|call| call.starts_with("-r ") && call.ends_with("-o 2.o")),
        "{calls:?}"
    );
}

#[test]
fn a_file_that_does_not_compile_at_all_is_an_error() {
    let rocksdb = Crate::new("1.o.cc|rocksdb/db/file7.cc");
    let output = rocksdb.compile("librocksdb-sys", &checked(), "db/file1.cc", "1.o");
    assert_eq!(output.status.code(), Some(1));
    assert!(!rocksdb.folder.path().join("1.o").exists());
}

#[test]
fn another_version_and_other_packages_are_compiled_as_they_are() {
    let rocksdb = Crate::new("none");
    let call = |file: &str| format!("-O1 -DNDEBUG=1 -o x.o -c rocksdb/{file}");
    let first = rocksdb.files()[0].clone();
    let output = rocksdb.compile("librocksdb-sys", "0.0.1+0.0.1", &first, "x.o");
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        format!(
            "RocksDB: compiling file by file; together, only {} has been checked, on Linux\n",
            checked()
        )
    );
    rocksdb.compile("zstd-sys", &checked(), &first, "x.o");
    rocksdb.compile("librocksdb-sys", &checked(), "db/unlisted.cc", "x.o");
    assert_eq!(
        rocksdb.read("calls"),
        [call(&first), call(&first), call("db/unlisted.cc")]
    );
}
