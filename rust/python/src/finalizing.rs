//! Daemon threads when the interpreter shuts down.
//!
//! CPython before 3.14 then ends a thread that waits for the GIL by unwinding its stack, and unwinding a frame of Rust
//! this way aborts the process.  Therefore a function at exit waits until no other thread is in a native function, and
//! a thread that enters one later sleeps until the process ends, as every such thread does from 3.14 on.

use std::cell::Cell;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use pyo3::prelude::*;

/// Whether the interpreter is shutting down.
static IS_ENDING: AtomicBool = AtomicBool::new(false);
/// The number of threads in a native function with the interpreter attached.  It is changed with the GIL held.
static INSIDE: AtomicUsize = AtomicUsize::new(0);
/// The number of threads in a native function that wait for the GIL.
static RETURNING: AtomicUsize = AtomicUsize::new(0);
/// Time to wait for these threads: Python code that a native function has called may never return.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);
/// Switch interval of the GIL during shutdown, in seconds.
const SWITCH_INTERVAL: f64 = 1e-5;

thread_local! {
    /// The number of nested native functions in this thread.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    /// Whether this thread shuts down the interpreter.
    static IS_LAST: Cell<bool> = const { Cell::new(false) };
}

/// A guard for a native function of this thread; the interpreter is attached when it is created and dropped.
pub struct Inside;

impl Inside {
    /// Enter a native function; sleep forever if the interpreter is shutting down.
    #[inline(always)]
    pub fn enter(py: Python<'_>) -> Inside {
        let depth = DEPTH.get();
        if depth == 0 {
            change_inside(1);
            if IS_ENDING.load(Ordering::SeqCst) && !IS_LAST.get() {
                change_inside(usize::MAX);
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
            change_inside(usize::MAX);
        }
    }
}

/// Add a number, or its two's complement, to the number of threads inside.
#[inline(always)]
fn change_inside(by: usize) {
    #[cfg(Py_GIL_DISABLED)]
    INSIDE.fetch_add(by, Ordering::SeqCst);
    // The GIL is held, so no other thread writes.
    #[cfg(not(Py_GIL_DISABLED))]
    INSIDE.store(INSIDE.load(Ordering::Relaxed).wrapping_add(by), Ordering::Relaxed);
}

fn sleep_forever() -> ! {
    loop {
        sleep(Duration::from_secs(3600));
    }
}

/// Register this thread as waiting for the GIL; sleep forever if the interpreter is shutting down.
fn begin_return() {
    RETURNING.fetch_add(1, Ordering::SeqCst);
    if IS_ENDING.load(Ordering::SeqCst) && !IS_LAST.get() {
        RETURNING.fetch_sub(1, Ordering::SeqCst);
        sleep_forever();
    }
}

/// Do work with the interpreter detached, in a native function.
pub fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
    let depth = DEPTH.replace(0);
    if depth > 0 {
        change_inside(usize::MAX);
    }
    let result = py.detach(|| {
        let result = catch_unwind(AssertUnwindSafe(work));
        begin_return();
        result
    });
    if depth > 0 {
        change_inside(1);
    }
    DEPTH.set(depth);
    RETURNING.fetch_sub(1, Ordering::SeqCst);
    result.unwrap_or_else(|panic| resume_unwind(panic))
}

/// Do work with the interpreter attached, from a thread where it may be detached.
pub fn attached<T>(work: impl FnOnce(Python<'_>) -> T) -> T {
    // SAFETY: every thread may call it.
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
        let result = catch_unwind(AssertUnwindSafe(|| work(py)));
        drop(inside);
        result
    })
    .unwrap_or_else(|panic| resume_unwind(panic))
}

impl Inside {
    /// Enter a native function again after `begin_return`.
    fn enter_returned() -> Inside {
        let depth = DEPTH.get();
        if depth == 0 {
            change_inside(1);
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
        let start = Instant::now();
        let count = || INSIDE.load(Ordering::SeqCst) + RETURNING.load(Ordering::SeqCst);
        while count() > 0 && start.elapsed() < SHUTDOWN_TIMEOUT {
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

/// Register both functions: at exit, and in a child process after a fork.
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
