//! What linters find is counted, and one that is missing earns nothing.

use serde_json::json;

use super::{outcome, path, request};
use crate::{batch, tools};

#[test]
fn linters_count_and_a_missing_one_earns_nothing() {
    const TEST: &str = "measures::lint::linters_count_and_a_missing_one_earns_nothing";
    let Some(world) = tools::world(TEST) else {
        return;
    };
    let env = json!({"PATH": path()});
    let leak = "#include <stdlib.h>\nvoid f(void) {\n    char *p = malloc(10);\n    if (p)\n        p[0] = 1;\n}\n";
    let lint = |language: &str, file: &str| json!({"kind": "lint", "language": language, "file": file, "env": env, "max_warnings": 0});
    let sarif = json!({"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "t"}}, "results": [
        {"level": "error", "message": {"text": "m"}, "locations": [{"physicalLocation":
            {"artifactLocation": {"uri": "a.c"}, "region": {"startLine": 7}}}]}]}]});
    let of_command = json!({
        "kind": "lint", "argv": ["/bin/cat", "r.sarif"], "format": "sarif", "report": "stdout",
    });
    let mut requests = vec![
        request("leaky", json!({"m.c": leak}), lint("c", "m.c")),
        request(
            "clean",
            json!({"m.c": "int f(void) { return 1; }\n"}),
            lint("c", "m.c"),
        ),
        request("sarif", json!({"r.sarif": sarif.to_string()}), of_command),
    ];
    if tools::tool(&format!("{TEST}/ruff"), "python/bin/ruff").is_some() {
        requests.push(request(
            "ruff",
            json!({"m.py": "import os\n"}),
            lint("python", "m.py"),
        ));
        requests.push(request(
            "hidden",
            json!({"m.py": "import os  # noqa\n"}),
            lint("python", "m.py"),
        ));
    }
    let mut nowhere = lint("python", "m.py");
    nowhere["env"] = json!({"PATH": "/usr/bin:/bin"});
    requests.push(request("missing", json!({"m.py": "x = 1\n"}), nowhere));
    let results = batch::run(&world, &requests);
    assert_eq!(outcome(&results["clean"]), "passed", "{}", results["clean"]);
    for (id, line) in [("leaky", 6), ("sarif", 7), ("ruff", 1), ("hidden", 1)] {
        let Some(result) = results.get(id) else {
            continue;
        };
        assert_eq!(outcome(result), "failed", "{id}: {result}");
        let said = result["verdict"]["diagnostics"]
            .as_array()
            .expect("diagnostics");
        assert!(
            said.iter().any(|said| said["line"] == json!(line)),
            "{id}: {result}"
        );
    }
    assert_eq!(
        outcome(&results["missing"]),
        "verifier_error",
        "{}",
        results["missing"]
    );
}

/// What a solution says to keep a compiler quiet about it is a warning itself.
#[test]
fn warnings_switched_off_in_the_source_are_warnings() {
    const TEST: &str = "measures::lint::warnings_switched_off_in_the_source_are_warnings";
    let Some(world) = tools::world(TEST) else {
        return;
    };
    let bad = "int g(void) { int x; return x; }\n";
    let lint = json!({"kind": "lint", "language": "c", "file": "m.c", "max_warnings": 0});
    let with = |before: &str| json!({"m.c": format!("{before}\n{bad}")});
    let pragma = "/* */ # /**/ pra\\\ngma GCC diagnostic ignored \"-Wuninitialized\"";
    let silent = [
        ("plain", with("")),
        ("pragma", with(pragma)),
        ("marker", with("# 1 \"m.c\" 3")),
        (
            "operator",
            with("_Pragma(\"GCC diagnostic ignored \\\"-Wall\\\"\")"),
        ),
        (
            "header",
            json!({"m.c": "#include \"t.h\"\n", "t.h": format!("#pragma GCC system_header\n{bad}")}),
        ),
    ];
    let honest = "#define S(line) #line\nconst char *s(void) { return \"#1 \" S(x); }\n";
    let mut requests: Vec<_> = (silent.iter())
        .map(|(id, files)| request(id, files.clone(), lint.clone()))
        .collect();
    requests.push(request("honest", json!({"m.c": honest}), lint));
    let results = batch::run(&world, &requests);
    for (id, _) in silent {
        assert_eq!(outcome(&results[id]), "failed", "{id}: {}", results[id]);
    }
    assert_eq!(
        outcome(&results["honest"]),
        "passed",
        "{}",
        results["honest"]
    );
}
