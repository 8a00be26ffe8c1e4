//! The text of calls: what a test calls instead of the solution's function, and what answers at the
//! solution's end. It knows how parameters cross, not what is called or why.

use crate::plan::cxx::Function;

/// How a parameter crosses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Carrier {
    /// As the value it is; a reference that is not constant comes back.
    Value,
    /// A text.
    Text,
    /// A text that the function may write to.
    Buffer,
    /// As many items as another parameter says, or one; whether they come back.
    Items {
        item: String,
        count: Option<usize>,
        comes_back: bool,
    },
}

/// How a result crosses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Result_ {
    Nothing,
    Value,
    /// As many items as the parameter of that number points to says.
    Items {
        item: String,
        count: usize,
    },
}

/// A function with how it crosses.
pub(super) struct Call<'a> {
    pub function: &'a Function,
    /// Its name between the two ends: several may share one in the language.
    pub label: String,
    pub number: usize,
    pub carriers: Vec<Carrier>,
    pub result: Result_,
}

/// How each of `functions` crosses.
///
/// # Errors
/// Which of them cannot, and why.
pub(super) fn calls(functions: &[Function], is_c: bool) -> Result<Vec<Call<'_>>, NotPlain> {
    functions
        .iter()
        .enumerate()
        .map(|(number, function)| {
            let params = function.params.iter().enumerate();
            let carriers = params
                .map(|(at, param)| carrier(function, at, &param.kind))
                .collect();
            Ok(Call {
                function,
                label: format!("{}/{number}", function.name),
                number,
                carriers,
                result: result(function, is_c)?,
            })
        })
        .collect()
}

/// A function that cannot be called from outside.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{name} returns {returns}, whose length nobody knows; give it a parameter returnSize that says it"
)]
pub(super) struct NotPlain {
    name: String,
    returns: String,
}

impl From<NotPlain> for String {
    fn from(error: NotPlain) -> Self {
        error.to_string()
    }
}

/// The type behind a pointer.
fn pointee(kind: &str) -> Option<&str> {
    let kind = kind.strip_suffix("const").unwrap_or(kind);
    let kind = kind.strip_suffix("restrict").unwrap_or(kind).trim_end();
    Some(kind.strip_suffix('*')?.trim_end())
}

fn without_const(kind: &str) -> String {
    let kind = kind.trim();
    let front = kind.strip_prefix("const ").unwrap_or(kind);
    front
        .strip_suffix("const")
        .unwrap_or(front)
        .trim()
        .to_owned()
}

fn is_integer(kind: &str) -> bool {
    let kind = without_const(kind);
    let words = [
        "int",
        "long",
        "short",
        "unsigned",
        "signed",
        "size_t",
        "std::size_t",
        "ssize_t",
        "int32_t",
        "int64_t",
        "uint32_t",
        "uint64_t",
    ];
    !kind.is_empty() && kind.split(' ').all(|word| words.contains(&word))
}

fn carrier(function: &Function, at: usize, kind: &str) -> Carrier {
    let Some(item) = pointee(kind) else {
        return Carrier::Value;
    };
    match (item, without_const(item).as_str()) {
        ("char", _) => return Carrier::Buffer,
        (_, "char") => return Carrier::Text,
        _ => {}
    }
    let counted = function
        .params
        .get(at + 1)
        .is_some_and(|next| is_integer(&next.kind));
    // Of pointers to pointers the items themselves are constant or not.
    let is_const = item.starts_with("const ") && pointee(item).is_none();
    Carrier::Items {
        item: if is_const {
            without_const(item)
        } else {
            item.to_owned()
        },
        count: counted.then_some(at + 1),
        comes_back: !is_const,
    }
}

/// Whether a parameter of this name points to the number of items that are returned.
pub(super) fn says_count(name: &str) -> bool {
    let name = name.to_lowercase().replace('_', "");
    let names = [
        "returnsize",
        "returnlen",
        "resultsize",
        "resultlen",
        "outsize",
        "outlen",
        "size",
        "len",
    ];
    names.contains(&name.as_str())
}

