//! What a command does to a folder, in order, recorded by a C library that is built here and
//! preloaded into the command (`trace.c`).

use std::fmt;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::preload;

/// A change below the folder; paths are relative to it, files are named by inode.
pub enum Event {
    Create {
        path: String,
        inode: u64,
    },
    Size {
        inode: u64,
        size: usize,
    },
    Write {
        inode: u64,
        offset: usize,
        bytes: Vec<u8>,
    },
    Rename {
        from: String,
        to: String,
    },
    Link {
        from: String,
        to: String,
    },
    Remove {
        path: String,
    },
    MakeFolder {
        path: String,
        inode: u64,
    },
    Sync {
        inode: u64,
    },
    SyncAll,
    /// A command ended with status 0. Written by the test.
    Acknowledged,
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Create { path, inode } => write!(f, "create {path} ({inode})"),
            Self::Size { inode, size } => write!(f, "size of {inode}: {size}"),
            Self::Write {
                inode,
                offset,
                bytes,
            } => write!(f, "write {} bytes of {inode} at {offset}", bytes.len()),
            Self::Rename { from, to } => write!(f, "rename {from} to {to}"),
            Self::Link { from, to } => write!(f, "link {from} as {to}"),
            Self::Remove { path } => write!(f, "remove {path}"),
            Self::MakeFolder { path, inode } => write!(f, "make folder {path} ({inode})"),
            Self::Sync { inode } => write!(f, "sync {inode}"),
            Self::SyncAll => write!(f, "sync all"),
            Self::Acknowledged => write!(f, "end of the command"),
        }
    }
}

impl Event {
    /// The inode of a folder that is made.
    pub fn new_folder(&self) -> Option<u64> {
        match self {
            Self::MakeFolder { inode, .. } => Some(*inode),
            _ => None,
        }
    }

    /// The path that the event is about; `None` where it names none.
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::Create { path, .. } | Self::Remove { path } | Self::MakeFolder { path, .. } => {
                Some(path)
            }
            Self::Rename { to, .. } | Self::Link { to, .. } => Some(to),
            _ => None,
        }
    }

    /// Whether a crash just before or after it differs from a crash a little earlier or later in
    /// more than the bytes of a file.
    pub fn is_turning_point(&self) -> bool {
        !matches!(self, Self::Size { .. } | Self::Write { .. })
    }
}

/// The library, and the file that it writes.
pub struct Tracer {
    library: PathBuf,
    file: PathBuf,
    folder: PathBuf,
}

const ACKNOWLEDGED: u8 = b'a';

/// How many bytes of a record come before its texts.
const HEADER: usize = 32;

impl Tracer {
    /// Builds the library into `place`, to record what happens below `folder`; `None` where there
    /// is no C compiler.
    pub fn build(place: &Path, folder: &Path) -> Option<Self> {
        let library = preload::build("power_cut/trace.c", place)?;
        let file = place.join("trace");
        fs::write(&file, "").unwrap();
        Some(Self {
            library,
            file,
            folder: folder.canonicalize().unwrap(),
        })
    }

    /// Makes the command record what it does.
    pub fn follow(&self, command: &mut Command) {
        command
            .env("LD_PRELOAD", &self.library)
            .env("TRACE_FOLDER", &self.folder)
            .env("TRACE_FILE", &self.file);
    }

    /// Records that a command ended well.
    pub fn acknowledge(&self) {
        let mut record = [0; HEADER];
        record[0] = ACKNOWLEDGED;
        let mut file = fs::File::options().append(true).open(&self.file).unwrap();
        file.write_all(&record).unwrap();
    }

    /// Everything that was recorded so far.
    pub fn events(&self) -> Vec<Event> {
        let bytes = fs::read(&self.file).unwrap();
        let mut rest = bytes.as_slice();
        let mut events = Vec::new();
        while !rest.is_empty() {
            let (header, after) = rest.split_at(HEADER);
            let long = |at: usize| u64::from_ne_bytes(header[at..at + 8].try_into().unwrap());
            let short = |at: usize| u32::from_ne_bytes(header[at..at + 4].try_into().unwrap());
            let (first, after) = after.split_at(short(24) as usize);
            let (second, after) = after.split_at(short(28) as usize);
            rest = after;
            let number = usize::try_from(long(16)).unwrap();
            events.push(self.event(header[0], long(8), number, first, second));
        }
        events
    }

    fn event(&self, what: u8, inode: u64, number: usize, first: &[u8], second: &[u8]) -> Event {
        let path = |text: &[u8]| {
            let path = Path::new(std::str::from_utf8(text).unwrap());
            let path = path.strip_prefix(&self.folder).unwrap();
            path.to_str().unwrap().to_owned()
        };
        match what {
            b'c' => Event::Create {
                path: path(first),
                inode,
            },
            b's' => Event::Size {
                inode,
                size: number,
            },
            b'w' => Event::Write {
                inode,
                offset: number,
                bytes: first.to_vec(),
            },
            b'r' => Event::Rename {
                from: path(first),
                to: path(second),
            },
            b'l' => Event::Link {
                from: path(first),
                to: path(second),
            },
            b'u' | b'x' => Event::Remove { path: path(first) },
            b'd' => Event::MakeFolder {
                path: path(first),
                inode,
            },
            b'f' => Event::Sync { inode },
            b'F' => Event::SyncAll,
            ACKNOWLEDGED => Event::Acknowledged,
            _ => panic!(
                "the trace cannot express what the command did: {}",
                String::from_utf8_lossy(first)
            ),
        }
    }
}
