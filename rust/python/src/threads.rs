//! Pieces of work in threads.

use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::thread::{scope, Builder};

/// Work on each piece, in up to `threads` threads, this one among them; return the results in the order of the pieces.
///
/// Where the system gives no further thread, fewer work.  A panic is raised here.
pub fn in_threads<P: Send, T: Send>(
    pieces: Vec<P>,
    threads: usize,
    work: impl Fn(usize, P) -> T + Sync,
) -> Vec<T> {
    let count = threads.min(pieces.len());
    let pieces = Mutex::new(pieces.into_iter().enumerate());
    let next = || pieces.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work_on_all = || -> Vec<(usize, T)> {
        std::iter::from_fn(next).map(|(number, piece)| (number, work(number, piece))).collect()
    };
    let mut results = scope(|scope| {
        let start = |_| Builder::new().spawn_scoped(scope, work_on_all).ok();
        let helpers: Vec<_> = (1..count).map_while(start).collect();
        let mut results = work_on_all();
        for helper in helpers {
            results.extend(helper.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        results
    });
    results.sort_unstable_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}
