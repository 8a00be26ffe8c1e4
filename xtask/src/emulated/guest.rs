//! Booting the emulated host and reading what its tests said. A test that is listed and did not run
//! there, or skipped itself, is a failure, and so is a host that did not come to its end.

use super::Ran;
use super::kernel::Kernel;
use crate::closing::Counts;
use crate::shell;
use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

pub(super) const EMULATOR: &str = "/usr/bin/qemu-system-x86_64";
/// A host that takes longer hangs.
const SECONDS_MAX: &str = "900";
const MEMORY_MIB: &str = "1536";
/// The last line of a host that came to its end, as `second.sh` writes it.
const END: &str = "emulated-host: end";
/// What is shown of the kernel's own messages when something is wrong.
const CONSOLE_LINES_MAX: usize = 60;

/// Boots, waits for the end, and judges each of `names`.
///
/// # Errors
/// When the emulator cannot be started or its console cannot be read.
pub(super) fn run(work: &Path, kernel: &Kernel, image: &Path, names: &[String]) -> Result<Ran> {
    let console = work.join("console.log");
    let mut qemu = Command::new("timeout");
    qemu.args(["--kill-after=10", SECONDS_MAX, EMULATOR])
        .args(["-accel", "tcg,thread=multi", "-smp", "2", "-m", MEMORY_MIB])
        .args(["-nodefaults", "-no-user-config", "-display", "none"])
        .args(["-monitor", "none", "-no-reboot"])
        .arg("-kernel")
        .arg(&kernel.image)
        .arg("-initrd")
        .arg(&kernel.first_files)
        .args([
            "-append",
            "console=ttyS0 quiet panic=-1 lsm=landlock,lockdown,yama",
        ])
        .arg("-drive")
        .arg(format!(
            "file={},if=virtio,format=raw,cache=unsafe",
            image.display()
        ))
        .arg("-serial")
        .arg(format!("file:{}", console.display()))
        .args(["-serial", "stdio"]);
    let watched = shell::watch(&mut qemu)?;
    let judged = judge(&watched.text, names);
    for problem in &judged.problems {
        eprintln!("xtask: emulated host: {problem}");
    }
    if judged.counts.failed > 0 {
        show_console(&console)?;
    }
    Ok(Ran::Counted {
        counts: judged.counts,
        held: judged.held,
    })
}

fn show_console(console: &Path) -> Result<()> {
    let bytes = fs::read(console).with_context(|| format!("read {}", console.display()))?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    let first = lines.len().saturating_sub(CONSOLE_LINES_MAX);
    eprintln!("xtask: the end of its console:");
    for line in lines.get(first..).unwrap_or_default() {
        eprintln!("  {}", line.trim_end());
    }
    Ok(())
}

/// What the results on the serial line mean.
#[derive(Debug, Default)]
struct Judged {
    counts: Counts,
    held: Vec<String>,
    problems: Vec<String>,
}

fn judge(told: &str, names: &[String]) -> Judged {
    let lines: Vec<&str> = told.lines().map(str::trim_end).collect();
    let held: BTreeSet<&str> = lines
        .iter()
        .filter_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... ok"))
        .collect();
    let skipped: Vec<&str> = lines
        .iter()
        .filter_map(|line| line.strip_prefix("SKIP "))
        .collect();
    let mut judged = Judged::default();
    for name in names {
        let own = name.rsplit("::").next().unwrap_or(name);
        let told = skipped.iter().find(|line| {
            let skip = line.split([':', '/']).next().unwrap_or(line);
            line.starts_with(name.as_str()) || skip == own
        });
        match told {
            Some(line) => judged.problem(format!("a listed test was skipped there: {line}")),
            None if held.contains(name.as_str()) => judged.held.push(name.clone()),
            None => judged.problem(format!("{name} did not hold there")),
        }
    }
    judged.counts.passed = judged.held.len() as u64;
    if names.is_empty() {
        judged.problem("no test is listed".to_owned());
    }
    if !lines.contains(&END) {
        judged.problem("it did not come to its end".to_owned());
    }
    judged
}

impl Judged {
    fn problem(&mut self, problem: String) {
        self.problems.push(problem);
        self.counts.failed += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Vec<String> {
        ["a::one", "a::two"].map(str::to_owned).to_vec()
    }

    #[test]
    fn what_held_is_counted() {
        let told = "test a::one ... ok\r\ntest a::two ... ok\r\nemulated-host: end\r\n";
        let judged = judge(told, &names());
        assert_eq!((judged.counts.passed, judged.counts.failed), (2, 0));
        assert_eq!(judged.held, names());
    }

    #[test]
    fn what_failed_did_not_run_or_was_skipped_is_a_failure() {
        for told in [
            "test a::one ... ok\ntest a::two ... FAILED\nemulated-host: end\n",
            "test a::one ... ok\nemulated-host: end\n",
            "test a::one ... ok\ntest a::two ... ok\nSKIP two: no\nemulated-host: end\n",
            "test a::one ... ok\ntest a::two ... ok\nSKIP a::two/part: no\nemulated-host: end\n",
            "test a::one ... ok\ntest a::two ... ok\n",
        ] {
            assert_eq!(judge(told, &names()).counts.failed, 1, "{told}");
        }
        assert_eq!(judge("emulated-host: end\n", &[]).counts.failed, 1);
    }
}
