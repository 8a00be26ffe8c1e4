//! Which functions are found in which text.

use super::{Body, functions, is_plain};

fn heads(source: &str) -> Vec<String> {
    functions(source)
        .into_iter()
        .map(|one| {
            let params: Vec<String> = (one.params.iter())
                .map(|param| format!("{} {}{}", param.kind, param.name, param.default))
                .collect();
            let body = match one.body {
                Body::Prototype => ";",
                Body::Whole => "{}",
                Body::Open => "{",
            };
            format!("{} {}({}){body}", one.returns, one.name, params.join(", "))
        })
        .collect()
}

#[test]
fn functions_are_found_as_they_are_written() {
    let rows: &[(&str, &[&str])] = &[
        (
            "int add(int x,int y){ return x + y; }",
            &["int add(int x, int y){}"],
        ),
        (
            "#include<map>\nusing namespace std;\nmap<char,int> h(string s){\n",
            &["map<char,int> h(string s){"],
        ),
        (
            "int f(vector<vector<int>> &a, const char *s = \"}\");",
            &["int f(vector<vector<int>>& a, const char* s = \"}\");"],
        ),
        (
            "static inline unsigned long long f(void) { if (1) { } }",
            &["unsigned long long f(){}"],
        ),
        (
            "auto f(int) -> std::string {}",
            &["std::string f(int rollcage_0){}"],
        ),
        (
            "std::string f(std::string)",
            &["std::string f(std::string rollcage_0){"],
        ),
        ("int f(int a[], int n[3]);", &["int f(int* a, int* n);"]),
        (
            "extern \"C\" { int f(); } int g() {}",
            &["int f();", "int g(){}"],
        ),
        (
            "template <class T> T f(T a) {} struct S { int g(); }; int S::g() {} S operator+(S a) {}",
            &[],
        ),
        (
            "int x = f(3); int y[] = {1}; namespace n { int f(); } typedef int (*p)(int);",
            &[],
        ),
        ("int f(int (*g)(int)); int h(int a[2][3]);", &[]),
        ("bool f(int a) const; int main() { f(", &["int main(){"]),
        ("// int f();\nconst char* s = \"int g();\";", &[]),
        ("int f(", &[]),
        ("}}}{{{ ((( int", &[]),
    ];
    for (source, expected) in rows {
        assert_eq!(heads(source), *expected, "{source}");
    }
}

#[test]
fn only_plain_types_are_plain() {
    for plain in [
        "int",
        "const std::vector<std::map<char, long long>>&",
        "std::array<int, 3>",
        "const char*",
    ] {
        assert!(is_plain(plain), "{plain}");
    }
    let deep = format!("{}int{}", "vector<".repeat(9), ">".repeat(9));
    let evil = [
        "Evil",
        "decltype(x)",
        "int; evil()",
        "vector<int>{}",
        "int/**/\"x\"",
        "std::array<int, 100000>",
        &deep,
    ];
    for not in evil {
        assert!(!is_plain(not), "{not}");
    }
}
