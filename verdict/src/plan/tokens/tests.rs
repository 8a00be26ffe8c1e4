//! Texts that look like code are passed over, and code that looks like text is not.

use super::{Dialect, Kind, tokens};

fn words(source: &str, dialect: Dialect) -> Vec<&str> {
    tokens(source, dialect)
        .into_iter()
        .filter(|token| token.kind == Kind::Word)
        .map(|token| token.text)
        .collect()
}

#[test]
fn comments_and_texts_hold_no_words() {
    let cpp = "#define f(x) \\\n  g(x)\nint a; // int b;\n/* int c; */ auto d = \"int e\"; char f = '\\'';\n\
               auto g = R\"x(int h;)\" int i; )x\"; std::string j;";
    let found = [
        "int", "a", "auto", "d", "char", "f", "auto", "g", "std", "string", "j",
    ];
    assert_eq!(words(cpp, Dialect::C), found);
    let rust = "fn a<'b>(c: &'b str) -> char { 'd' } /* /* fn e */ fn f */ let g = r#\"fn \"h\" \"#; b'i'; '\\'';";
    let found = ["fn", "a", "c", "str", "char", "let", "g"];
    assert_eq!(words(rust, Dialect::Rust), found);
}

#[test]
fn broken_text_ends_and_does_not_fail() {
    for source in [
        "\"",
        "'",
        "/*",
        "/* /*",
        "r#\"",
        "R\"(",
        "'\\",
        "#",
        "b'",
        "é\u{301}'é",
        "\\",
    ] {
        for dialect in [Dialect::C, Dialect::Rust] {
            for token in tokens(source, dialect) {
                assert_eq!(source.get(token.start..token.end()), Some(token.text));
            }
        }
    }
}
