//! Shares of the web in several processes: typed messages, lists in portions, ghosts, and numbers that are the same in all
//! processes.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

use super::Numbering;
use crate::engine::Result;
use crate::engine::site_owners::SiteOwners;
use seedbank_algorithms::communicator::Communicator;
use seedbank_algorithms::graph::{NONE, number};
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::watch::Watch;
use seedbank_store::records::PageState;
use seedbank_store::{GraphImage, StoreError};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The processes that load shares of the web. All of them call the same methods in the same order.
#[derive(Clone, Copy)]
pub(in crate::engine) struct Group<'a> {
    pub(in crate::engine) communicator: &'a dyn Communicator,
    pub(in crate::engine) watch: &'a dyn Watch,
}

impl Group<'_> {
    /// Returns the number of processes.
    pub(in crate::engine) fn processes(self) -> usize {
        self.communicator.processes()
    }

    /// Sends a message to each process, by number, and returns what each has sent to this one.
    pub(super) fn exchange<T: Serialize + DeserializeOwned>(
        self,
        messages: &[T],
    ) -> Result<Vec<T>> {
        let messages = messages.iter().map(seedbank_store::pack);
        self.exchange_bytes(messages.collect::<Result<_, _>>()?)
    }

    /// Sends the same message to all processes, and returns what each has sent to this one.
    pub(in crate::engine) fn gather<T: Serialize + DeserializeOwned>(
        self,
        message: &T,
    ) -> Result<Vec<T>> {
        self.exchange_bytes(vec![seedbank_store::pack(message)?; self.processes()])
    }

    /// Sends encoded messages, and returns what each process has sent to this one.
    pub(super) fn exchange_bytes<T: DeserializeOwned>(
        self,
        messages: Vec<Vec<u8>>,
    ) -> Result<Vec<T>> {
        self.watch.proceed()?;
        let received = self.communicator.all_to_all(messages)?;
        if received.len() != self.processes() {
            return Err(malformed().into());
        }
        let received = received.iter();
        let decoded = received.map(|bytes| seedbank_store::unpack(bytes).map_err(|_| malformed()));
        Ok(decoded.collect::<Result<_, _>>()?)
    }
}

/// Returns the error of a message that is not as expected.
pub(in crate::engine) const fn malformed() -> StoreError {
    StoreError::Protocol("a message about shares of the web cannot be decoded")
}

// Sends lists of items among processes, a portion at a time, so that no message is large.

/// The bytes that a process sends in a round; few in unit tests, so that lists need several rounds.
const PORTION: usize = if cfg!(test) { 32 } else { 256 << 10 };

/// Some items that a process sends to another.
#[derive(Serialize, Deserialize)]
struct Portion<T> {
    items: Vec<T>,
    /// Whether the sender has more items for any process.
    has_more: bool,
}

impl Group<'_> {
    /// Sends items to processes, and calls `receive` with what other processes and this one have sent to this one, and with
    /// their numbers. Items of a process are received in the order in which it sends them. `bytes` returns about how many
    /// bytes an item takes. All processes call it at the same time.
    ///
    /// Memory: the items of a portion of each process.
    pub(in crate::engine) fn send<T: Serialize + DeserializeOwned>(
        self,
        items: impl Iterator<Item = (usize, T)>,
        bytes: impl Fn(&T) -> usize,
        mut receive: impl FnMut(usize, T) -> Result<()>,
    ) -> Result<()> {
        let mut items = items.peekable();
        if self.processes() == 1 {
            // Nothing has to be encoded.
            return items.try_for_each(|(to, item)| match to {
                0 => receive(0, item),
                _ => Err(malformed().into()),
            });
        }
        loop {
            let mut of_processes: Vec<Vec<T>> = Vec::new();
            of_processes.resize_with(self.processes(), Vec::new);
            let mut used = 0;
            while let Some((to, item)) = items.next_if(|_| used < PORTION) {
                used += bytes(&item);
                let of_process = of_processes.get_mut(to).ok_or_else(malformed)?;
                of_process.push(item);
            }
            let has_more = items.peek().is_some();
            let portions = of_processes.into_iter();
            let portions = portions.map(|items| Portion { items, has_more });
            let received = self.exchange(&portions.collect::<Vec<_>>())?;
            let is_last = !received.iter().any(|portion| portion.has_more);
            for (from, portion) in received.into_iter().enumerate() {
                for item in portion.items {
                    receive(from, item)?;
                }
            }
            if is_last {
                return Ok(());
            }
        }
    }

    /// Sends items to all processes; otherwise as [`send`](Self::send).
    pub(in crate::engine) fn send_to_all<T: Serialize + DeserializeOwned + Clone>(
        self,
        items: impl Iterator<Item = T>,
        bytes: impl Fn(&T) -> usize,
        receive: impl FnMut(usize, T) -> Result<()>,
    ) -> Result<()> {
        let processes = self.processes();
        let items = items.flat_map(|item| (0..processes).zip(std::iter::repeat_n(item, processes)));
        self.send(items, bytes, receive)
    }

    /// Sends the items of process 0 to all processes. Those of other processes are ignored.
    pub(in crate::engine) fn send_from_first<T: Serialize + DeserializeOwned + Clone>(
        self,
        items: impl Iterator<Item = T>,
        bytes: impl Fn(&T) -> usize,
        mut receive: impl FnMut(T) -> Result<()>,
    ) -> Result<()> {
        let items = items.take_while(|_| self.is_first());
        self.send_to_all(items, bytes, |from, item| {
            if from > 0 {
                return Err(malformed().into());
            }
            receive(item)
        })
    }

    /// Sends items to process 0; otherwise as [`send`](Self::send).
    pub(in crate::engine) fn send_to_first<T: Serialize + DeserializeOwned>(
        self,
        items: impl Iterator<Item = T>,
        bytes: impl Fn(&T) -> usize,
        receive: impl FnMut(usize, T) -> Result<()>,
    ) -> Result<()> {
        self.send(items.map(|item| (0, item)), bytes, receive)
    }

    /// Returns in all processes what process 0 has.
    pub(in crate::engine) fn of_first<T: Serialize + DeserializeOwned>(
        self,
        own: Option<&T>,
    ) -> Result<T> {
        let messages = vec![seedbank_store::pack(&own)?; self.processes()];
        let received: Vec<Option<T>> = self.exchange_bytes(messages)?;
        let of_first = received.into_iter().next().flatten();
        Ok(of_first.ok_or_else(malformed)?)
    }

    /// Returns the sum of the numbers of all processes.
    pub(in crate::engine) fn sum(self, own: u64) -> Result<u64> {
        let all = self.gather(&own)?.into_iter();
        Ok(all.fold(0, u64::saturating_add))
    }

    /// Whether this is process 0.
    pub(in crate::engine) fn is_first(self) -> bool {
        self.communicator.process() == 0
    }
}

