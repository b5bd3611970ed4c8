//! A file system of which it is known what survives a crash.
//!
//! The bytes of a file last once the file is synced, a name in a folder once the folder is synced,
//! as POSIX promises and no more: syncing a file does not make its name last. What is not synced
//! may survive or not, each page of 4096 bytes and each name independently. Most file systems
//! promise more about names: a journal keeps their order, and syncing anything makes all earlier
//! ones last ([`Kept::Journal`]). A rename is one step, even between folders.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::hash::{Hash, Hasher};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::trace::Event;

/// How many bytes of a file survive together.
pub const PAGE: usize = 4096;

/// How much survives of all that is not synced.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kept {
    Nothing,
    /// Any part, drawn from this number.
    Some(u64),
    /// Of names only the last one, as if the disk took them in the wrong order, and any part of the
    /// bytes.
    Last(u64),
    /// Names up to some moment, drawn from this number, and any part of the bytes.
    Journal(u64),
    /// As if only the process had been killed.
    Everything,
}

/// The index of a file or folder in [`Disk::nodes`].
type NodeId = usize;

#[derive(Clone)]
enum Node {
    Folder(BTreeMap<String, NodeId>),
    File {
        synced: Vec<u8>,
        /// The changes since it was synced, in order.
        changes: Vec<Change>,
        now: Vec<u8>,
    },
}

#[derive(Clone)]
enum Change {
    Write(usize, Vec<u8>),
    Size(usize),
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>, mut is_kept: impl FnMut() -> bool) {
        match self {
            Self::Size(size) if is_kept() => bytes.resize(*size, 0),
            Self::Size(_) => {}
            Self::Write(offset, written) => {
                let (mut at, end) = (*offset, offset + written.len());
                while at < end {
                    let until = end.min((at / PAGE + 1) * PAGE);
                    if is_kept() {
                        if bytes.len() < until {
                            bytes.resize(until, 0);
                        }
                        bytes[at..until].copy_from_slice(&written[at - offset..until - offset]);
                    }
                    at = until;
                }
            }
        }
    }
}

/// A change of names, in one step.
#[derive(Clone)]
struct Naming {
    /// Folder, name in it, and what has the name from now on.
    names: Vec<(NodeId, String, Option<NodeId>)>,
    is_synced: bool,
}

/// The file system below one folder, which is node 0.
#[derive(Clone)]
pub struct Disk {
    nodes: Vec<Node>,
    inodes: HashMap<u64, NodeId>,
    /// Everything that ever happened to names.
    namings: Vec<Naming>,
    /// How many of them come before the last sync of anything.
    journaled: usize,
}

/// The contents of a folder: for each path, parents first, what it is.
pub type Listing = BTreeMap<String, Listed>;

/// A folder or a file; equal numbers are hard links.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Listed {
    Folder,
    File { number: u64, bytes: Vec<u8> },
}

impl Disk {
    /// What is in this folder, all of it synced.
    pub fn of(folder: &Path) -> Self {
        let mut disk = Self {
            nodes: vec![Node::Folder(BTreeMap::new())],
            inodes: HashMap::from([(fs::metadata(folder).unwrap().ino(), 0)]),
            namings: Vec::new(),
            journaled: 0,
        };
        for (path, listed) in listing(folder) {
            let inode = fs::metadata(folder.join(&path)).unwrap().ino();
            if let Some(&known) = disk.inodes.get(&inode) {
                disk.name(&path, Some(known));
                continue;
            }
            disk.make(&path, inode, matches!(listed, Listed::Folder));
            if let (Listed::File { bytes, .. }, Some(Node::File { now, .. })) =
                (listed, disk.nodes.last_mut())
            {
                *now = bytes;
            }
        }
        disk.apply(&Event::SyncAll);
        disk
    }

    /// The folder of a path and the name in it.
    fn find(&self, path: &str) -> (NodeId, String) {
        let mut folder = 0;
        let mut parts = path.split('/').peekable();
        loop {
            let part = parts.next().unwrap();
            if parts.peek().is_none() {
                return (folder, part.to_owned());
            }
            folder = self.entries(folder)[part];
        }
    }