fn result(function: &Function, is_c: bool) -> Result<Result_, NotPlain> {
    if function.returns == "void" {
        return Ok(Result_::Nothing);
    }
    let Some(item) = pointee(&function.returns) else {
        return Ok(Result_::Value);
    };
    if without_const(item) == "char" {
        return Ok(Result_::Value);
    }
    let count = function
        .params
        .iter()
        .position(|param| says_count(&param.name) && pointee(&param.kind).is_some_and(is_integer));
    match count.filter(|_| is_c || item != "void") {
        Some(count) => Ok(Result_::Items {
            item: item.to_owned(),
            count,
        }),
        None => Err(NotPlain {
            name: function.name.clone(),
            returns: function.returns.clone(),
        }),
    }
}

fn head(call: &Call<'_>, name: &str, defaults: bool) -> String {
    let params: Vec<String> = (call.function.params.iter())
        .map(|param| {
            let default = if defaults { param.default.as_str() } else { "" };
            format!("{} {}{default}", param.kind, param.name)
        })
        .collect();
    format!("{} {name}({})", call.function.returns, params.join(", "))
}

fn names(call: &Call<'_>) -> String {
    let names: Vec<&str> = (call.function.params.iter())
        .map(|param| param.name.as_str())
        .collect();
    names.join(", ")
}

/// Statements that send a call and take its answer.
fn body(call: &Call<'_>) -> String {
    let mut text = format!("rollcage::Request rollcage_request(\"{}\");\n", call.label);
    let mut backs = String::from("rollcage::Backs rollcage_backs(rollcage_in);\n");
    for (param, carrier) in call.function.params.iter().zip(&call.carriers) {
        let (kind, name) = (&param.kind, &param.name);
        let length = match carrier {
            Carrier::Items {
                count: Some(at), ..
            } => {
                format!("(std::size_t){}", call.function.params[*at].name)
            }
            _ => "1".to_owned(),
        };
        let (put, take) = match carrier {
            Carrier::Value => (
                format!("put<{kind}>({name})"),
                format!("take<{kind}>({name})"),
            ),
            Carrier::Text => (format!("put<const char*>({name})"), "skip()".to_owned()),
            Carrier::Buffer => (
                format!("put<const char*>({name})"),
                format!("take_buffer({name})"),
            ),
            Carrier::Items { .. } => (
                format!("put_items({name}, {length})"),
                format!("take_items({name}, {length})"),
            ),
        };
        text.push_str(&format!("rollcage_request.{put};\n"));
        backs.push_str(&format!("rollcage_backs.{take};\n"));
    }
    let send = match &call.result {
        Result_::Nothing => "rollcage_request.send_void".to_owned(),
        Result_::Value => format!("return rollcage_request.send<{}>", call.function.returns),
        Result_::Items { item, .. } => format!("return rollcage_request.send_items<{item}>"),
    };
    format!("{text}{send}([&](rollcage::Reader& rollcage_in) {{ {backs} }});\n")
}

