//! A bound on the memory that one input may take: exceeding it is a finding.

use std::alloc::{GlobalAlloc, Layout, System};
use std::process::abort;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

struct Counted;

/// How many bytes are held now.
static HELD: AtomicUsize = AtomicUsize::new(0);
/// How many bytes may be held.
static MOST: AtomicUsize = AtomicUsize::new(usize::MAX);

#[global_allocator]
static COUNTED: Counted = Counted;

/// Does some work that may hold this many bytes more than are held already.
pub(crate) fn within(bytes: usize, work: impl FnOnce()) {
    MOST.store(HELD.load(Relaxed) + bytes, Relaxed);
    work();
    unbounded();
}

/// Allows any number of bytes to be held from now on.
pub(crate) fn unbounded() {
    MOST.store(usize::MAX, Relaxed);
}

fn grow(bytes: usize) {
    let held = HELD.fetch_add(bytes, Relaxed) + bytes;
    let most = MOST.load(Relaxed);
    if held > most {
        unbounded();
        eprintln!(
            "{held} bytes of memory are asked for, {bytes} of them at once; at most {most} may be"
        );
        abort();
    }
}

// SAFETY: everything is left to the system's allocator, and the counts are kept beside it.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: as the caller promised.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: as the caller promised.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        grow(size.saturating_sub(layout.size()));
        HELD.fetch_sub(layout.size().saturating_sub(size), Relaxed);
        // SAFETY: as the caller promised.
        unsafe { System.realloc(old, layout, size) }
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as the caller promised.
        unsafe { System.dealloc(old, layout) }
    }
}
