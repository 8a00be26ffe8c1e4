//! Writes the seeds of every target to `FOLDER/TARGET/seed-N` and prints each target's name and what
//! it reads. `./x fuzz` calls it before the long form.
#![expect(clippy::print_stdout, reason = "a command line talks to its caller")]

use std::io::{Error, Result};
use std::path::Path;

fn main() -> Result<()> {
    let folder = std::env::args()
        .nth(1)
        .ok_or_else(|| Error::other("usage: fuzz-seeds FOLDER"))?;
    for target in fuzz::TARGETS {
        let folder = Path::new(&folder).join(target.name);
        std::fs::create_dir_all(&folder)?;
        for (number, seed) in (target.seeds)().into_iter().enumerate() {
            std::fs::write(folder.join(format!("seed-{number}")), seed)?;
        }
        println!("{}\t{}", target.name, target.what);
    }
    Ok(())
}
