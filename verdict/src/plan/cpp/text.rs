//! Small pieces of C++ text, made of a task's. They know no function of it.

/// A name for `#line`.
pub(super) fn quoted(name: &str) -> String {
    format!(
        "\"{}\"",
        name.replace('\\', "\\\\")
            .replace('"', "\\\"")
            .replace('\n', " ")
    )
}

/// Our reader of `boost::any`, where a text uses that.
pub(super) fn boost(text: &str) -> &'static str {
    if text.contains("boost/any.hpp") {
        "#include \"boost_any.hpp\"\n"
    } else {
        ""
    }
}

/// The directive under which a declaration names its types.
pub(super) fn using(prelude: &str) -> &'static str {
    if prelude.contains("using namespace std;") {
        "using namespace std;\n"
    } else {
        ""
    }
}
