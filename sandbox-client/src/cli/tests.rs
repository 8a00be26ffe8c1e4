//! The command line as a whole.

use clap::CommandFactory;

use super::*;

fn parse(words: &[&str]) -> Result<Cli, clap::Error> {
    let line: Vec<_> = ["rollcage"]
        .iter()
        .chain(words)
        .map(OsString::from)
        .collect();
    Cli::read(&line)
}

#[test]
fn definitions_are_sound() {
    Cli::command().debug_assert();
}

#[test]
fn every_command_has_help_with_examples() {
    fn check(command: &clap::Command, path: &str) {
        assert!(command.get_about().is_some(), "{path}");
        for argument in command.get_arguments() {
            let id = argument.get_id();
            assert!(argument.get_help().is_some() || id == "help", "{path} {id}");
        }
        let children: Vec<_> = command.get_subcommands().collect();
        if path.matches(' ').count() == 1 && !path.ends_with("bench") {
            let text = command
                .get_after_help()
                .map(ToString::to_string)
                .unwrap_or_default();
            assert!(text.contains("Examples:"), "{path}");
        }
        for child in children {
            check(child, &format!("{path} {}", child.get_name()));
        }
    }
    check(&Cli::command(), "rollcage");
}

#[test]
fn options_after_the_file_belong_to_the_program() {
    let cli = parse(&["run", "--time", "5s", "x.py", "--time", "-v", "--", "a"]).unwrap();
    let Command::Run(args) = cli.command else {
        panic!("not run")
    };
    assert_eq!(args.shown(), (false, "x.py --time -v -- a".to_owned()));
}

#[test]
fn a_command_stands_after_two_dashes() {
    let cli = parse(&["run", "--memory", "64M", "--", "sh", "-c", "echo --time"]).unwrap();
    let Command::Run(args) = cli.command else {
        panic!("not run")
    };
    assert_eq!(args.shown(), (true, "sh -c echo --time".to_owned()));
}

#[test]
fn global_options_stand_anywhere_before_the_program() {
    let cli = parse(&["run", "--json", "--connect", "unix:///s", "x.py", "--json"]).unwrap();
    assert!(cli.json);
    assert_eq!(cli.connection.connect.as_deref(), Some("unix:///s"));
}

#[test]
fn wrong_values_are_usage_errors_that_name_the_option() {
    for words in [
        &["run", "--time", "10", "x.py"][..],
        &["run", "--memory", "lots", "x.py"],
        &["run", "--env", "=x", "x.py"],
        &["batch", "--concurrency", "0"],
        &["bench", "start", "--runs", "0"],
        &["frobnicate"],
    ] {
        let error = parse(words).unwrap_err();
        assert!(error.use_stderr(), "{words:?}");
        if let Some(option) = words.iter().find(|word| word.starts_with("--")) {
            assert!(error.to_string().contains(option), "{words:?}: {error}");
        }
    }
}
