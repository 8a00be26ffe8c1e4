//! Which functions are found in which text.

use super::{functions, is_plain, without_lifetimes};

fn heads(source: &str) -> Vec<String> {
    functions(source)
        .iter()
        .map(|one| {
            let end = if one.has_body { "{}" } else { "" };
            assert!(source.get(one.start..one.head_end).is_some(), "{one:?}");
            format!("{}{end}", one.head())
        })
        .collect()
}

#[test]
fn functions_are_found_as_they_are_written() {
    let rows: &[(&str, &[&str])] = &[
        (
            "fn f(a: i32,mut b :&mut Vec<i32>) -> bool{ a == 1 }",
            &["fn f(a: i32, b: &mut Vec<i32>) -> bool{}"],
        ),
        (
            "use a::{b, c};\n/// doc\npub fn f(s: &str)-> String{\n",
            &["fn f(s: &str) -> String"],
        ),
        (
            "fn f<'a>(a: &'a [i32], b: (i32, HashMap<&str, [u8; 3]>)) -> &'a str;",
            &["fn f(a: &'a[i32], b: (i32, HashMap<&str, [u8; 3]>)) -> &'a str"],
        ),
        (
            "struct S { f: fn(i32) -> i32 } impl S { fn g(&self) {} } mod m { fn h() {} } fn i() {}",
            &["fn i() -> (){}"],
        ),
        (
            "#[inline] fn f() -> Vec<i32> where i32: Copy { vec![] }",
            &["fn f() -> Vec<i32>{}"],
        ),
        (
            "async fn f() {} unsafe fn g() {} fn h((a, b): (i32, i32)) {}",
            &[],
        ),
        ("// fn f() {}\nconst A: &str = \"fn g() {}\";", &[]),
        ("fn f(", &[]),
        ("}}} fn", &[]),
    ];
    for (source, expected) in rows {
        assert_eq!(heads(source), *expected, "{source}");
    }
}

#[test]
fn only_plain_types_are_plain() {
    for plain in [
        "i32",
        "&mut Vec<std::collections::HashMap<&'a str, [(i8, f64); 3]>>",
        "Box<dyn Any>",
        "()",
    ] {
        assert!(is_plain(plain), "{plain}");
    }
    let deep = format!("{}i32{}", "Vec<".repeat(9), ">".repeat(9));
    for not in [
        "Evil",
        "impl Fn()",
        "[i32; 100000]",
        "i32 { evil() }",
        "[i32; {1}]",
        "evil!()",
        &deep,
    ] {
        assert!(!is_plain(not), "{not}");
    }
    assert_eq!(
        without_lifetimes("&'a mut Vec<&'static str>"),
        "&mut Vec<&str>"
    );
}