/// Functions of the same names for the test code. Those of a solution are the file's own: one that
/// the libraries already have is then an error, and never taken for theirs.
pub(super) fn stubs(calls: &[Call<'_>], by_solution: bool) -> String {
    let own = if by_solution { "static " } else { "" };
    calls
        .iter()
        .map(|call| {
            let open = !matches!(call.function.body, crate::plan::cxx::Body::Prototype);
            format!(
                "{own}{} {{\n{}}}\n",
                head(call, &call.function.name, open),
                body(call)
            )
        })
        .collect()
}

/// The same for test code in C, under names of ours.
pub(super) fn stubs_c(calls: &[Call<'_>]) -> String {
    calls
        .iter()
        .map(|call| {
            let name = format!("rollcage_stub_{}", call.number);
            format!(
                "extern \"C\" {} {{\n{}}}\n",
                head(call, &name, false),
                body(call)
            )
        })
        .collect()
}

pub(super) fn prototypes_c(calls: &[Call<'_>]) -> String {
    calls
        .iter()
        .map(|call| {
            format!(
                "{};\n",
                head(call, &format!("rollcage_stub_{}", call.number), false)
            )
        })
        .collect()
}

/// The names that tests in C call.
pub(super) fn forwards(calls: &[Call<'_>], by_solution: bool) -> String {
    let own = if by_solution { "static " } else { "" };
    calls
        .iter()
        .map(|call| {
            let back = if call.result == Result_::Nothing {
                ""
            } else {
                "return "
            };
            let head = head(call, &call.function.name, false);
            format!(
                "{own}{head} {{ {back}rollcage_stub_{}({}); }}\n",
                call.number,
                names(call)
            )
        })
        .collect()
}

/// At the end of a solution in C: functions with names of ours that call its own.
pub(super) fn thunks(calls: &[Call<'_>]) -> String {
    calls
        .iter()
        .map(|call| {
            let back = if call.result == Result_::Nothing {
                ""
            } else {
                "return "
            };
            let head = head(call, &format!("rollcage_call_{}", call.number), false);
            format!(
                "{head} {{ {back}{}({}); }}\n",
                call.function.name,
                names(call)
            )
        })
        .collect()
}

pub(super) fn prototypes(calls: &[Call<'_>], prefix: &str) -> String {
    calls
        .iter()
        .map(|call| {
            format!(
                "extern \"C\" {};\n",
                head(call, &format!("{prefix}{}", call.number), false)
            )
        })
        .collect()
}

/// The solution's end: one function for each call, the table of them, and `main`. With `prefix` it
/// is functions of ours that are called.
pub(super) fn answers(calls: &[Call<'_>], prefix: &str) -> String {
    let mut text = String::new();
    let mut table = String::new();
    for call in calls {
        let name = if prefix.is_empty() {
            call.function.name.clone()
        } else {
            format!("{prefix}{}", call.number)
        };
        text.push_str(&answer(call, &name));
        table.push_str(&format!(
            "{{\"{}\", rollcage_answer_{}}},",
            call.label, call.number
        ));
    }
    format!(
        "{text}static const rollcage::Entry rollcage_entries[] = {{{table}{{nullptr, nullptr}}}};\n\
         int main() {{ return rollcage::serve(rollcage_entries, {}); }}\n",
        calls.len(),
    )
}

fn answer(call: &Call<'_>, name: &str) -> String {
    let mut slots = String::new();
    let (mut passed, mut backs) = (Vec::new(), vec!["rollcage_out".to_owned()]);
    for (at, (param, carrier)) in call.function.params.iter().zip(&call.carriers).enumerate() {
        let slot = match carrier {
            Carrier::Value => format!("rollcage::Slot<{}>", param.kind),
            Carrier::Text => "rollcage::Slot<const char*>".to_owned(),
            Carrier::Buffer => "rollcage::Buffer".to_owned(),
            Carrier::Items {
                item, comes_back, ..
            } => format!("rollcage::Items<{item}, {comes_back}>"),
        };
        slots.push_str(&format!("{slot} rollcage_{at}(rollcage_arguments);\n"));
        passed.push(format!("rollcage_{at}.pass()"));
        backs.push(format!("rollcage_{at}"));
    }
    let made = format!(
        "[&]() -> decltype(auto) {{ return {name}({}); }}",
        passed.join(", ")
    );
    let answered = match &call.result {
        Result_::Nothing => format!("rollcage::answer<void>(rollcage_out, {made});"),
        Result_::Value => format!(
            "rollcage::answer<{}>(rollcage_out, {made});",
            call.function.returns
        ),
        Result_::Items { item, count } => format!(
            "rollcage::answer_items<{}>(rollcage_out, {made}, [&] {{ return *rollcage_{count}.pass(); }});",
            without_const(item),
        ),
    };
    format!(
        "static void rollcage_answer_{}(rollcage::Reader& rollcage_in, std::string& rollcage_out) {{\n\
         rollcage::Arguments rollcage_arguments(rollcage_in);\n{slots}rollcage_arguments.end();\n{answered}\n\
         rollcage::back({});\n}}\n",
        call.number,
        backs.join(", "),
    )
}
