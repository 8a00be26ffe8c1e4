//! From a request to the runs it means.

use serde_json::json;

use super::super::language;
use super::*;

const CEILINGS: Ceilings = Ceilings {
    wall_ms_max: 240_000,
    cpu_ms_max: 60_000,
    cpu_millicores_max: 2_000,
    memory_bytes_max: 1 << 30,
    output_bytes_total_max: 1 << 20,
};

fn planned(language: &str, check: impl FnOnce(Plan<'_>)) {
    let body = json!({
        "code": "source", "language": language, "stdin": "in", "run_timeout": 2,
        "compile_timeout": 50, "memory_limit_MB": 64, "files": { "data.txt": "aGk=" },
        "fetch_files": ["out"],
    });
    let request = RunCode::parse(body.to_string().as_bytes()).unwrap();
    let language = language::find(language).unwrap();
    let placed = language.place(&request.code, |_| false).unwrap();
    check(Plan {
        request: &request,
        language,
        placed: &placed,
        policy: None,
        search_path: Some("/opt/bin:/usr/bin"),
        key: Some("team"),
        output_bytes_max: 16 << 20,
    });
}

#[test]
fn a_script_is_one_run_with_the_caller_s_limits() {
    planned("python", |plan| {
        let run = plan.run(Vec::new(), &CEILINGS, 9_000);
        assert_eq!(run.policy, "python");
        assert_eq!(run.argv, ["python3", "main.py"]);
        assert_eq!(run.files["main.py"].content, b"source");
        assert_eq!(run.files["data.txt"].content, b"hi");
        assert_eq!(run.stdin.as_deref(), Some(&b"in"[..]));
        assert_eq!(run.collect, ["out"]);
        assert_eq!(run.env["PATH"], "/opt/bin:/usr/bin");
        assert_eq!(run.labels["endpoint.key"], "team");
        assert_eq!(run.deadline_ms, 9_000);
        let limits = run.limits.unwrap();
        assert_eq!(limits.wall_ms_max, Some(2_000));
        // Both of its cores for all of its time: the wall time is what counts.
        assert_eq!(limits.cpu_ms_max, Some(4_000));
        assert_eq!(limits.memory_bytes_max, Some(64 << 20));
        assert_eq!(limits.output_bytes_total_max, Some(1 << 20));
    });
}

#[test]
fn a_built_language_is_two_runs_and_the_caller_s_memory_is_the_program_s() {
    planned("cpp", |plan| {
        let (stage, pattern) = plan.language.build.as_ref().unwrap();
        let build = plan.build((stage, pattern), &CEILINGS, 1);
        assert_eq!(build.argv[0], "g++");
        assert_eq!(build.collect, [*pattern]);
        assert_eq!(build.stdin, None);
        let limits = build.limits.unwrap();
        assert_eq!(limits.wall_ms_max, Some(50_000));
        assert_eq!(
            limits.cpu_ms_max,
            Some(60_000),
            "no more than the policy gives"
        );
        assert_eq!(limits.memory_bytes_max, None);
        let program = CollectedFile {
            path: (*pattern).to_owned(),
            content: b"elf".to_vec(),
            mode: 0o755,
        };
        let run = plan.run(vec![program], &CEILINGS, 1);
        assert_eq!(run.policy, "build");
        assert_eq!(run.argv, [format!("./{pattern}")]);
        assert_eq!(run.files[*pattern].mode, Some(0o755));
        assert_eq!(run.limits.unwrap().memory_bytes_max, Some(64 << 20));
    });
}

#[test]
fn a_policy_that_is_named_is_that_of_every_stage() {
    planned("cpp", |plan| {
        let plan = Plan {
            policy: Some("site"),
            ..plan
        };
        let (stage, pattern) = plan.language.build.as_ref().unwrap();
        assert_eq!(plan.build((stage, pattern), &CEILINGS, 1).policy, "site");
        assert_eq!(plan.run(Vec::new(), &CEILINGS, 1).policy, "site");
    });
}

#[test]
fn paths_are_those_of_the_workspace() {
    assert_eq!(relative("/workspace/a"), "a");
    assert_eq!(relative("a"), "a");
    assert_eq!(relative("/etc/a"), "/etc/a");
}
