//! Sets `cfg(avx2)` where the compiler supports AVX2 in safe code: x86-64, Rust 1.88 or later.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-check-cfg=cfg(avx2)");
    let env = |name: &str| std::env::var(name).unwrap_or_default();
    let version = Command::new(env("RUSTC")).arg("--version").output();
    let version =
        version.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let minor = version.split('.').nth(1).and_then(|minor| minor.parse::<u32>().ok());
    if env("CARGO_CFG_TARGET_ARCH") == "x86_64" && minor.is_some_and(|minor| minor >= 88) {
        println!("cargo:rustc-cfg=avx2");
    }
}