// Ghosts: the pages of other processes to which the pages of a share link.
//
// Each process asks the owner of each ghost what the page is, and gets its local number there. So the owner learns
// which of its pages are ghosts elsewhere, its *mirrors*. Both number them in the order of the owner's pages.

/// The most ghosts that a message to a process asks for; few in unit tests, so that these need several messages.
const GHOSTS_PORTION: usize = if cfg!(test) { 3 } else { 1 << 15 };

/// The ghosts and the mirrors of a share, in the form of `WebShare`.
#[derive(Debug, Default)]
pub(in crate::engine) struct GhostLists {
    /// The number of ghosts of each process.
    pub(in crate::engine) counts: Vec<u32>,
    /// By process: the pages of this process that are ghosts there, ascending.
    pub(in crate::engine) mirrors: Vec<Vec<u32>>,
}

/// A request for some ghosts of a process.
#[derive(Serialize, Deserialize)]
struct Request {
    /// For each page id, by how much it is above the least that can follow the one before, over all requests.
    gaps: Vec<u64>,
    /// Whether the sender has more requests for any process.
    has_more: bool,
}

/// What a page is in the process that has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
enum Found {
    /// There is no such page.
    Missing,
    /// It is neither known nor crawled, or it is crawled and not in the web.
    Absent,
    /// It is known, but not in the web.
    Excluded,
    /// It is known and in the web, with this number.
    Known(u32),
    /// It is known, and taken for a page with this number and id.
    Taken(u32, PageId),
    /// It is crawled and in the web, with this number.
    Crawled(u32),
}

impl Found {
    fn of_page(image: &GraphImage, numbers: &Numbering, page: PageId) -> Self {
        let Some(slot) = image.slot(page) else {
            return Self::Missing;
        };
        match numbers.number(slot) {
            Some(number) if image.is_crawled(slot) => Self::Crawled(number),
            Some(number) if numbers.taken_for.contains_key(&slot) => {
                Self::Taken(number, numbers.page(image, slot))
            }
            Some(number) => Self::Known(number),
            None if image.is_known(slot) => Self::Excluded,
            None => Self::Absent,
        }
    }
}

