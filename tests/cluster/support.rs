//! Members files in temporary folders, and members that run as threads.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{Scope, ScopedJoinHandle};

use seedbank_cluster::{Agreement, ClusterError, Handler, Members, Outcome, Stop, join};
use tempfile::TempDir;

/// A command that is not interrupted.
pub(crate) fn never() -> bool {
    false
}

/// A member that serves until the end of the command.
pub(crate) fn to_the_end() -> Option<Stop> {
    None
}

/// A folder with a members file and a secret.
pub(crate) struct Folder {
    dir: TempDir,
    pub(crate) address: String,
}

impl Folder {
    /// Writes a members file with one bank per process, and `settings` such as `deadline = 1`.
    pub(crate) fn new(processes: usize, settings: &str) -> Self {
        let folder = Self {
            dir: TempDir::new().unwrap(),
            address: free_address(),
        };
        folder.write_secret("secret.txt", "a secret of 24 characters\n", 0o600);
        folder.write_members("members.toml", processes, "secret.txt", settings);
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn write_secret(&self, name: &str, secret: &str, mode: u32) {
        fs::write(self.path(name), secret).unwrap();
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    pub(crate) fn write_members(&self, name: &str, processes: usize, secret: &str, settings: &str) {
        let addresses: Vec<_> = (0..processes)
            .map(|process| self.address_of(process))
            .collect();
        self.write_addresses(name, &addresses, secret, settings);
    }

    pub(crate) fn write_addresses(
        &self,
        name: &str,
        addresses: &[String],
        secret: &str,
        settings: &str,
    ) {
        let mut text = format!("secret = {secret:?}\n{settings}\n");
        for (process, address) in addresses.iter().enumerate() {
            write!(
                text,
                "[[process]]\naddress = {address:?}\nbanks = \"{process}\"\n"
            )
            .unwrap();
        }
        fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn address_of(&self, process: usize) -> String {
        match process {
            0 => self.address.clone(),
            _ => format!("member{process}.test:7101"),
        }
    }

    pub(crate) fn members(&self) -> Members {
        self.read("members.toml").unwrap()
    }

    pub(crate) fn read(&self, name: &str) -> Result<Members, ClusterError> {
        Members::read(&self.path(name))
    }
}

/// Returns an address of this machine that no other test uses: Linux accepts all of 127.0.0.0/8.
fn free_address() -> String {
    static COUNT: AtomicUsize = AtomicUsize::new(1);
    let (pid, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    assert!(count < 255);
    format!("127.{}.{}.{count}:7101", 1 + (pid >> 8) % 254, pid % 256)
}

pub(crate) fn agreement() -> Agreement {
    Agreement::new([("version", "1"), ("command", "refresh")])
}

/// Starts a member of process 0 as a thread that serves with two threads.
pub(crate) fn start_member<'scope>(
    scope: &'scope Scope<'scope, '_>,
    members: &'scope Members,
    process: usize,
    handler: &'scope Handler<'_>,
) -> ScopedJoinHandle<'scope, Result<Outcome, ClusterError>> {
    scope.spawn(move || {
        join(members, process, 0, &agreement(), &never)?.serve(handler, 2, &to_the_end)
    })
}

/// The messages of an error and its causes.
pub(crate) fn messages(error: &(dyn Error + 'static)) -> Vec<String> {
    let causes = std::iter::successors(Some(error), |&error| error.source());
    causes.map(ToString::to_string).collect()
}
