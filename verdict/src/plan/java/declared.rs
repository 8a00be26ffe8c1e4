//! The classes of a Java file whose methods tests can call, read from its text alone. Types and
//! exceptions are taken from closed lists and written anew, so that nothing of the solution's text
//! gets into the judge.

use crate::plan::blank::{LongText, blank, closing, split_commas};

const PRIMITIVES: [&str; 8] = [
    "boolean", "byte", "short", "char", "int", "long", "float", "double",
];
/// Classes whose values can cross, by their package.
const CLASSES: [(&str, &[&str]); 3] = [
    (
        "java.lang",
        &[
            "Object",
            "String",
            "Boolean",
            "Byte",
            "Short",
            "Character",
            "Integer",
            "Long",
            "Float",
            "Double",
            "Number",
            "Iterable",
            "Comparable",
            "CharSequence",
        ],
    ),
    (
        "java.util",
        &[
            "List",
            "ArrayList",
            "LinkedList",
            "Collection",
            "Set",
            "HashSet",
            "LinkedHashSet",
            "TreeSet",
            "SortedSet",
            "Map",
            "HashMap",
            "LinkedHashMap",
            "TreeMap",
            "SortedMap",
            "Optional",
            "Deque",
            "ArrayDeque",
            "Queue",
        ],
    ),
    ("java.math", &["BigInteger", "BigDecimal"]),
];
/// Exceptions that a method may declare, by their package.
const EXCEPTIONS: [(&str, &[&str]); 5] = [
    (
        "java.lang",
        &[
            "Exception",
            "Throwable",
            "RuntimeException",
            "IllegalArgumentException",
            "IllegalStateException",
            "ArithmeticException",
            "InterruptedException",
            "CloneNotSupportedException",
            "ClassNotFoundException",
            "UnsupportedOperationException",
            "IndexOutOfBoundsException",
            "NullPointerException",
            "NumberFormatException",
        ],
    ),
    (
        "java.io",
        &[
            "IOException",
            "FileNotFoundException",
            "UnsupportedEncodingException",
        ],
    ),
    (
        "java.security",
        &["NoSuchAlgorithmException", "GeneralSecurityException"],
    ),
    ("java.text", &["ParseException"]),
    (
        "java.util",
        &[
            "NoSuchElementException",
            "InputMismatchException",
            "EmptyStackException",
        ],
    ),
];
const DEPTH_MAX: usize = 20;

/// A type that can cross.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Type {
    /// As we write it.
    pub written: String,
    /// What `Class.getName` says of it.
    pub runtime: String,
}

/// A method or constructor that a judge can have a stand-in for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Method {
    /// Its name; empty = a constructor.
    pub name: String,
    /// Whether it belongs to the class.
    pub is_static: bool,
    /// What it returns; `None` = nothing.
    pub result: Option<Type>,
    /// Its parameters; the last one may be written with `...`.
    pub params: Vec<Type>,
    /// Exceptions that it declares.
    pub throws: Vec<String>,
}

/// A class at the top level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Class {
    /// Its name.
    pub name: String,
    /// Whether it is `public`: then its file has its name.
    pub is_public: bool,
    /// Whether it has `static void main`.
    pub has_main: bool,
    /// Whether it has any constructor of its own.
    pub has_constructor: bool,
    /// What tests can call, of what is not private.
    pub methods: Vec<Method>,
}

/// The package of a file, empty = none.
pub(super) fn package(source: &str) -> String {
    let text = blank(source, LongText::ThreeQuotes);
    let name = text.trim_start().strip_prefix("package ");
    let name = name.and_then(|rest| rest.split(';').next()).unwrap_or("");
    let is_plain = name.trim().chars().all(|one| is_name(one) || one == '.');
    if is_plain {
        name.trim().to_owned()
    } else {
        String::new()
    }
}

/// The imports of a file of the library's own names.
pub(super) fn library_imports(source: &str) -> Vec<String> {
    let text = blank(source, LongText::ThreeQuotes);
    let statements = text.split(';').filter_map(|part| {
        let part = part.trim();
        let name = part.strip_prefix("import ")?.trim();
        let is_plain = name
            .chars()
            .all(|one| is_name(one) || matches!(one, '.' | '*'));
        (is_plain && name.starts_with("java.")).then(|| format!("import {name};"))
    });
    statements.collect()
}

/// The classes of a file. What is cut off in the middle ends there.
pub(super) fn classes(source: &str) -> Vec<Class> {
    let text = blank(source, LongText::ThreeQuotes);
    let mut found = Vec::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find('{') {
        let head = rest[..at].rsplit([';', '}']).next().unwrap_or("");
        let end = closing(rest, at).unwrap_or(rest.len());
        if let Some(class) = class(head, &rest[at + 1..end]) {
            found.push(class);
        }
        rest = rest.get(end + 1..).unwrap_or("");
    }
    found
}

fn class(head: &str, body: &str) -> Option<Class> {
    let words: Vec<&str> = head.split_whitespace().collect();
    let at = words.iter().position(|word| *word == "class")?;
    let name: String = words
        .get(at + 1)?
        .chars()
        .take_while(|one| is_name(*one))
        .collect();
    let mut made = Class {
        is_public: words[..at].contains(&"public"),
        has_main: false,
        has_constructor: false,
        methods: Vec::new(),
        name,
    };
    let mut rest = body;
    while let Some(at) = rest.find(['{', ';']) {
        let head = &rest[..at];
        let end = if rest[at..].starts_with('{') {
            closing(rest, at).unwrap_or(rest.len())
        } else {
            at
        };
        member(head, &mut made);
        rest = rest.get(end + 1..).unwrap_or("");
    }
    Some(made)
}