/// Sets the states of the ghosts of a share, and gives numbers after those of all pages to those that are in the web: by
/// process, and then in the order of the numbers there.
///
/// All processes call it at the same time, with numbers for the own pages that are in the web.
///
/// # Errors
///
/// If a page links to one that does not exist, and if there are too many pages and ghosts.
///
/// Cost: two messages to each process for every 32,768 ghosts there. Memory: 12 bytes for each ghost, and 4 for each
/// mirror.
pub(in crate::engine) fn number_ghosts(
    group: Group<'_>,
    owners: SiteOwners<'_>,
    image: &mut GraphImage,
    numbers: &mut Numbering,
) -> Result<GhostLists> {
    let processes = group.processes();
    // The slots of ghosts by process, in the order of their ids.
    let mut ghosts: Vec<Vec<u32>> = vec![Vec::new(); processes];
    for slot in image.ghosts() {
        let owner = owners.of_site(image.page(slot).site());
        let of_owner = ghosts.get_mut(owner).ok_or_else(malformed)?;
        of_owner.push(slot);
    }
    let mut found: Vec<Vec<(u32, u32)>> = vec![Vec::new(); processes];
    let mut mirrors: Vec<Vec<u32>> = vec![Vec::new(); processes];
    // The least page id that can follow, in requests to and from each process.
    let (mut to, mut from) = (vec![0_u64; processes], vec![0_u64; processes]);
    let mut portions: Vec<_> = ghosts
        .iter()
        .map(|slots| slots.chunks(GHOSTS_PORTION))
        .collect();
    loop {
        let asked: Vec<&[u32]> = portions
            .iter_mut()
            .map(|of| of.next().unwrap_or_default())
            .collect();
        let has_more = portions.iter().any(|portions| portions.len() > 0);
        let mut requests = Vec::with_capacity(processes);
        for (slots, next) in asked.iter().zip(&mut to) {
            let mut gaps = Vec::with_capacity(slots.len());
            for &slot in *slots {
                let page = image.page(slot).0;
                gaps.push(page.saturating_sub(*next));
                *next = page.saturating_add(1);
            }
            requests.push(Request { gaps, has_more });
        }
        let requests = group.exchange(&requests)?;
        let mut answers: Vec<Vec<Found>> = Vec::with_capacity(processes);
        for ((request, next), mirrors) in requests.iter().zip(&mut from).zip(&mut mirrors) {
            let mut of_request = Vec::with_capacity(request.gaps.len());
            for gap in &request.gaps {
                let page = next.checked_add(*gap).ok_or_else(malformed)?;
                *next = page.checked_add(1).ok_or_else(malformed)?;
                let found = Found::of_page(image, numbers, PageId(page));
                if let Found::Known(number) | Found::Crawled(number) | Found::Taken(number, _) =
                    found
                {
                    mirrors.push(number);
                }
                of_request.push(found);
            }
            answers.push(of_request);
        }
        let answers = group.exchange(&answers)?;
        for ((slots, answers), found) in asked.iter().zip(answers).zip(&mut found) {
            if slots.len() != answers.len() {
                return Err(malformed().into());
            }
            for (&slot, answer) in slots.iter().zip(answers) {
                match answer {
                    Found::Missing => return Err(image.missing_ghost(slot).into()),
                    Found::Absent => {}
                    Found::Excluded => image.set_ghost(slot, PageState::Known),
                    Found::Known(number) => {
                        image.set_ghost(slot, PageState::Known);
                        found.push((number, slot));
                    }
                    Found::Taken(number, twin) => {
                        image.set_ghost(slot, PageState::Known);
                        numbers.taken_for.insert(slot, twin);
                        found.push((number, slot));
                    }
                    Found::Crawled(number) => {
                        image.set_ghost(slot, PageState::Crawled);
                        found.push((number, slot));
                    }
                }
            }
        }
        if !requests.iter().any(|request| request.has_more) {
            break;
        }
    }
    let mut lists = GhostLists {
        counts: Vec::with_capacity(processes),
        mirrors,
    };
    let mut next = number(numbers.slots.len());
    for mut ghosts in found {
        ghosts.sort_unstable();
        let first = next;
        // Ghosts that their process takes for one page have one number there.
        for of_page in ghosts.chunk_by(|a, b| a.0 == b.0) {
            for &(_, slot) in of_page {
                numbers.numbers[slot as usize] = next;
            }
            // The largest number means "none".
            let following = next.checked_add(1).filter(|next| *next < NONE);
            next = following.ok_or(StoreError::Full("page to rank"))?;
        }
        lists.counts.push(next - first);
    }
    for mirrors in &mut lists.mirrors {
        mirrors.sort_unstable();
        mirrors.dedup();
    }
    Ok(lists)
}

// Numbers the pages of all processes in URL order, by merging their hosts.
//
// URLs of a host have a common prefix that no other URL has, so the order of the prefixes is that of the URLs. Every
// process sends its prefixes to all, in order and a portion at a time. All processes merge them and assign the same
// numbers. Each holds at most one portion of every process.

/// The bytes of hosts of a process that are sent and not yet merged.
const HOSTS_PORTION: usize = 256 << 10;

/// The bytes that a host takes besides its prefix.
const OF_HOST: usize = 8;

/// A host of a process.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
struct Host {
    prefix: String,
    /// The number of its pages.
    pages: u32,
}

impl Host {
    fn bytes(&self) -> usize {
        self.prefix.len() + OF_HOST
    }
}

/// Some hosts of a process, in order.
#[derive(Serialize, Deserialize)]
struct HostPortion {
    hosts: Vec<Host>,
    has_more: bool,
}

