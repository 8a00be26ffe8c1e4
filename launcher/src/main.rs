//! `sandbox-launcher`: the only process that stays root. Started by `sandboxd`, never by hand.
//!
//! One thread. It takes typed frames from the api, checks them against its own ceilings, makes
//! and removes kernel objects, and attests every spawn and reap to the audit process. It parses
//! no policy text and no network input.

mod attest;
mod ceilings;
mod cgroup;
mod cpus;
mod forker;
mod image;
mod inspect;
mod instance;
mod options;
mod pressure;
mod remove;
mod serve;

use anyhow::Context as _;
use clap::Parser as _;
use confine::sys::inherited::keep_ended_children;

use options::{Cli, Command};

fn main() -> anyhow::Result<()> {
    keep_ended_children().context("take back the signal of ended children")?;
    match Cli::parse().command {
        Command::Serve(args) => serve::run(&args),
    }
}