    fn entries(&self, folder: NodeId) -> &BTreeMap<String, NodeId> {
        match &self.nodes[folder] {
            Node::Folder(entries) => entries,
            Node::File { .. } => panic!("a file has no entries"),
        }
    }

    fn node(&self, path: &str) -> NodeId {
        let (folder, name) = self.find(path);
        self.entries(folder)[&name]
    }

    fn rename(&mut self, names: Vec<(NodeId, String, Option<NodeId>)>) {
        for (folder, name, node) in &names {
            let Node::Folder(entries) = &mut self.nodes[*folder] else {
                panic!("a file has no entries");
            };
            match node {
                Some(node) => entries.insert(name.clone(), *node),
                None => entries.remove(name),
            };
        }
        self.namings.push(Naming {
            names,
            is_synced: false,
        });
    }

    fn name(&mut self, path: &str, node: Option<NodeId>) {
        let (folder, name) = self.find(path);
        self.rename(vec![(folder, name, node)]);
    }

    fn make(&mut self, path: &str, inode: u64, is_folder: bool) {
        self.nodes.push(if is_folder {
            Node::Folder(BTreeMap::new())
        } else {
            Node::File {
                synced: Vec::new(),
                changes: Vec::new(),
                now: Vec::new(),
            }
        });
        let node = self.nodes.len() - 1;
        // The number of a file that is gone may be used again.
        self.inodes.insert(inode, node);
        self.name(path, Some(node));
    }

    fn change(&mut self, inode: u64, change: Change) {
        let Node::File { changes, now, .. } = &mut self.nodes[self.inodes[&inode]] else {
            panic!("bytes of a folder");
        };
        change.apply(now, || true);
        changes.push(change);
    }

    fn sync(&mut self, node: NodeId) {
        match &mut self.nodes[node] {
            Node::File {
                synced,
                changes,
                now,
            } => {
                synced.clone_from(now);
                changes.clear();
            }
            Node::Folder(_) => {
                for naming in &mut self.namings {
                    naming.is_synced |= naming.names.iter().any(|(folder, ..)| *folder == node);
                }
            }
        }
        self.journaled = self.namings.len();
    }

    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::Create { path, inode } => self.make(path, *inode, false),
            Event::MakeFolder { path, inode } => self.make(path, *inode, true),
            Event::Size { inode, size } => self.change(*inode, Change::Size(*size)),
            Event::Write {
                inode,
                offset,
                bytes,
            } => self.change(*inode, Change::Write(*offset, bytes.clone())),
            Event::Rename { from, to } => {
                let node = self.node(from);
                let (old, new) = (self.find(from), self.find(to));
                self.rename(vec![(old.0, old.1, None), (new.0, new.1, Some(node))]);
            }
            Event::Link { from, to } => self.name(to, Some(self.node(from))),
            Event::Remove { path } => self.name(path, None),
            Event::Sync { inode } => self.sync(self.inodes[inode]),
            Event::SyncAll => (0..self.nodes.len()).for_each(|node| self.sync(node)),
            Event::Acknowledged => {}
        }
    }

    /// What is there after a crash at this moment.
    pub fn after_crash(&self, kept: Kept) -> Listing {
        let mut rng = Pcg64::seed_from_u64(match kept {
            Kept::Some(seed) | Kept::Last(seed) | Kept::Journal(seed) => seed,
            Kept::Nothing | Kept::Everything => 0,
        });
        // Much or little of it survives, not half of it each time.
        let share = [0.1, 0.5, 0.9][rng.random_range(0..3)];
        let until = match kept {
            Kept::Journal(_) => rng.random_range(self.journaled..=self.namings.len()),
            _ => 0,
        };
        let last = self.namings.iter().rposition(|naming| !naming.is_synced);
        let mut folders: HashMap<NodeId, BTreeMap<&str, NodeId>> = HashMap::new();
        for (at, naming) in self.namings.iter().enumerate() {
            let is_kept = match kept {
                Kept::Nothing => naming.is_synced,
                Kept::Some(_) => naming.is_synced || rng.random_bool(share),
                Kept::Last(_) => naming.is_synced || Some(at) == last,
                Kept::Journal(_) => at < until,
                Kept::Everything => true,
            };
            for (folder, name, node) in naming.names.iter().filter(|_| is_kept) {
                let entries = folders.entry(*folder).or_default();
                match node {
                    Some(node) => entries.insert(name, *node),
                    None => entries.remove(name.as_str()),
                };
            }
        }
        let mut found = Listing::new();
        let mut contents: HashMap<NodeId, Vec<u8>> = HashMap::new();
        let mut open = vec![(String::new(), 0)];
        while let Some((path, folder)) = open.pop() {
            for (name, &node) in folders.get(&folder).into_iter().flatten() {
                let path = if path.is_empty() {
                    (*name).to_owned()
                } else {
                    format!("{path}/{name}")
                };
                let listed = match &self.nodes[node] {
                    Node::Folder(_) => {
                        open.push((path.clone(), node));
                        Listed::Folder
                    }
                    Node::File {
                        synced,
                        changes,
                        now,
                    } => Listed::File {
                        number: node as u64,
                        bytes: contents
                            .entry(node)
                            .or_insert_with(|| match kept {
                                Kept::Nothing => synced.clone(),
                                Kept::Everything => now.clone(),
                                _ => part(synced, changes, now.len(), share, &mut rng),
                            })
                            .clone(),
                    },
                };
                found.insert(path, listed);
            }
        }
        found
    }

    /// Fails unless this is what the folder contains, hard links included; otherwise the trace
    /// would miss something.
    #[track_caller]
    pub fn assert_is(&self, found: &Listing) {
        let mut modelled = self.after_crash(Kept::Everything);
        let inodes: HashMap<u64, u64> = self.inodes.iter().map(|(i, n)| (*n as u64, *i)).collect();
        for listed in modelled.values_mut() {
            if let Listed::File { number, .. } = listed {
                *number = inodes[number];
            }
        }
        for (path, listed) in found {
            assert!(
                modelled.get(path) == Some(listed),
                "the trace misses {path}"
            );
        }
        assert_eq!(modelled.len(), found.len(), "the trace misses a removal");
    }
}