/// The hosts of a process that are not merged yet.
#[derive(Default)]
struct Pending {
    hosts: VecDeque<Host>,
    /// The bytes of `hosts`, and of the host in the heap.
    bytes: usize,
    /// Whether the process has more.
    has_more: bool,
    /// Whether the heap of the merge contains a host of the process.
    is_next: bool,
    /// The last prefix that was received.
    last: String,
}

/// Returns the number of each page among the pages of all processes, ascending, as both follow the URLs. All processes
/// call it at the same time.
///
/// Fails if there are too many pages in all.
///
/// Cost: every process gets and merges the hosts of all. Memory: 24 bytes for each own host, and 256 KiB for each
/// process.
pub(in crate::engine) fn numbers_in_web(
    group: Group<'_>,
    image: &GraphImage,
    numbers: &Numbering,
) -> Result<Vec<u32>> {
    let order = image.order();
    let hosts = image.runs_by_url().into_iter().map(|run| {
        let of_run = order[run.range()].iter();
        let pages = of_run.filter(|slot| numbers.own_number(**slot).is_some());
        let pages = number(pages.count());
        let prefix = run.prefix().to_owned();
        Host { prefix, pages }
    });
    let own = merge(group, hosts.filter(|host| host.pages > 0), HOSTS_PORTION)?;
    if own.len() != numbers.slots.len() {
        return Err(malformed().into());
    }
    Ok(own)
}

/// Merges the hosts of all processes, given those of this one in order. Returns the numbers of its pages.
fn merge(group: Group<'_>, own: impl Iterator<Item = Host>, portion: usize) -> Result<Vec<u32>> {
    let process = group.communicator.process();
    let mut own = own.peekable();
    let mut numbers = Vec::new();
    let mut pending: Vec<Pending> = Vec::new();
    pending.resize_with(group.processes(), Pending::default);
    let mut next_hosts: BinaryHeap<Reverse<(Host, usize)>> = BinaryHeap::new();
    let mut total: u32 = 0;
    loop {
        // All processes fill up what they have sent, so that all of it together is bounded.
        let mut bytes = pending.get(process).map_or(0, |of| of.bytes);
        let mut hosts = Vec::new();
        while let Some(host) = own.next_if(|_| bytes < portion) {
            bytes += host.bytes();
            hosts.push(host);
        }
        let has_more = own.peek().is_some();
        let portions = group.gather(&HostPortion { hosts, has_more })?;
        for ((of, portion), process) in pending.iter_mut().zip(portions).zip(0..) {
            of.receive(portion)?;
            if !of.is_next {
                of.offer(process, &mut next_hosts);
            }
        }
        // Until the hosts of a process that has more are used up.
        while let Some(Reverse((host, from))) = next_hosts.pop() {
            let first = total;
            let sum = total.checked_add(host.pages).filter(|sum| *sum < NONE);
            total = sum.ok_or(StoreError::Full("page to rank"))?;
            if from == process {
                numbers.extend(first..total);
            }
            let Some(of) = pending.get_mut(from) else {
                return Err(malformed().into());
            };
            of.bytes -= host.bytes();
            of.offer(from, &mut next_hosts);
            if !of.is_next && of.has_more {
                break;
            }
        }
        if !pending.iter().any(|of| of.has_more || of.is_next) {
            return Ok(numbers);
        }
    }
}

impl Pending {
    /// Adds hosts that follow all others of the process.
    fn receive(&mut self, portion: HostPortion) -> Result<(), StoreError> {
        for host in portion.hosts {
            let is_first = self.last.is_empty();
            if host.pages == 0 || (host.prefix <= self.last && !is_first) {
                return Err(malformed());
            }
            self.last.clone_from(&host.prefix);
            self.bytes += host.bytes();
            self.hosts.push_back(host);
        }
        self.has_more = portion.has_more;
        // Otherwise nothing would ever be merged.
        let is_stuck = self.has_more && self.hosts.is_empty() && !self.is_next;
        if is_stuck { Err(malformed()) } else { Ok(()) }
    }

    /// Moves the next host, if any, to the heap of the merge.
    fn offer(&mut self, process: usize, next_hosts: &mut BinaryHeap<Reverse<(Host, usize)>>) {
        let next = self.hosts.pop_front();
        self.is_next = next.is_some();
        next_hosts.extend(next.map(|host| Reverse((host, process))));
    }
}

// Gives names and pages numbers that are the same in all processes.

/// The most bytes of names in a message, and the most entries in one.
const NAMES_PORTION: usize = 256 << 10;
const ENTRIES: usize = 1 << 15;

/// Some names that a process sends to another.
#[derive(Serialize, Deserialize)]
struct Names {
    names: Vec<String>,
    /// Whether the sender has more names for any process.
    has_more: bool,
}

