//! What clients send to the SandboxFusion endpoint, and its file of keys: read, or refused with a
//! field and words.

use compat::sandboxfusion::RunCode;
use compat::server::read_keys;

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let seeds = [
        r#"{"code":"print(1)","language":"python"}"#,
        r#"{"code":"int main() {}","language":"cpp","stdin":"in","compile_timeout":10,"run_timeout":0.5,"memory_limit_MB":64,"files":{"a/b":"aGk=","c":null},"fetch_files":["out","/workspace/b"]}"#,
        r#"{"code":"","language":"java","memory_limit_MB":-1,"files":{},"fetch_files":[],"stdin":null}"#,
        "[[key]]\nname = \"a\"\nsha256 = \"2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b\"\npolicy = \"python\"\n",
    ];
    seeds.iter().map(|seed| seed.as_bytes().to_vec()).collect()
}

pub(super) fn run(data: &[u8]) {
    match RunCode::parse(data) {
        Ok(request) => {
            assert!(request.run_ms_max > 0 && request.compile_ms_max > 0);
            assert!(request.memory_bytes_max != Some(0));
            assert!(!request.fetch_files.iter().any(|path| path.contains('*')));
        }
        Err(invalid) => {
            assert!(!invalid.field.is_empty() && !invalid.problem.is_empty());
            assert!(invalid.value.chars().count() <= 61, "{invalid}");
        }
    }
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if let Ok(keys) = read_keys(text) {
        assert!(keys.iter().all(|key| key.sha256.len() == 64));
    }
}
