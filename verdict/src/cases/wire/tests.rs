//! Calls as frames: values sent, and replies that are none. It starts no process.

use super::{reply, request};
use crate::cases::equal::difference;
use crate::cases::literal::parse;
use crate::cases::report::Returned;
use crate::cases::value::Value;
use crate::untrusted::Untrusted;
use crate::verify::Language;

const NATIVE: [Language; 3] = [Language::C, Language::Cpp, Language::Rust];

fn frame(body: &str) -> Untrusted<Vec<u8>> {
    let length = u32::try_from(body.len()).unwrap().to_le_bytes();
    Untrusted::new([&length[..], body.as_bytes()].concat())
}

fn body(language: Language, args: &str) -> String {
    let args = [parse(args).unwrap()];
    let frame = request(language, "f", &args).unwrap();
    String::from_utf8(frame[4..].to_vec()).unwrap()
}

fn returned(language: Language, body: &str) -> Value {
    match reply(language, &frame(body)) {
        Ok(Returned::Value(value)) => value,
        other => panic!("{body}: {other:?}"),
    }
}

#[track_caller]
fn is(language: Language, body: &str, expected: &str) {
    let expected = parse(expected).unwrap();
    assert_eq!(
        difference(&expected, &returned(language, body), None),
        None,
        "{body}"
    );
}