/// Some of the numbers that a process knows, with the positions of their pages.
#[derive(Serialize, Deserialize)]
struct Numbers {
    numbers: Vec<(u32, u32)>,
    has_more: bool,
}

/// Numbers distinct names, so that a name has the same number in all processes; from 0 on, and without gaps. `owner`
/// returns the process that numbers a name, the same in all of them. All processes call it at the same time.
///
/// Cost: each name is sent once. Memory: the names that this process numbers.
pub(in crate::engine) fn number_names(
    group: Group<'_>,
    names: &[String],
    owner: impl Fn(&str) -> usize,
) -> Result<Vec<u32>> {
    let processes = group.processes();
    // The names by owner, and how many of them were sent.
    let mut by_owner: Vec<Vec<u32>> = vec![Vec::new(); processes];
    for (at, name) in (0..).zip(names) {
        let of_owner = by_owner.get_mut(owner(name)).ok_or_else(malformed)?;
        of_owner.push(at);
    }
    let mut sent = vec![0; processes];
    let mut numbered: HashMap<String, u32> = HashMap::new();
    // The owner of each name, and its number there.
    let mut found = vec![(0, 0); names.len()];
    loop {
        let mut messages = Vec::with_capacity(processes);
        let mut portions: Vec<&[u32]> = Vec::with_capacity(processes);
        for (places, sent) in by_owner.iter().zip(&mut sent) {
            let unsent = places.get(*sent..).unwrap_or_default();
            let portion = portion_of(unsent, names);
            *sent += portion.len();
            let names = portion.iter().map(|at| names[*at as usize].clone());
            messages.push(names.collect::<Vec<String>>());
            portions.push(portion);
        }
        let mut unsent = by_owner.iter().zip(&sent);
        let has_more = unsent.any(|(places, sent)| places.len() > *sent);
        let messages = messages.into_iter().map(|names| Names { names, has_more });
        let requests = group.exchange(&messages.collect::<Vec<_>>())?;
        let has_more = requests.iter().any(|request| request.has_more);
        let mut answers: Vec<Vec<u32>> = Vec::with_capacity(processes);
        for request in requests {
            let mut numbers = Vec::with_capacity(request.names.len());
            for name in request.names {
                let next = u32::try_from(numbered.len());
                let next = next.map_err(|_| StoreError::Full("domain"))?;
                numbers.push(*numbered.entry(name).or_insert(next));
            }
            answers.push(numbers);
        }
        let answers = group.exchange(&answers)?;
        for (owner, (portion, numbers)) in (0..).zip(portions.into_iter().zip(answers)) {
            if portion.len() != numbers.len() {
                return Err(malformed().into());
            }
            for (&at, number) in portion.iter().zip(numbers) {
                found[at as usize] = (owner, number);
            }
        }
        if !has_more {
            break;
        }
    }
    // Numbers of an owner follow those of the owners before it.
    let mut firsts: Vec<u32> = Vec::with_capacity(processes);
    let mut next: u32 = 0;
    for count in group.gather(&number(numbered.len()))? {
        firsts.push(next);
        let sum = next.checked_add(count);
        next = sum.ok_or(StoreError::Full("domain"))?;
    }
    let first = |owner: usize| firsts.get(owner).copied().unwrap_or(0);
    let numbers = found.into_iter();
    let numbers = numbers.map(|(owner, number): (usize, u32)| first(owner).checked_add(number));
    Ok(numbers.collect::<Option<_>>().ok_or_else(malformed)?)
}

/// Returns the first of these places whose names fit in a message.
fn portion_of<'a>(places: &'a [u32], names: &[String]) -> &'a [u32] {
    let mut bytes = 0;
    let fits = |at: &&u32| {
        let has_room = bytes < NAMES_PORTION;
        bytes += names[**at as usize].len();
        has_room
    };
    let count = places.iter().take(ENTRIES).take_while(fits).count();
    &places[..count]
}

/// Returns numbers in the order of their positions, given those that this process knows. No two processes have the same
/// position. All processes call it at the same time, and get the same list.
pub(in crate::engine) fn collect_numbers(group: Group<'_>, own: &[(u32, u32)]) -> Result<Vec<u32>> {
    let mut all: Vec<(u32, u32)> = Vec::new();
    let mut portions = own.chunks(ENTRIES);
    loop {
        let numbers = portions.next().unwrap_or_default().to_vec();
        let has_more = portions.len() > 0;
        let received = group.gather(&Numbers { numbers, has_more })?;
        let is_last = !received.iter().any(|of| of.has_more);
        all.extend(received.into_iter().flat_map(|of| of.numbers));
        if is_last {
            break;
        }
    }
    all.sort_unstable();
    if !all.is_sorted_by(|a, b| a.0 < b.0) {
        return Err(malformed().into());
    }
    Ok(all.into_iter().map(|(_, number)| number).collect())
}

// Finds the numbers in the web of pages that process 0 names, and the reverse. Each page is known to one process.

