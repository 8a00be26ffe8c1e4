//! Pressure stall totals: how long tasks waited for CPU, memory and block devices, of one group
//! where the kernel keeps them apart, else of the whole host between two looks.

use std::fs;
use std::path::Path;

use confine::wire::Stalls;

const HOST: &str = "/proc/pressure";

/// Whether the kernel keeps totals of the group at `dir`.
pub(crate) fn is_told(dir: &Path) -> bool {
    dir.join("cpu.pressure").exists()
}

/// The totals of a group since it was made.
pub(crate) fn of_group(dir: &Path) -> Option<Stalls> {
    read(|what| dir.join(format!("{what}.pressure")))
}

/// The host's totals since it started.
pub(crate) fn of_host() -> Option<Stalls> {
    let stalls = read(|what| Path::new(HOST).join(what))?;
    Some(Stalls {
        of_host: true,
        ..stalls
    })
}

/// What the host's totals grew by since `before`.
pub(crate) fn since(before: &Stalls) -> Option<Stalls> {
    Some(less(&of_host()?, before))
}

fn less(now: &Stalls, before: &Stalls) -> Stalls {
    Stalls {
        of_host: now.of_host,
        cpu_some_us: now.cpu_some_us.saturating_sub(before.cpu_some_us),
        cpu_full_us: now.cpu_full_us.saturating_sub(before.cpu_full_us),
        memory_some_us: now.memory_some_us.saturating_sub(before.memory_some_us),
        memory_full_us: now.memory_full_us.saturating_sub(before.memory_full_us),
        io_some_us: now.io_some_us.saturating_sub(before.io_some_us),
        io_full_us: now.io_full_us.saturating_sub(before.io_full_us),
    }
}

/// Three files; none where the kernel keeps no totals or was told not to.
fn read(path: impl Fn(&str) -> std::path::PathBuf) -> Option<Stalls> {
    let totals = |what| fs::read_to_string(path(what)).ok().map(|text| parse(&text));
    let ((cpu_some_us, cpu_full_us), memory, io) =
        (totals("cpu")?, totals("memory")?, totals("io")?);
    Some(Stalls {
        of_host: false,
        cpu_some_us,
        cpu_full_us,
        memory_some_us: memory.0,
        memory_full_us: memory.1,
        io_some_us: io.0,
        io_full_us: io.1,
    })
}

/// `total=` of the lines `some` and `full`, in microseconds; 0 where a line is missing.
fn parse(text: &str) -> (u64, u64) {
    let total = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name));
        let total = line.and_then(|line| line.rsplit_once("total="));
        total
            .and_then(|(_, number)| number.trim().parse().ok())
            .unwrap_or(0)
    };
    (total("some"), total("full"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_read_by_name() {
        let text = "some avg10=21.98 avg60=13.46 avg300=9.75 total=4820570378\n\
                    full avg10=0.00 avg60=0.00 avg300=0.00 total=12\n";
        assert_eq!(parse(text), (4_820_570_378, 12));
        assert_eq!(parse("some avg10=0.00 total=5\n"), (5, 0));
        assert_eq!(parse(""), (0, 0));
    }

    #[test]
    fn a_group_without_totals_tells_none() {
        assert_eq!(of_group(Path::new("/nonexistent")), None);
        assert!(!is_told(Path::new("/nonexistent")));
    }

    #[test]
    fn growth_never_goes_below_nothing() {
        let before = Stalls {
            cpu_some_us: 10,
            io_full_us: 7,
            ..Stalls::default()
        };
        let now = Stalls {
            of_host: true,
            cpu_some_us: 30,
            io_full_us: 3,
            ..Stalls::default()
        };
        let grown = less(&now, &before);
        assert_eq!((grown.cpu_some_us, grown.io_full_us), (20, 0));
        assert!(grown.of_host);
    }
}
