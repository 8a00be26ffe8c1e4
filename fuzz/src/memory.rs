//! An allocator that counts, for each thread: the only way to see that a decoder which reads a
//! length does not allocate what the length says. It hands everything to the system's allocator.

#![expect(unsafe_code, reason = "an allocator is unsafe by its trait")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static HELD_BYTES: Cell<usize> = const { Cell::new(0) };
    static PEAK_BYTES: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, counted.
#[derive(Debug)]
pub struct Counting;

fn add(bytes: usize) {
    let held = HELD_BYTES.try_with(|held| {
        held.set(held.get().saturating_add(bytes));
        held.get()
    });
    // A thread that ends has no counters any more, and nobody who asks for them.
    if let Ok(held) = held
        && let Ok(peak) = PEAK_BYTES.try_with(Cell::get)
        && held > peak
    {
        set_peak(held);
    }
}

fn set_peak(bytes: usize) {
    if PEAK_BYTES.try_with(|peak| peak.set(bytes)).is_err() {
        // As above: nobody asks.
    }
}

fn remove(bytes: usize) {
    // What another thread allocated may be freed here.
    let removed = HELD_BYTES.try_with(|held| held.set(held.get().saturating_sub(bytes)));
    if removed.is_err() {
        // As above: nobody asks.
    }
}

// SAFETY: every call is the system allocator's own; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: the caller's promises are passed on unchanged.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        remove(layout.size());
        // SAFETY: as above; what was given out came from the same allocator.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: the caller's promises are passed on unchanged.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // Old and new exist together while one is copied to the other.
        add(new_size);
        remove(layout.size());
        // SAFETY: as for `dealloc`.
        unsafe { System.realloc(pointer, layout, new_size) }
    }
}

/// Does `work` and tells how many bytes it held at most, beyond what was held before.
pub fn peak_bytes<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = HELD_BYTES.with(Cell::get);
    PEAK_BYTES.with(|peak| peak.set(before));
    let done = work();
    (done, PEAK_BYTES.with(Cell::get).saturating_sub(before))
}
