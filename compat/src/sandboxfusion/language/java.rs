//! Which class a Java source is about: the compiler wants a public class in a file of its name, and
//! the machine wants to be told where `main` is. Words only; nothing is parsed further.

/// Names taken from a source.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Names {
    /// Of the file, without its ending.
    pub(super) file: String,
    /// Of the class that is started, with its package.
    pub(super) main: String,
}

/// Without any type in it a source is a file that does not compile, under this name.
const FALLBACK: &str = "Main";
/// Words in front of a type's name.
const KINDS: [&str; 4] = ["class", "interface", "enum", "record"];

/// The names in a source.
pub(super) fn names(code: &str) -> Names {
    let words = words(code);
    let mut public = None;
    let mut first = None;
    let mut with_main = None;
    let mut current: Option<&str> = None;
    let mut depth = 0_usize;
    let mut after_public = false;
    for (index, word) in words.iter().enumerate() {
        match *word {
            "{" => depth += 1,
            "}" => depth = depth.saturating_sub(1),
            ";" => after_public = false,
            "public" if depth == 0 => after_public = true,
            "main" if words.get(index + 1) == Some(&"(") => {
                with_main = with_main.or(current);
            }
            kind if depth == 0 && KINDS.contains(&kind) => {
                let name = words.get(index + 1).copied().filter(|name| is_name(name));
                if let Some(name) = name {
                    current = Some(name);
                    first = first.or(current);
                    if after_public {
                        public = public.or(current);
                    }
                    after_public = false;
                }
            }
            _ => {}
        }
    }
    let file = public.or(with_main).or(first).unwrap_or(FALLBACK);
    let class = with_main.or(public).or(first).unwrap_or(FALLBACK);
    let main = match package(&words) {
        Some(package) => format!("{package}.{class}"),
        None => class.to_owned(),
    };
    Names {
        file: file.to_owned(),
        main,
    }
}

fn package(words: &[&str]) -> Option<String> {
    let start = words.iter().position(|word| *word == "package")?;
    let name: String = words
        .iter()
        .skip(start + 1)
        .take_while(|word| **word != ";")
        .copied()
        .collect();
    let is_package = !name.is_empty() && name.split('.').all(is_name);
    is_package.then_some(name)
}

fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && word.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// Names, and every other character by itself, without comments, texts and white space.
fn words(code: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            let comment = rest.get(2..).unwrap_or_default();
            comment.find("*/").map_or(rest.len(), |end| end + 4)
        } else if first == '"' || first == '\'' {
            quoted(rest, first)
        } else if first.is_alphanumeric() || first == '_' {
            let is_part = |c: char| c.is_alphanumeric() || c == '_';
            let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            words.extend(rest.get(..length));
            length
        } else {
            if !first.is_whitespace() {
                words.extend(rest.get(..first.len_utf8()));
            }
            first.len_utf8()
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    words
}

/// Length of the text that `rest` begins with.
fn quoted(rest: &str, quote: char) -> usize {
    if let Some(block) = rest.strip_prefix("\"\"\"") {
        return block.find("\"\"\"").map_or(rest.len(), |end| end + 6);
    }
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + c.len_utf8(),
            '\n' => return at,
            _ => {}
        }
    }
    rest.len()
}
