//! Lines of `rollcage batch`: each that is not empty is answered once, in order; ids differ; what
//! is a request can be printed and read again.

use sandbox_client::cli::read_batch;

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let lines = [
        r#"{"id":"t1","policy":"python","argv":["python3","-c","print(1)"]}"#,
        r#"{"policy":"shell","argv":["true"],"limits":{"wall_ms_max":100,"memory_bytes_max":"64 MiB"}}"#,
        r#"{"id":"t2","policy":"python","files":{"s.py":"def f(): return 1","b":{"base64":"AAE="},"c":{"text":"x","mode":493}},"verify":{"kind":"asserts","file":"s.py","code":"assert f() == 1"}}"#,
        r#"{"id":"t3","policy":"shell","argv":["sh"],"stdin":"x","env":{"A":"b"},"labels":{"a":"b"},"collect":["*.txt"],"idempotency_key":"k"}"#,
        r#"{"id":"t3"}"#,
        r#"{"id":7}"#,
        "not json",
    ];
    let mut seeds: Vec<Vec<u8>> = lines.iter().map(|line| line.as_bytes().to_vec()).collect();
    seeds.push(lines.join("\n").into_bytes());
    seeds
}

pub(super) fn run(data: &[u8]) {
    let answers = read_batch(data);
    let lines = data.split(|byte| *byte == b'\n');
    let asked = lines.filter(|line| !line.trim_ascii().is_empty()).count();
    assert_eq!(answers.len(), asked, "every line is answered once");
    let mut ids = std::collections::BTreeSet::new();
    for answer in answers {
        match answer {
            Ok(request) => {
                assert!(!request.id.is_empty());
                assert!(ids.insert(request.id.clone()), "{} twice", request.id);
                super::request::prints_and_reads(&request);
            }
            Err(result) => {
                assert!(result["id"].is_string(), "{result}");
                assert_eq!(result["error"]["code"], "invalid_argument", "{result}");
                assert!(result["error"]["message"].is_string(), "{result}");
            }
        }
    }
}
