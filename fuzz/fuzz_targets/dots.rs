//! Any bytes as a path: `remove_dot_segments` against the steps A to E of 5.2.4.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oracle::{has_dot_segment, same, show, written};
use overthere_core::resolve::{may_have_dot_segments, remove_dot_segments};

fuzz_target!(|path: &[u8]| {
    let ((), found) = written(|out| remove_dot_segments(path, out));
    same(&found, &oracle::remove_dot_segments(path), || format!("5.2.4: {}", show(path)));
    assert!(!has_dot_segment(&found), "a dot-segment is left: {}", show(path));
    let twice = written(|out| remove_dot_segments(&found, out)).1;
    same(&twice, &found, || format!("twice is not once: {}", show(path)));
    assert!(found.len() <= path.len(), "longer: {}", show(path));
    if !may_have_dot_segments(path) {
        same(&found, path, || format!("may_have_dot_segments was sure: {}", show(path)));
    }
});
