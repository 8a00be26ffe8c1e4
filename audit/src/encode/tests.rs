//! Canonical bytes, by example and by property.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{EncodeError, canonical};

fn text(value: &Value) -> String {
    String::from_utf8(canonical(value).unwrap()).unwrap()
}

#[test]
fn keys_are_sorted_and_nothing_is_spaced() {
    let value = json!({ "b": [1, -2, null], "a": { "z": true, "B": false } });
    assert_eq!(
        text(&value),
        r#"{"a":{"B":false,"z":true},"b":[1,-2,null]}"#
    );
}

#[test]
fn escapes_are_the_defined_ones() {
    let value = json!("\"\\\n\r\t\u{8}\u{1b}\u{7f}\u{9b}\u{202e}é/");
    assert_eq!(
        text(&value),
        r#""\"\\\n\r\t\u0008\u001b\u007f\u009b\u202eé/""#
    );
}

#[test]
fn integers_keep_all_64_bits() {
    assert_eq!(
        text(&json!([u64::MAX, i64::MIN])),
        "[18446744073709551615,-9223372036854775808]"
    );
}

#[test]
fn fractions_deep_nesting_and_odd_keys_are_refused() {
    assert!(matches!(
        canonical(&json!(1.5)),
        Err(EncodeError::NotInteger { .. })
    ));
    let mut deep = json!(0);
    for _ in 0..=super::DEPTH_MAX {
        deep = json!([deep]);
    }
    assert!(matches!(canonical(&deep), Err(EncodeError::TooDeep)));
    for key in ["", "a b", "a\"", "\u{1b}", "é"] {
        let result = canonical(&json!({ key: 1 }));
        assert!(
            matches!(result, Err(EncodeError::Key { .. })),
            "key {key:?}"
        );
    }
}

pub(crate) fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z_.]{1,8}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn canonical_bytes_read_back_as_the_same_value(value in any_value()) {
        let bytes = canonical(&value).unwrap();
        let back: Value = serde_json::from_slice(&bytes).unwrap();
        prop_assert_eq!(&back, &value);
        prop_assert_eq!(canonical(&back).unwrap(), bytes);
    }
}
