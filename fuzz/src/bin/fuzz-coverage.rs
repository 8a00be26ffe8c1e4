//! The long form of one target under libFuzzer, which `./x fuzz` builds and starts. The target's
//! name comes in `ROLLCAGE_FUZZ_TARGET`; everything else is libFuzzer's command line.
#![no_main]

use std::sync::OnceLock;

static TARGET: OnceLock<fn(&[u8])> = OnceLock::new();

fn chosen() -> fn(&[u8]) {
    *TARGET.get_or_init(|| {
        let name = std::env::var("ROLLCAGE_FUZZ_TARGET").unwrap_or_default();
        match fuzz::target(&name) {
            Some(target) => target.run,
            None => unknown(&name),
        }
    })
}

#[expect(clippy::panic, reason = "libFuzzer gives no other way to say no")]
fn unknown(name: &str) -> ! {
    panic!("ROLLCAGE_FUZZ_TARGET={name:?} names no target");
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| chosen()(data));