/// About the bytes of an item in a message: of a number, and of a page id.
const OF_NUMBER: usize = 5;
const OF_PAGE: usize = 9;

/// Returns in all processes the numbers of the pages that process 0 names, by their positions there, ascending. Pages without
/// a number are left out. `number` returns the number of an own page. All processes call it at the same time.
///
/// Cost: every process gets all page ids and numbers. Memory: 8 bytes for each page that is found.
pub(in crate::engine) fn numbers_of_pages(
    group: Group<'_>,
    pages: &[PageId],
    number: impl Fn(PageId) -> Option<u32>,
) -> Result<Vec<(u32, u32)>> {
    let mut own: Vec<(u32, u32)> = Vec::new();
    let mut position: u32 = 0;
    group.send_from_first(
        pages.iter().copied(),
        |_| OF_PAGE,
        |page| {
            own.extend(number(page).map(|number| (position, number)));
            position = position.checked_add(1).ok_or_else(malformed)?;
            Ok(())
        },
    )?;
    let mut all: Vec<(u32, u32)> = Vec::new();
    group.send_to_all(
        own.into_iter(),
        |_| 2 * OF_NUMBER,
        |_, found| {
            all.push(found);
            Ok(())
        },
    )?;
    all.sort_unstable();
    let are_valid = all.is_sorted_by(|a, b| a.0 < b.0);
    let are_valid = are_valid && all.last().is_none_or(|last| last.0 < position);
    are_valid.then_some(all).ok_or_else(|| malformed().into())
}

