//! C libraries that are built here and preloaded into commands, where they see every change of a
//! folder (`paths.h` is what they share).

use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds the library of this source, a path below `tests/storage`, into `place`; `None` where
/// there is no C compiler.
pub fn build(source: &str, place: &Path) -> Option<PathBuf> {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/storage");
    let source = sources.join(source);
    let library = place.join(source.with_extension("so").file_name().unwrap());
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let mut compile = Command::new(compiler);
    compile.args([
        "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC", "-pthread", "-I",
    ]);
    let built = compile
        .arg(sources.join("preload"))
        .arg("-o")
        .args([&library, &source])
        .arg("-ldl")
        .output()
        .ok()?;
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    Some(library)
}