/// What stands before a body: modifiers, result, name, parameters, exceptions.
fn member(head: &str, class: &mut Class) {
    let Some(open) = head.find('(') else { return };
    let Some(close) = closing(head, open) else {
        return;
    };
    // The value of a field calls something.
    if head[..open].contains('=')
        || head.trim_start().starts_with('@') && head[..open].trim().matches(' ').count() == 0
    {
        return;
    }
    let (mut is_private, mut is_static) = (false, false);
    let mut before = head[..open].trim();
    while let Some((word, rest)) = before.split_once(char::is_whitespace) {
        match word {
            "private" => is_private = true,
            "static" => is_static = true,
            "public" | "protected" | "final" | "synchronized" | "strictfp" | "abstract" => {}
            _ if word.starts_with('@') => {}
            _ => break,
        }
        before = rest.trim_start();
    }
    let (result, name) = before
        .rsplit_once(char::is_whitespace)
        .unwrap_or(("", before));
    let is_constructor = result.is_empty() && name == class.name;
    class.has_constructor |= is_constructor;
    class.has_main |= is_static && name == "main" && result.trim() == "void";
    if is_private
        || name.is_empty()
        || !name.chars().all(is_name)
        || (result.is_empty() && !is_constructor)
    {
        return;
    }
    let method = || {
        let params = split_commas(&head[open + 1..close]);
        let params: Option<Vec<Type>> = params.into_iter().map(parameter).collect();
        let throws = head[close + 1..]
            .trim()
            .strip_prefix("throws")
            .unwrap_or("");
        let throws: Option<Vec<String>> = split_commas(throws)
            .into_iter()
            .map(|name| named(name, &EXCEPTIONS))
            .collect();
        Some(Method {
            name: if is_constructor {
                String::new()
            } else {
                name.to_owned()
            },
            is_static,
            result: match result.trim() {
                "" | "void" => None,
                written => Some(plain_type(written, 0)?),
            },
            params: params?,
            throws: throws?,
        })
    };
    class.methods.extend(method());
}

fn parameter(part: &str) -> Option<Type> {
    let part = part.trim();
    let part = part.strip_prefix("final ").unwrap_or(part);
    if let Some((written, name)) = part.split_once("...") {
        let inner = plain_type(written, 0)?;
        let is_named = name.trim().chars().all(is_name);
        return is_named.then(|| Type {
            written: format!("{}...", inner.written),
            runtime: array_of(&inner.runtime),
        });
    }
    let at = part.rfind(|one: char| !is_name(one))?;
    // `int a[]` is left alone.
    plain_type(&part[..=at], 0)
}

/// The type written anew, if it is of the closed list.
fn plain_type(written: &str, depth: usize) -> Option<Type> {
    let written = written.trim();
    if depth > DEPTH_MAX {
        return None;
    }
    if let Some(inner) = written.strip_suffix(']') {
        let inner = plain_type(inner.trim_end().strip_suffix('[')?, depth + 1)?;
        return Some(Type {
            written: format!("{}[]", inner.written),
            runtime: array_of(&inner.runtime),
        });
    }
    if PRIMITIVES.contains(&written) {
        return Some(Type {
            written: written.to_owned(),
            runtime: written.to_owned(),
        });
    }
    let Some((outer, args)) = written.split_once('<') else {
        let name = named(written, &CLASSES)?;
        return Some(Type {
            written: name.clone(),
            runtime: name,
        });
    };
    let runtime = named(outer, &CLASSES)?;
    let args = args.trim_end().strip_suffix('>')?;
    let args: Option<Vec<String>> = split_commas(args)
        .into_iter()
        .map(|arg| argument(arg, depth + 1))
        .collect();
    Some(Type {
        written: format!("{runtime}<{}>", args?.join(", ")),
        runtime,
    })
}

fn argument(written: &str, depth: usize) -> Option<String> {
    match written.strip_prefix('?').map(str::trim) {
        Some("") => Some("?".to_owned()),
        Some(bound) => {
            let bound = bound.strip_prefix("extends ")?;
            Some(format!("? extends {}", plain_type(bound, depth)?.written))
        }
        None if PRIMITIVES.contains(&written) => None,
        None => Some(plain_type(written, depth)?.written),
    }
}

/// The full name of a class of a list, given in full or without its package.
fn named(name: &str, list: &[(&str, &[&str])]) -> Option<String> {
    let name = name.trim();
    list.iter().find_map(|(package, names)| {
        let bare = name.strip_prefix(&format!("{package}.")).unwrap_or(name);
        names.contains(&bare).then(|| format!("{package}.{bare}"))
    })
}

fn array_of(runtime: &str) -> String {
    let code = match runtime {
        "boolean" => "Z",
        "byte" => "B",
        "short" => "S",
        "char" => "C",
        "int" => "I",
        "long" => "J",
        "float" => "F",
        "double" => "D",
        array if array.starts_with('[') => return format!("[{array}"),
        class => return format!("[L{class};"),
    };
    format!("[{code}")
}

fn is_name(one: char) -> bool {
    one.is_alphanumeric() || one == '_' || one == '$'
}
