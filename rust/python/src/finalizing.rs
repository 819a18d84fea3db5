//! Daemon threads while the interpreter ends.
//!
//! CPython before 3.14 then ends a thread that waits for the GIL by unwinding its stack, and a frame of Rust that is
//! unwound so aborts the process.  At exit a function therefore waits until no other thread is in a native function,
//! and a thread that comes to one later sleeps until the process is gone, as every such thread does from 3.14 on.

use std::cell::Cell;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use pyo3::prelude::*;

/// Whether the interpreter is about to end.
static IS_ENDING: AtomicBool = AtomicBool::new(false);
/// Threads in a native function with the interpreter attached.  It is changed with the GIL held.
static INSIDE: AtomicUsize = AtomicUsize::new(0);
/// Threads in a native function that wait for the GIL.
static RETURNING: AtomicUsize = AtomicUsize::new(0);
/// How long the end waits for them: Python code that a native function has called may not come back.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a thread keeps the GIL at the end if another asks for it, in seconds.
const SWITCH_INTERVAL: f64 = 1e-5;

thread_local! {
    /// Native functions in one another.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    /// Whether this thread ends the interpreter.
    static IS_LAST: Cell<bool> = const { Cell::new(false) };
}

/// A native function of this thread; the interpreter is attached at its beginning and end.
pub struct Inside;

impl Inside {
    /// Begin a native function, or sleep for ever.
    #[inline(always)]
    pub fn enter(py: Python<'_>) -> Inside {
        let depth = DEPTH.get();
        if depth == 0 {
            change(1);
            if IS_ENDING.load(Ordering::SeqCst) && !IS_LAST.get() {
                change(usize::MAX);
                py.detach(|| sleep_forever());
            }
        }
        DEPTH.set(depth + 1);
        Inside
    }
}

impl Drop for Inside {
    #[inline(always)]
    fn drop(&mut self) {
        let depth = DEPTH.get().saturating_sub(1);
        DEPTH.set(depth);
        if depth == 0 {
            change(usize::MAX);
        }
    }
}

/// Add to the threads inside.
#[inline(always)]
fn change(by: usize) {
    #[cfg(Py_GIL_DISABLED)]
    INSIDE.fetch_add(by, Ordering::SeqCst);
    // The GIL is held: nobody else writes.
    #[cfg(not(Py_GIL_DISABLED))]
    INSIDE.store(INSIDE.load(Ordering::Relaxed).wrapping_add(by), Ordering::Relaxed);
}

fn sleep_forever() -> ! {
    loop {
        sleep(Duration::from_secs(3600));
    }
}

/// Wait for the GIL from here on, or sleep for ever.
fn begin_return() {
    RETURNING.fetch_add(1, Ordering::SeqCst);
    if IS_ENDING.load(Ordering::SeqCst) && !IS_LAST.get() {
        RETURNING.fetch_sub(1, Ordering::SeqCst);
        sleep_forever();
    }
}

/// Work with the interpreter detached, in a native function.
pub fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
    let depth = DEPTH.replace(0);
    if depth > 0 {
        change(usize::MAX);
    }
    let done = py.detach(|| {
        let done = catch_unwind(AssertUnwindSafe(work));
        begin_return();
        done
    });
    if depth > 0 {
        change(1);
    }
    DEPTH.set(depth);
    RETURNING.fetch_sub(1, Ordering::SeqCst);
    done.unwrap_or_else(|panic| resume_unwind(panic))
}

/// Work with the interpreter attached, from a thread where it may be detached.
pub fn attached<T>(work: impl FnOnce(Python<'_>) -> T) -> T {
    // SAFETY: it may be called by every thread.
    #[cfg(not(feature = "abi3"))]
    let is_attached = unsafe { pyo3::ffi::PyGILState_Check() } == 1;
    #[cfg(feature = "abi3")]
    let is_attached = DEPTH.get() > 0;
    if is_attached {
        return Python::attach(work);
    }
    begin_return();
    Python::attach(|py| {
        let inside = Inside::enter_returned();
        let done = catch_unwind(AssertUnwindSafe(|| work(py)));
        drop(inside);
        done
    })
    .unwrap_or_else(|panic| resume_unwind(panic))
}

impl Inside {
    /// Begin after `begin_return`.
    fn enter_returned() -> Inside {
        let depth = DEPTH.get();
        if depth == 0 {
            change(1);
        }
        DEPTH.set(depth + 1);
        RETURNING.fetch_sub(1, Ordering::SeqCst);
        Inside
    }
}

/// Wait until no other thread is in a native function; none comes in any more.
///
/// Python code that a native function has called asks for the GIL again after each call to the system; threads that
/// compute would keep it from that for 5 ms each time.  So they are asked to pass it on at once.
#[pyfunction]
fn wait_for_threads(py: Python<'_>) -> PyResult<()> {
    IS_LAST.set(true);
    IS_ENDING.store(true, Ordering::SeqCst);
    py.import("sys")?.call_method1("setswitchinterval", (SWITCH_INTERVAL,))?;
    py.detach(|| {
        let begun = Instant::now();
        let count = || INSIDE.load(Ordering::SeqCst) + RETURNING.load(Ordering::SeqCst);
        while count() > 0 && begun.elapsed() < PATIENCE {
            sleep(Duration::from_millis(1));
        }
    });
    Ok(())
}

/// Forget the threads that a child process does not have.
#[pyfunction]
fn forget_threads() {
    INSIDE.store(usize::from(DEPTH.get() > 0), Ordering::SeqCst);
    RETURNING.store(0, Ordering::SeqCst);
}

/// Let both be called when they are due.
pub fn install(py: Python<'_>) -> PyResult<()> {
    let end = pyo3::wrap_pyfunction!(wait_for_threads, py)?;
    py.import("atexit")?.call_method1("register", (end,))?;
    if let Some(register) = py.import("os")?.getattr_opt("register_at_fork")? {
        let keywords = pyo3::types::PyDict::new(py);
        keywords.set_item("after_in_child", pyo3::wrap_pyfunction!(forget_threads, py)?)?;
        register.call((), Some(&keywords))?;
    }
    Ok(())
}
