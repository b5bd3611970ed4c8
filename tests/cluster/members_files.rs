//! Reading of members files: values, defaults, and a message for each kind of wrong file.

use std::fs;
use std::process::Command;
use std::thread;
use std::time::Duration;

use crate::support::{Folder, messages};

#[test]
fn values_and_defaults_are_read() {
    let folder = Folder::new(1, "");
    let text = r#"
        secret = "secret.txt"
        patience = 7
        [[process]]
        address = "10.0.0.1:7101"
        banks = "0-2,8"
        [[process]]
        address = "[::1]:7101"
        banks = "3"
    "#;
    fs::write(folder.path("members.toml"), text).unwrap();
    let members = folder.members();
    let processes = members.processes();
    assert_eq!(processes.len(), 2);
    assert_eq!(processes[0].address(), "10.0.0.1:7101");
    assert_eq!(processes[0].banks(), [0, 1, 2, 8]);
    assert_eq!(processes[1].banks(), [3]);
    assert_eq!(
        [8, 3, 4].map(|bank| members.process_of(bank)),
        [Some(0), Some(1), None]
    );
    assert_eq!(members.deadline(), Duration::from_secs(30));
    assert_eq!(members.patience(), Duration::from_secs(7));
}

#[test]
fn wrong_files_are_explained() {
    const FIRST: &str = "[[process]]\naddress = \"a:1\"\nbanks = \"0-3\"\n";
    let with = |text: &str| format!("secret = \"secret.txt\"\n{FIRST}{text}");
    let process = |address: &str, banks: &str| {
        with(&format!(
            "[[process]]\naddress = {address:?}\nbanks = {banks:?}\n"
        ))
    };
    let folder = Folder::new(1, "");
    for (text, expected) in [
        (
            "secret = ".to_owned(),
            "line 1: string values must be quoted, expected literal string",
        ),
        (FIRST.to_owned(), "missing field `secret`"),
        (
            with("port = 1"),
            "line 5: unknown field `port`, expected `address` or `banks`",
        ),
        (
            format!("sekret = 1\n{FIRST}"),
            "unknown field `sekret`, expected one of `secret`, `deadline`, `patience`, `process`",
        ),
        (
            with("[[process]]\naddress = \"b:1\""),
            "line 5: missing field `banks`",
        ),
        (
            "secret = \"secret.txt\"".to_owned(),
            "expected at least one [[process]], found none",
        ),
        (
            format!("deadline = -1\n{}", with("")),
            "line 1: invalid value: integer `-1`, expected u64",
        ),
        (
            format!("deadline = 0\n{}", with("")),
            "deadline: expected 1 to 86400 seconds, found 0",
        ),
        (
            format!("patience = 86401\n{}", with("")),
            "patience: expected 1 to 86400 seconds, found 86401",
        ),
        (
            process("b", "4"),
            r#"process 1: expected an address such as 10.0.0.1:7101, found "b""#,
        ),
        (
            process(":1", "4"),
            r#"process 1: expected an address such as 10.0.0.1:7101, found ":1""#,
        ),
        (
            process("::1:1", "4"),
            r#"process 1: expected an address such as 10.0.0.1:7101, found "::1:1""#,
        ),
        (
            process("b:0", "4"),
            r#"process 1: expected an address such as 10.0.0.1:7101, found "b:0""#,
        ),
        (
            process("b:65536", "4"),
            r#"process 1: expected an address such as 10.0.0.1:7101, found "b:65536""#,
        ),
        (
            process("b:1", "x"),
            r#"the banks of process 1 are invalid: expected banks such as "0-15", "3" or "0-3,8", found "x""#,
        ),
        (
            process("b:1", "4,4"),
            "the banks of process 1 are invalid: bank 4 is listed twice",
        ),
        (
            process("a:1", "4"),
            "a:1 is the address of process 0 and of process 1",
        ),
        (
            process("b:1", "4-5,2"),
            "bank 2 belongs to process 0 and to process 1",
        ),
        (
            with("").replace("0-3", "1-3"),
            r#"process 0: expected bank 0 among its banks, found "1-3""#,
        ),
    ] {
        fs::write(folder.path("wrong.toml"), &text).unwrap();
        let messages = messages(&folder.read("wrong.toml").unwrap_err());
        let path = folder.path("wrong.toml");
        assert_eq!(
            messages[0],
            format!("the members file {} is invalid", path.display())
        );
        assert_eq!(messages[1..].join(": "), expected, "{text}");
    }
    let error = messages(&folder.read("absent.toml").unwrap_err()).split_off(1);
    assert_eq!(
        error,
        [
            "it cannot be read",
            "No such file or directory (os error 2)"
        ]
    );
}

#[test]
fn wrong_secrets_are_explained() {
    let folder = Folder::new(1, "");
    let path = |name: &str| folder.path(name).display().to_string();
    folder.write_secret("open", "a secret of 24 characters", 0o640);
    folder.write_secret("short", "   15 characters\n\n\n\n", 0o600);
    folder.write_secret("long", &"x".repeat(70_000), 0o400);
    for (name, expected) in [
        (
            "open",
            format!(
                "the secret file {} is accessible to other users: expected mode 600 or 400, found 640",
                path("open")
            ),
        ),
        (
            "short",
            format!(
                "the secret file {}: expected 16 to 65536 bytes without surrounding white space, found 13",
                path("short")
            ),
        ),
        (
            "long",
            format!(
                "the secret file {}: expected 16 to 65536 bytes without surrounding white space, found 65537",
                path("long")
            ),
        ),
        (
            "absent",
            format!(
                "the secret file {} cannot be read: No such file or directory (os error 2)",
                path("absent")
            ),
        ),
    ] {
        folder.write_members("wrong.toml", 1, name, "");
        let messages = messages(&folder.read("wrong.toml").unwrap_err());
        assert_eq!(messages[1..].join(": "), expected);
    }
}

#[test]
fn pipes_are_read_and_not_waited_for_without_end() {
    let folder = Folder::new(1, "");
    let pipe = |name: &str| {
        let made = Command::new("mkfifo")
            .args(["-m", "600"])
            .arg(folder.path(name))
            .status();
        assert!(made.is_ok_and(|made| made.success()));
    };
    for name in ["written", "silent", "silent.toml"] {
        pipe(name);
    }
    folder.write_members("written.toml", 1, "written", "");
    folder.write_members("waits.toml", 1, "silent", "");
    thread::scope(|scope| {
        for (file, wrong) in [
            ("waits.toml", "the secret file"),
            ("silent.toml", "it cannot be read"),
        ] {
            let folder = &folder;
            scope.spawn(move || {
                let messages = messages(&folder.read(file).unwrap_err()).join(": ");
                assert!(messages.contains(wrong), "{messages}");
                assert!(messages.ends_with("did not end within 10 s"), "{messages}");
            });
        }
        scope.spawn(|| fs::write(folder.path("written"), "a secret of 24 characters"));
        folder.read("written.toml").unwrap();
    });
}

#[test]
fn the_secret_is_not_in_debug_output() {
    let folder = Folder::new(1, "");
    assert!(format!("{:?}", folder.members()).contains("key: Key(..)"));
}
