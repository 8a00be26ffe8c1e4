//! One bad request a row: how it differs from a good one, which field is to blame, what must be said.

/// A bad request.
#[derive(Debug)]
pub(super) struct Row {
    /// JSON object laid over a good request; `null` takes a field away.
    pub(super) change: &'static str,
    pub(super) field: &'static str,
    /// Parts of the message: the value, and what is allowed.
    pub(super) says: &'static [&'static str],
}

const fn row(change: &'static str, field: &'static str, says: &'static [&'static str]) -> Row {
    Row {
        change,
        field,
        says,
    }
}

pub(super) const ROWS: &[Row] = &[
    // Names that nobody knows.
    row(
        r#"{"policy": "pyton"}"#,
        "policy",
        &["pyton", "python", "shell"],
    ),
    row(r#"{"policy": null}"#, "policy", &["python", "shell"]),
    row(r#"{"image": "debian"}"#, "image", &["debian", "host"]),
    row(r#"{"image": "../host"}"#, "image", &["../host", "host"]),
    row(r#"{"tier": "wasm"}"#, "tier", &["wasm", "container"]),
    row(r#"{"tier": "vm"}"#, "tier", &["vm", "container"]),
    row(r#"{"polcy": "python"}"#, "polcy", &["polcy", "policy"]),
    row(
        r#"{"limits": {"wall_ms": 5}}"#,
        "limits.wall_ms",
        &["wall_ms", "wall_ms_max"],
    ),
    row(
        r#"{"verify": {"kind": "magic"}}"#,
        "verify.kind",
        &["magic", "asserts"],
    ),
    row(
        r#"{"verify": {"kind": "pytest", "git": "scrub", "test_files": {".git/HEAD": "x"}}}"#,
        "verify.test_files",
        &["git repository"],
    ),
    row(r#"{"verify": {}}"#, "verify.kind", &["asserts"]),
    row(
        r#"{"verify": {"kind": "asserts"}}"#,
        "verify.file",
        &["file"],
    ),
    row(
        r#"{"verify": {"kind": "stdout"}}"#,
        "verify.stdout",
        &["stdout"],
    ),
    row(
        r#"{"verify": {"kind": "exit_code", "code": "x"}}"#,
        "verify.code",
        &["exit_code"],
    ),
    row(
        r#"{"verify": {"kind": "exit_code", "exit_code": 256}}"#,
        "verify.exit_code",
        &["256", "255"],
    ),
    // Policy documents.
    row(
        r#"{"policy_document": "name = \"x\"\nextends = \"python\"\n"}"#,
        "policy_document",
        &["policy"],
    ),
    row(
        r#"{"policy": null, "policy_document": "name = "}"#,
        "policy_document",
        &["line 1, column 8", "name"],
    ),
    row(
        r#"{"policy": null, "policy_document": "name = \"x\"\nextends = \"python\"\nnonsense = 1\n"}"#,
        "policy_document",
        &["line 3, column 1", "nonsense"],
    ),
    row(
        r#"{"policy": null, "policy_document": "name = \"x\"\nextends = \"nobody\"\n"}"#,
        "policy_document",
        &["nobody"],
    ),
    row(
        r#"{"policy": null, "policy_document": "name = \"x\"\nextends = \"python\"\n[limits]\nwall_ms_max = 999_999_999\n"}"#,
        "policy_document",
        &["wall_ms_max", "999999999"],
    ),
    // Arguments.
    row(r#"{"argv": []}"#, "argv", &["empty"]),
    row(r#"{"argv": null}"#, "argv", &["empty"]),
    row(r#"{"argv": [""]}"#, "argv[0]", &["empty"]),
    row(r#"{"argv": ["python3", "a\u0000b"]}"#, "argv[1]", &["NUL"]),
    row(r#"{"argv": "python3"}"#, "argv", &["python3"]),
    row(r#"{"env": {"A=B": "c"}}"#, "env[\"A=B\"]", &["="]),
    row(r#"{"env": {"": "c"}}"#, "env[\"\"]", &["empty"]),
    row(r#"{"env": {"A": "b\u0000"}}"#, "env[\"A\"]", &["NUL"]),
    row(r#"{"cwd": "tmp"}"#, "cwd", &["tmp", "absolute"]),
    row(
        r#"{"cwd": "/workspace/../etc"}"#,
        "cwd",
        &["..", "absolute"],
    ),
    // Paths.
    row(r#"{"files": {"../x": "y"}}"#, "files[\"../x\"]", &[".."]),
    row(
        r#"{"files": {"a/../../x": "y"}}"#,
        "files[\"a/../../x\"]",
        &[".."],
    ),
    row(
        r#"{"files": {"/etc/passwd": "y"}}"#,
        "files[\"/etc/passwd\"]",
        &["/workspace"],
    ),
    row(
        r#"{"files": {"/workspacex/a": "y"}}"#,
        "files[\"/workspacex/a\"]",
        &["/workspace"],
    ),
    row(r#"{"files": {"": "y"}}"#, "files[\"\"]", &["empty"]),
    row(r#"{"files": {"a//b": "y"}}"#, "files[\"a//b\"]", &["empty"]),
    row(r#"{"files": {"a/": "y"}}"#, "files[\"a/\"]", &["empty"]),
    row(r#"{"files": {"./a": "y"}}"#, "files[\"./a\"]", &["`.`"]),
    row(
        r#"{"files": {"a\u0000b": "y"}}"#,
        "files[\"a\\0b\"]",
        &["NUL"],
    ),
    row(
        r#"{"files": {"a": "x", "a/b": "y"}}"#,
        "files[\"a/b\"]",
        &["\"a\""],
    ),
    row(
        r#"{"files": {"a": "x", "/workspace/a": "y"}}"#,
        "files[\"a\"]",
        &["same file"],
    ),
    row(
        r#"{"files": {"a": {"text": "x", "mode": 4095}}}"#,
        "files[\"a\"].mode",
        &["4095", "511"],
    ),
    row(r#"{"collect": ["../x"]}"#, "collect[0]", &[".."]),
    row(
        r#"{"collect": ["ok", "/etc/passwd"]}"#,
        "collect[1]",
        &["/workspace"],
    ),
    // Limits: nothing, less than nothing, more than the policy has.
    row(
        r#"{"limits": {"wall_ms_max": 0}}"#,
        "limits.wall_ms_max",
        &["0", "240000"],
    ),
    row(
        r#"{"limits": {"wall_ms_max": -5}}"#,
        "limits.wall_ms_max",
        &["-5", "240000"],
    ),
    row(
        r#"{"limits": {"wall_ms_max": 240001}}"#,
        "limits.wall_ms_max",
        &["240001", "240000"],
    ),
    row(
        r#"{"limits": {"cpu_ms_max": 0}}"#,
        "limits.cpu_ms_max",
        &["0", "60000"],
    ),
    row(
        r#"{"limits": {"cpu_ms_max": 60001}}"#,
        "limits.cpu_ms_max",
        &["60001", "60000"],
    ),
    row(
        r#"{"limits": {"cpu_millicores_max": 1001}}"#,
        "limits.cpu_millicores_max",
        &["1001", "1000"],
    ),
    row(
        r#"{"limits": {"memory_bytes_max": 0}}"#,
        "limits.memory_bytes_max",
        &["0", "2147483648"],
    ),
    row(
        r#"{"limits": {"memory_bytes_max": -1}}"#,
        "limits.memory_bytes_max",
        &["-1", "2147483648"],
    ),
    row(
        r#"{"limits": {"memory_bytes_max": "3 GiB"}}"#,
        "limits.memory_bytes_max",
        &["3221225472", "2147483648"],
    ),
    row(
        r#"{"limits": {"pids_max": 0}}"#,
        "limits.pids_max",
        &["0", "64"],
    ),
    row(
        r#"{"limits": {"pids_max": 65}}"#,
        "limits.pids_max",
        &["65", "64"],
    ),
    row(
        r#"{"limits": {"disk_bytes_max": 0}}"#,
        "limits.disk_bytes_max",
        &["0", "268435456"],
    ),
    row(
        r#"{"limits": {"disk_bytes_max": "1 GiB"}}"#,
        "limits.disk_bytes_max",
        &["1073741824", "268435456"],
    ),
    row(
        r#"{"limits": {"files_max": 20001}}"#,
        "limits.files_max",
        &["20001", "20000"],
    ),
    row(
        r#"{"limits": {"output_bytes_max": -1}}"#,
        "limits.output_bytes_max",
        &["-1", "1048576"],
    ),
    row(
        r#"{"limits": {"output_bytes_max": 1048577}}"#,
        "limits.output_bytes_max",
        &["1048577", "1048576"],
    ),
    row(
        r#"{"limits": {"output_bytes_total_max": 67108865}}"#,
        "limits.output_bytes_total_max",
        &["67108865", "67108864"],
    ),
    row(
        r#"{"limits": {"open_files_max": 257}}"#,
        "limits.open_files_max",
        &["257", "256"],
    ),
    row(
        r#"{"limits": {"wall_ms_max": 1.5}}"#,
        "limits.wall_ms_max",
        &["1.5"],
    ),
    row(
        r#"{"limits": {"wall_ms_max": "soon"}}"#,
        "limits.wall_ms_max",
        &["soon"],
    ),
    row(
        r#"{"limits": {"wall_ms_max": 99999999999999999999}}"#,
        "limits.wall_ms_max",
        &["1e+20", "9223372036854775807"],
    ),
    // Everything else that is only a name or a number.
    row(r#"{"id": "has space"}"#, "id", &["has space", "256"]),
    row(r#"{"priority": 1001}"#, "priority", &["1001", "1000"]),
    row(
        r#"{"deadline_ms": 86400001}"#,
        "deadline_ms",
        &["86400001", "86400000"],
    ),
    row(
        r#"{"traceparent": "nonsense"}"#,
        "traceparent",
        &["nonsense", "00-"],
    ),
    row(r#"{"labels": {"": "x"}}"#, "labels[\"\"]", &["256"]),
];