/// A part of what was not synced of a file; its size may be on disk before its bytes.
fn part(synced: &[u8], changes: &[Change], size: usize, share: f64, rng: &mut Pcg64) -> Vec<u8> {
    let mut bytes = synced.to_vec();
    for change in changes {
        change.apply(&mut bytes, || rng.random_bool(share));
    }
    if bytes.len() < size && rng.random_bool(0.25) {
        bytes.resize(size, 0);
    }
    bytes
}

/// What is in a folder; files are numbered by inode.
pub fn listing(folder: &Path) -> Listing {
    let mut found = Listing::new();
    let mut open = vec![String::new()];
    while let Some(under) = open.pop() {
        for entry in fs::read_dir(folder.join(&under)).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            let path = if under.is_empty() {
                name
            } else {
                format!("{under}/{name}")
            };
            let about = entry.metadata().unwrap();
            let listed = if about.is_dir() {
                open.push(path.clone());
                Listed::Folder
            } else {
                Listed::File {
                    number: about.ino(),
                    bytes: fs::read(entry.path()).unwrap(),
                }
            };
            found.insert(path, listed);
        }
    }
    found
}

/// A number for a listing: equal numbers are taken for the same state.
pub fn number(found: &Listing) -> u64 {
    let mut hasher = DefaultHasher::new();
    found.hash(&mut hasher);
    hasher.finish()
}

/// Puts what was listed into a new folder.
pub fn materialise(found: &Listing, folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    let mut first: HashMap<u64, &str> = HashMap::new();
    for (path, listed) in found {
        let to = folder.join(path);
        match listed {
            Listed::Folder => fs::create_dir(&to).unwrap(),
            Listed::File { number, bytes } => {
                if let Some(other) = first.get(number) {
                    fs::hard_link(folder.join(other), &to).unwrap();
                } else {
                    fs::write(&to, bytes).unwrap();
                    first.insert(*number, path);
                }
            }
        }
    }
}
