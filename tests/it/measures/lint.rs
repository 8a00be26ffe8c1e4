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