#[test]
fn values_are_sent_as_each_language_reads_them() {
    let native = body(
        Language::Cpp,
        r#"[1, 1.5, "a\n", {"$tuple": [true, null]}]"#,
    );
    let says = r#"{"l":[{"i":"1"},{"f":"1.5e0"},{"s":"a\n"},{"t":[true,null]}]}"#;
    assert_eq!(native, format!(r#"{{"plain":"f","args":[{says}]}}"#));
    let script = body(
        Language::JavaScript,
        r#"[-1, {"a": {"$float": "nan"}}, {"$int": "-256"}, {"$set": [1]}]"#,
    );
    let says = r#"{"l":[-1,{"o":["a",{"f":"NaN"}]},-256,{"s":[1]}]}"#;
    assert_eq!(script, format!(r#"["Q","run",["f",{{"l":[{says}]}}]]"#));
    for language in NATIVE {
        let complex = [parse(r#"{"$complex": [1, 2]}"#).unwrap()];
        let error = request(language, "f", &complex).unwrap_err().to_string();
        assert!(error.contains("complex"), "{error}");
    }
    let bytes = [parse(r#"{"$bytes": "AP8="}"#).unwrap()];
    assert!(request(Language::Rust, "f", &bytes).is_err());
    assert!(request(Language::C, "f", &bytes).is_ok());
}

#[test]
fn what_comes_back_is_compared_as_pythons_values_are() {
    for language in NATIVE {
        is(
            language,
            r#"{"ok":{"l":[{"i":"1"},{"f":"nan"}]},"args":[]}"#,
            r#"[1, {"$float": "nan"}]"#,
        );
        is(
            language,
            r#"{"ok":{"m":[[{"s":"a"},true]]},"args":[]}"#,
            r#"{"a": true}"#,
        );
        is(
            language,
            r#"{"ok":{"set":[{"i":"2"},{"i":"1"}]},"args":[]}"#,
            r#"{"$set": [1, 2]}"#,
        );
        is(
            language,
            r#"{"ok":{"t":[null,{"b":"AP8="}]},"args":[]}"#,
            r#"{"$tuple": [null, {"$bytes": "AP8="}]}"#,
        );
    }
    let js = Language::JavaScript;
    is(
        js,
        r#"["A","ok",{"l":[1,1.5,"a",null,{"u":1}]},[]]"#,
        r#"[1, 1.5, "a", null, null]"#,
    );
    is(js, r#"["A","ok",{"n":"-100"},[]]"#, "-256");
    is(
        js,
        r#"["A","ok",{"n":"20000000000001"},[]]"#,
        "9007199254740993",
    );
    is(
        js,
        r#"["A","ok",{"o":["a",{"l":[]},"b",{"r":1}]},[]]"#,
        r#"{"a": [], "b": []}"#,
    );
    is(js, r#"["A","ok",{"s":[2,1]},[]]"#, r#"{"$set": [1, 2]}"#);
    is(
        js,
        r#"["A","ok",{"m":[1,{"f":"-Infinity"}]},[]]"#,
        r#"{"$dict": [[1, {"$float": "-inf"}]]}"#,
    );
}

#[test]
fn large_numbers_go_there_and_back() {
    for number in [
        "9007199254740993",
        "-9007199254740993",
        "-340282366920938463463374607431768211457",
    ] {
        let sent = body(Language::JavaScript, &format!(r#"{{"$int": "{number}"}}"#));
        let tree = sent
            .split_once("{\"l\":[")
            .unwrap()
            .1
            .strip_suffix("]}]]")
            .unwrap();
        let said = format!(r#"["A","ok",{tree},[]]"#);
        is(
            Language::JavaScript,
            &said,
            &format!(r#"{{"$int": "{number}"}}"#),
        );
    }
}

#[test]
fn what_is_no_reply_or_no_plain_value_passes_nothing() {
    let js = Language::JavaScript;
    for body in [
        "",
        "1",
        "null",
        "[]",
        "{}",
        r#"["A","ok"]"#,
        r#"["Q","ok",1,[]]"#,
        r#"["A","ok",[],[]]"#,
        r#"["A","ok",{"r":0},[]]"#,
        r#"["A","ok",{"f":"1"},[]]"#,
        r#"["A","ok",{"o":["a"]},[]]"#,
        r#"["A","fine",1,[]]"#,
        r#"["A","ok",{"n":"zz"},[]]"#,
    ] {
        assert!(reply(js, &frame(body)).is_err(), "{body}");
    }
    for body in [
        r#"["A","ok",{"h":1},[]]"#,
        r#"["A","ok",{"l":[{"r":0}]},[]]"#,
        r#"["A","ok",{"p":1},[]]"#,
        r#"["A","ok",{"l":[{"e":1}]},[]]"#,
        r#"["A","cannot","why",[]]"#,
    ] {
        let got = reply(js, &frame(body));
        assert!(
            matches!(got, Ok(Returned::CannotCross(_))),
            "{body}: {got:?}"
        );
    }
    for body in [
        r#"["A","error",{"x":["Error","Error","no",[]]},[]]"#,
        r#"["A","error",1,[]]"#,
        r#"["A","load",["SyntaxError","no"],[]]"#,
    ] {
        let got = reply(js, &frame(body));
        assert!(
            matches!(got, Ok(Returned::Raised { .. })),
            "{body}: {got:?}"
        );
    }
    for language in NATIVE {
        for body in [
            "{}",
            r#"{"ok":1}"#,
            r#"{"ok":{}}"#,
            r#"{"ok":{"i":1}}"#,
            r#"{"ok":{"i":"x"}}"#,
            r#"{"ok":{"i":"1","f":"1"}}"#,
            r#"{"ok":{"m":[[1]]}}"#,
            r#"{"error":{}}"#,
        ] {
            assert!(reply(language, &frame(body)).is_err(), "{body}");
        }
    }
}

#[test]
fn a_reply_is_one_whole_frame_of_bounded_size() {
    let good = frame(r#"{"ok":{"i":"1"}}"#);
    for end in 0..good.inner().len() {
        let part = Untrusted::new(good.inner()[..end].to_vec());
        assert!(reply(Language::C, &part).is_err(), "cut at {end}");
    }
    let twice = Untrusted::new([good.inner().as_slice(), good.inner()].concat());
    assert!(reply(Language::C, &twice).is_err());
    let many = format!(r#"{{"ok":{{"l":[{}null]}}}}"#, "null,".repeat(2_000_000));
    assert!(reply(Language::C, &frame(&many)).is_err());
    let deep = format!(
        r#"{{"ok":{}{}}}"#,
        r#"{"l":["#.repeat(5_000),
        "]}".repeat(5_000)
    );
    assert!(reply(Language::C, &frame(&deep)).is_err());
}