/// Returns in process 0 the pages with the numbers that it names; in other processes, nothing. `page` returns the page with
/// a number, if it is an own one. All processes call it at the same time.
///
/// Fails if no process, or more than one, has a page.
///
/// Cost: every process gets all numbers, and process 0 the page ids. Memory: in process 0, 16 bytes for each page.
pub(in crate::engine) fn pages_of_numbers(
    group: Group<'_>,
    numbers: &[u32],
    page: impl Fn(u32) -> Option<PageId>,
) -> Result<Vec<PageId>> {
    let mut own: Vec<(u32, PageId)> = Vec::new();
    let mut position: u32 = 0;
    group.send_from_first(
        numbers.iter().copied(),
        |_| OF_NUMBER,
        |number| {
            own.extend(page(number).map(|page| (position, page)));
            position = position.checked_add(1).ok_or_else(malformed)?;
            Ok(())
        },
    )?;
    let mut all: Vec<Option<PageId>> = Vec::new();
    if group.is_first() {
        all.resize(numbers.len(), None);
    }
    group.send_to_first(
        own.into_iter(),
        |_| OF_NUMBER + OF_PAGE,
        |_, (position, page)| {
            let place = all.get_mut(position as usize).ok_or_else(malformed)?;
            match place.replace(page) {
                None => Ok(()),
                Some(_) => Err(malformed().into()),
            }
        },
    )?;
    let all = all.into_iter().collect::<Option<_>>();
    Ok(all.ok_or_else(malformed)?)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;
    use seedbank_algorithms::communicator::of_threads;
    use seedbank_algorithms::watch::{Interrupted, Unwatched};
    use std::sync::Mutex;

    use seedbank_algorithms::page::SiteId;
    use std::collections::{BTreeMap, BTreeSet};

    /// Calls `run` in each of several threads, with the number of the thread. Returns the results by thread.
    pub(in crate::engine) fn in_threads<T: Send>(
        threads: usize,
        run: impl Fn(Group<'_>, usize) -> T + Sync,
    ) -> Vec<T> {
        let run = &run;
        std::thread::scope(|scope| {
            let start = |(thread, communicator)| {
                scope.spawn(move || {
                    let communicator: std::sync::Arc<dyn Communicator> = communicator;
                    let group = Group {
                        communicator: &*communicator,
                        watch: &Unwatched,
                    };
                    run(group, thread)
                })
            };
            let threads: Vec<_> = of_threads(threads)
                .into_iter()
                .enumerate()
                .map(start)
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect()
        })
    }

    /// The first of two processes. The other one sends these messages, and is gone then.
    pub(in crate::engine::web_graph) struct Scripted(
        pub(in crate::engine::web_graph) Mutex<Vec<Vec<u8>>>,
    );

    impl Communicator for Scripted {
        fn process(&self) -> usize {
            0
        }

        fn processes(&self) -> usize {
            2
        }

        fn all_to_all(&self, mut messages: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, Interrupted> {
            messages[1] = self.0.lock().unwrap().pop().ok_or(Interrupted)?;
            Ok(messages)
        }

        fn fail(&self, _cause: &'static str) -> Interrupted {
            Interrupted
        }
    }

    #[test]
    fn items_arrive_in_order_whatever_the_portions() {
        for processes in 1..=3 {
            let found = in_threads(processes, |group, process| {
                // The last process has the longest list, and the first one none.
                let own = (0..process * 40).map(|item| (item % processes, (process, item)));
                let mut received = Vec::new();
                let receive = |from, item: (usize, usize)| {
                    assert_eq!(from, item.0);
                    received.push(item);
                    Ok(())
                };
                group.send(own, |_| 3, receive).unwrap();
                received
            });
            for (to, mut received) in found.into_iter().enumerate() {
                // Items of different processes may be mixed.
                received.sort_by_key(|item| item.0);
                let expected = (0..processes).flat_map(|from| {
                    let of_process = (0..from * 40).filter(|item| item % processes == to);
                    of_process.map(move |item| (from, item))
                });
                assert_eq!(received, expected.collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn all_processes_receive_what_the_first_has() {
        let found = in_threads(3, |group, process| {
            let mut received = Vec::new();
            let own = (0..50).map(|item| item * (process + 1));
            let receive = |item: usize| {
                received.push(item);
                Ok(())
            };
            group.send_from_first(own, |_| 1, receive).unwrap();
            let of_first = group.of_first((process == 0).then_some(&7)).unwrap();
            (received, of_first, group.sum(process as u64).unwrap())
        });
        for of_process in found {
            assert_eq!(of_process, ((0..50).collect(), 7, 3));
        }
    }

    proptest! {
        #[test]
        fn any_messages_are_items_or_refused(
            messages in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..9), 0..6),
        ) {
            let communicator = Scripted(Mutex::new(messages));
            let group = Group { communicator: &communicator, watch: &Unwatched };
            let mut own = Vec::new();
            let received = group.send([(0, 5_u32), (1, 6)].into_iter(), |_| 4, |from, item| {
                own.extend((from == 0).then_some(item));
                Ok(())
            });
            if received.is_ok() {
                prop_assert_eq!(own, [5]);
            }
        }
    }

    fn host(prefix: &str, pages: u32) -> Host {
        Host {
            prefix: prefix.to_owned(),
            pages,
        }
    }

    proptest! {
        #[test]
        fn pages_are_numbered_as_by_one_process(
            hosts in prop::collection::btree_map("[ab]{1,9}", (0_usize..3, 1_u32..5), 0..60),
            processes in 1_usize..4,
            portion in 1_usize..200,
        ) {
            let mut own: Vec<(Vec<Host>, Vec<u32>)> = vec![Default::default(); processes];
            let mut next = 0;
            for (prefix, (process, pages)) in &hosts {
                let (hosts, numbers) = &mut own[process % processes];
                hosts.push(host(prefix, *pages));
                numbers.extend(next..next + pages);
                next += pages;
            }
            let found = in_threads(processes, |group, process| {
                merge(group, own[process].0.iter().cloned(), portion).unwrap()
            });
            let expected: Vec<Vec<u32>> = own.into_iter().map(|of| of.1).collect();
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn any_messages_are_merged_or_refused(
            messages in prop::collection::vec(message(), 0..6),
            portion in 1_usize..100,
        ) {
            let communicator = Scripted(Mutex::new(messages));
            let group = Group { communicator: &communicator, watch: &Unwatched };
            let own = ["a", "b", "c"].map(|prefix| host(prefix, 2));
            if let Ok(numbers) = merge(group, own.into_iter(), portion) {
                prop_assert_eq!(numbers.len(), 6);
            }
        }
    }

    /// Any bytes, or any hosts.
    fn message() -> impl Strategy<Value = Vec<u8>> {
        let hosts = prop::collection::vec(("[a-d]{0,2}", any::<u32>()), 0..4);
        prop_oneof![
            prop::collection::vec(any::<u8>(), 0..9),
            (hosts, any::<bool>()).prop_map(|(hosts, has_more)| {
                let hosts = hosts.iter().map(|(prefix, pages)| host(prefix, *pages));
                let hosts = hosts.collect();
                seedbank_store::pack(&HostPortion { hosts, has_more }).unwrap()
            }),
        ]
    }

    #[test]
    fn too_many_pages_are_refused() {
        for (others, expected) in [(NONE - 3, Some([NONE - 3, NONE - 2])), (NONE - 2, None)] {
            let other = HostPortion {
                hosts: vec![host("a", others)],
                has_more: false,
            };
            let message = seedbank_store::pack(&other).unwrap();
            let communicator = Scripted(Mutex::new(vec![message]));
            let group = Group {
                communicator: &communicator,
                watch: &Unwatched,
            };
            let found = merge(group, [host("b", 2)].into_iter(), HOSTS_PORTION);
            match expected {
                Some(numbers) => assert_eq!(found.unwrap(), numbers),
                None => assert!(found.unwrap_err().to_string().contains("page to rank")),
            }
        }
    }

    proptest! {
        #[test]
        fn a_name_has_one_number_in_all_processes(
            names in prop::collection::vec(prop::collection::btree_set("[abc]{1,3}", 0..20), 1..4),
        ) {
            let processes = names.len();
            let names: Vec<Vec<String>> =
                names.into_iter().map(|of| of.into_iter().collect()).collect();
            let numbers = in_threads(processes, |group, process| {
                number_names(group, &names[process], |name| name.len() % processes).unwrap()
            });
            let mut by_name: BTreeMap<&String, u32> = BTreeMap::new();
            for (names, numbers) in names.iter().zip(&numbers) {
                prop_assert_eq!(names.len(), numbers.len());
                for (name, &number) in names.iter().zip(numbers) {
                    prop_assert_eq!(*by_name.entry(name).or_insert(number), number);
                }
            }
            let distinct: BTreeSet<u32> = by_name.values().copied().collect();
            let count = u32::try_from(by_name.len()).unwrap();
            prop_assert!(distinct.into_iter().eq(0..count));
        }

        #[test]
        fn any_messages_are_numbers_or_refused(
            messages in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..9), 0..6),
        ) {
            let communicator = Scripted(Mutex::new(messages.clone()));
            let group = Group { communicator: &communicator, watch: &Unwatched };
            let names = ["a".to_owned(), "b".to_owned()];
            if let Ok(numbers) = number_names(group, &names, str::len) {
                prop_assert_eq!(numbers.len(), 2);
            }
            let communicator = Scripted(Mutex::new(messages));
            let group = Group { communicator: &communicator, watch: &Unwatched };
            if let Ok(numbers) = collect_numbers(group, &[(4, 7)]) {
                prop_assert!(numbers.contains(&7));
            }
        }
    }

    #[test]
    fn long_lists_are_sent_in_portions() {
        let count = 3 * u32::try_from(ENTRIES).unwrap();
        let found = in_threads(2, |group, process| {
            // The second process has a third of the positions.
            let own = (0..count).filter(|at| usize::from(at % 3 == 1) == process);
            let own: Vec<(u32, u32)> = own.map(|at| (at, count - at)).collect();
            collect_numbers(group, &own).unwrap()
        });
        let expected: Vec<u32> = (1..=count).rev().collect();
        assert_eq!(found, [expected.clone(), expected]);
        let names: Vec<String> = (0..count).map(|at| at.to_string()).collect();
        let numbers = in_threads(2, |group, _| {
            number_names(group, &names, |name| usize::from(name.ends_with('7'))).unwrap()
        });
        assert_eq!(numbers[0], numbers[1]);
        let distinct: BTreeSet<u32> = numbers[0].iter().copied().collect();
        assert!(distinct.into_iter().eq(0..count));
    }

    #[test]
    fn a_position_of_two_processes_is_refused() {
        let found = in_threads(2, |group, _| collect_numbers(group, &[(1, 5)]).is_err());
        assert_eq!(found, [true, true]);
    }

    fn page(number: u32) -> PageId {
        PageId::new(SiteId(number % 5), 100 - number)
    }

    #[test]
    fn pages_have_the_numbers_of_their_processes() {
        for processes in 1..=3 {
            let found = in_threads(processes, |group, process| {
                let own: Vec<u32> = (0..60)
                    .filter(|number| *number as usize % processes == process)
                    .collect();
                let of_page = |of: PageId| own.iter().copied().find(|number| page(*number) == of);
                let of_number = |number: u32| own.contains(&number).then(|| page(number));
                let named: Vec<u32> = if process == 0 {
                    (0..90).rev().collect()
                } else {
                    vec![1]
                };
                let pages: Vec<PageId> = named.iter().map(|number| page(*number)).collect();
                let numbers = numbers_of_pages(group, &pages, of_page).unwrap();
                let named: Vec<u32> = (0..60).map(|number| number * 7 % 60).collect();
                let pages = pages_of_numbers(group, &named, of_number).unwrap();
                let unknown = pages_of_numbers(group, &[3, 99], of_number);
                (numbers, pages, unknown.is_err())
            });
            for (process, (numbers, pages, is_refused)) in found.into_iter().enumerate() {
                // Numbers from 60 on belong to no process.
                let expected: Vec<(u32, u32)> = (30..90).map(|at| (at, 89 - at)).collect();
                assert_eq!(numbers, expected);
                let expected = (0..60).map(|number| page(number * 7 % 60));
                let expected: Vec<PageId> = if process == 0 {
                    expected.collect()
                } else {
                    Vec::new()
                };
                assert_eq!(pages, expected);
                assert_eq!(is_refused, process == 0);
            }
        }
    }

    #[test]
    fn a_page_of_two_processes_is_refused() {
        let found = in_threads(2, |group, _| {
            let numbers = numbers_of_pages(group, &[page(1)], |_| Some(1));
            let pages = pages_of_numbers(group, &[1], |number| Some(page(number)));
            (numbers.is_err(), pages.is_err())
        });
        assert_eq!(found, [(true, true), (true, false)]);
    }
}
