//! What is run of which test code.

use super::{Step, read};

fn step(path: &str, panics: Option<&str>) -> Step {
    Step {
        path: path.to_owned(),
        panics: panics.map(str::to_owned),
    }
}

#[test]
fn tests_are_found_wherever_they_stand() {
    let code = "#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn one() { f(); }\n\
                #[test] #[should_panic(expected = \"far\")] fn two() { }\n fn helper() {}\n\
                #[test] #[ignore] fn three() {} }";
    let steps = read(code);
    assert_eq!(
        steps.all,
        [
            step("tests::one", None),
            step("tests::two", Some("\"far\""))
        ]
    );
    assert!(steps.code.contains("pub mod tests {") && steps.code.contains("pub fn one()"));
    assert!(!steps.code.contains("#["), "{}", steps.code);
    assert_eq!(steps.code.matches('\n').count(), code.matches('\n').count());
}

#[test]
fn a_program_or_statements_are_one_test() {
    let steps = read("fn check() {}\nfn main() { check(); }");
    assert_eq!(steps.all, [step("main", None)]);
    assert!(steps.code.contains("pub fn main()"));
    let steps = read("assert_eq!(f(1), 2); // fn main() {}");
    assert_eq!(steps.all, [step("rollcage_whole", None)]);
    assert_eq!(steps.before, " pub fn rollcage_whole() {");
}
