//! The judging of Java: the solution's files are compiled beside a host of ours, the test code
//! beside stand-ins for the solution's classes, each test in a package of its own.

mod declared;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use super::blank::{LongText, blank, has_word};
use super::build::Build;
use super::declared::{solution_text, verifier};
use super::programs::Made;
use super::{HARNESS_FOLDER, JudgePlan, ours, without_harness};
use crate::diagnostics::DiagnosticFormat;
use crate::verdict::Verdict;
use crate::verify::{AssertsSpec, WHOLE_TEST_ID};
use declared::{Class, Method, Type, classes, library_imports, package};

const WIRE: &str = "RollcageWire.java";
const HOST: &str = "RollcageHost.java";
const JUDGE: &str = "RollcageJudge.java";
/// Stand-ins are told from test code by the name of their file.
const STAND_INS: &str = "RollcageSolution.java";
const CLASSES: &str = "classes";
/// The compiler, up to the folder that it writes to.
const COMPILE: [&str; 9] = [
    "javac",
    "-J-XX:+UseSerialGC",
    "-J-XX:TieredStopAtLevel=1",
    "-J-Xshare:auto",
    "-proc:none",
    "-nowarn",
    "-encoding",
    "UTF-8",
    "-d",
];

/// Our programs: name and text.
pub(crate) const HARNESS_FILES: [(&str, &str); 3] = [
    (WIRE, include_str!("../../harness/java/RollcageWire.java")),
    (HOST, include_str!("../../harness/java/RollcageHost.java")),
    (JUDGE, include_str!("../../harness/java/RollcageJudge.java")),
];

pub(super) fn plan(
    spec: &AssertsSpec,
    files: &BTreeMap<String, Vec<u8>>,
    nonce: &str,
) -> Result<JudgePlan, Box<Verdict>> {
    let solution = solution_text(spec, files)?;
    let declared_by_solution = spec.declaration.trim().is_empty();
    let declared_text = if declared_by_solution {
        solution
    } else {
        &spec.declaration
    };
    let mut declared_classes = classes(declared_text);
    if declared_by_solution {
        declared_classes.retain(|class| is_meant(spec, &class.name));
    }
    let declared = Declared {
        classes: declared_classes,
        imports: library_imports(declared_text),
    };
    let tests = Tests::new(spec, &declared)?;

    let (path, renamed) = place(&spec.file, solution);
    let mut solution_build = build(HOST);
    solution_build
        .files
        .insert(path.clone(), solution.as_bytes().to_vec());
    solution_build.files_renamed = renamed;
    solution_build.argv.push(path);
    let mut judge_build = build(JUDGE);
    judge_build.argv.extend(tests.files.keys().cloned());
    judge_build.files.extend(tests.files);
    let mut solution_argv = run("rollcage.RollcageHost");
    let in_package = package(solution);
    if !in_package.is_empty() {
        solution_argv.push(in_package);
    }
    let mut judge_argv = run("rollcage.RollcageJudge");
    judge_argv.extend(tests.mains);
    Ok(JudgePlan {
        solution_files: without_harness(files),
        solution_argv,
        judge_files: BTreeMap::from([(ours("nonce"), nonce.as_bytes().to_vec())]),
        judge_argv,
        solution_build: Some(solution_build),
        judge_build: Some(judge_build),
        declared_by_solution,
    })
}

/// A whole program of one file, with the others beside it for what it reads.
pub(super) fn program(file: &str, text: &str, files: BTreeMap<String, Vec<u8>>) -> Made {
    let (path, files_renamed) = place(file, text);
    let mut argv: Vec<String> = COMPILE.map(str::to_owned).to_vec();
    argv.extend([ours(CLASSES), path.clone()]);
    let all = classes(text);
    let main = (all.iter())
        .filter(|class| class.has_main)
        .max_by_key(|class| class.is_public);
    let name = main.map_or("Solution", |class| class.name.as_str());
    let main = match package(text).as_str() {
        "" => name.to_owned(),
        package => format!("{package}.{name}"),
    };
    let mut build = Build {
        files,
        argv,
        collect: vec![format!("{}/**", ours(CLASSES))],
        messages: Some(DiagnosticFormat::Javac),
        files_renamed,
        ..Build::default()
    };
    build.required.push(format!(
        "{}/{}.class",
        ours(CLASSES),
        main.replace('.', "/")
    ));
    build.files.insert(path, text.as_bytes().to_vec());
    let options = [
        "java",
        "-XX:+UseSerialGC",
        "-Xshare:auto",
        "-XX:MaxRAMPercentage=50",
        "-Xss64m",
        "-cp",
    ];
    let mut argv: Vec<String> = options.map(str::to_owned).to_vec();
    argv.extend([format!("{HARNESS_FOLDER}/{CLASSES}"), main]);
    Made {
        build,
        argv,
        beside: BTreeMap::new(),
    }
}

/// Whether a class of the solution may stand for its name in test code: only one that the author
/// names, by the file or otherwise. Any other could be one that tests compare with (`Arrays`).
fn is_meant(spec: &AssertsSpec, class: &str) -> bool {
    let file = spec.file.rsplit('/').next().unwrap_or("");
    class == "Solution"
        || file.strip_suffix(".java") == Some(class)
        || spec.entry_points.iter().any(|name| name == class)
}

/// Where the solution's file has to lie for the compiler: by the name of its public class.
fn place(file: &str, solution: &str) -> (String, Vec<(String, String)>) {
    let public = classes(solution).into_iter().find(|class| class.is_public);
    let name = match public {
        Some(class) => format!("{}.java", class.name),
        None => "Solution.java".to_owned(),
    };
    let path = ours(&format!("src/{name}"));
    let renamed = vec![
        (path.clone(), file.to_owned()),
        (format!("./{path}"), file.to_owned()),
    ];
    (path, renamed)
}

/// The compiling of our program `main`; further files are added to it.
fn build(main: &str) -> Build {
    let mut argv: Vec<String> = COMPILE.map(str::to_owned).to_vec();
    argv.push(ours(CLASSES));
    let mut files = BTreeMap::new();
    for (name, text) in HARNESS_FILES
        .iter()
        .filter(|(name, _)| *name == WIRE || *name == main)
    {
        let path = ours(&format!("src/rollcage/{name}"));
        argv.push(path.clone());
        files.insert(path, text.as_bytes().to_vec());
    }
    let program = main.trim_end_matches(".java");
    Build {
        files,
        argv,
        collect: vec![format!("{}/**", ours(CLASSES))],
        required: vec![format!("{}/rollcage/{program}.class", ours(CLASSES))],
        messages: Some(DiagnosticFormat::Javac),
        ..Build::default()
    }
}

fn run(class: &str) -> Vec<String> {
    let options = [
        "java",
        "-ea:t...",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "-Xshare:auto",
        "-XX:MaxRAMPercentage=50",
        "--add-opens",
        "java.base/java.io=ALL-UNNAMED",
        "-cp",
    ];
    let mut argv: Vec<String> = options.map(str::to_owned).to_vec();
    argv.extend([format!("{HARNESS_FOLDER}/{CLASSES}"), class.to_owned()]);
    argv
}

/// What the author or the solution declares.
struct Declared {
    classes: Vec<Class>,
    imports: Vec<String>,
}

/// The author's test code as files of the judge's program.
struct Tests {
    files: BTreeMap<String, Vec<u8>>,
    /// Id and class with `main`, one after the other.
    mains: Vec<String>,
}

impl Tests {
    fn new(spec: &AssertsSpec, declared: &Declared) -> Result<Self, Box<Verdict>> {
        let setup = (!spec.tests.is_empty() && !spec.code.trim().is_empty()).then_some(&spec.code);
        let whole = (spec.tests.is_empty()).then_some((WHOLE_TEST_ID, spec.code.as_str()));
        let pieces = spec
            .tests
            .iter()
            .map(|test| (test.id.as_str(), test.code.as_str()));
        let mut made = Self {
            files: BTreeMap::new(),
            mains: Vec::new(),
        };
        for (number, (id, code)) in pieces.chain(whole).enumerate() {
            let folder = format!("t.t{number}");
            let main = classes(code).into_iter().find(|class| class.has_main);
            let main = main.ok_or_else(|| {
                verifier(format!(
                    "the test code {id} has no class with static void main"
                ))
            })?;
            made.mains
                .extend([id.to_owned(), format!("{folder}.{}", main.name)]);
            made.add(&folder, "Tests.java", code, declared);
            if let Some(setup) = setup {
                made.add(&folder, "Setup.java", setup, declared);
            }
            let mut text = blank(code, LongText::ThreeQuotes);
            text.push_str(
                &setup.map_or_else(String::new, |code| blank(code, LongText::ThreeQuotes)),
            );
            let meant = declared
                .classes
                .iter()
                .filter(|class| has_word(&text, &class.name));
            let stand_ins: String = meant.map(stand_in).collect();
            made.put(
                &folder,
                STAND_INS,
                format!("package {folder};\n{stand_ins}"),
            );
        }
        Ok(made)
    }

    /// A file of test code. What the compiler has to see before it comes in front of its first line.
    fn add(&mut self, folder: &str, name: &str, code: &str, declared: &Declared) {
        let public = classes(code).into_iter().find(|class| class.is_public);
        let name = public.map_or_else(|| name.to_owned(), |class| format!("{}.java", class.name));
        // Sets whose parts are meant for one file name the library's collections nowhere in the
        // tests; whether they compile must not depend on what the solution imports.
        let own = library_imports(code);
        let usual = if own.is_empty() {
            "import java.util.*; "
        } else {
            ""
        };
        let imports = format!("{usual}{}", declared.imports.join(" "));
        self.put(folder, &name, format!("package {folder}; {imports} {code}"));
    }

    fn put(&mut self, folder: &str, name: &str, text: String) {
        let path = ours(&format!("src/{}/{name}", folder.replace('.', "/")));
        self.files.insert(path, text.into_bytes());
    }
}

/// A class of the solution's name whose methods ask the solution.
fn stand_in(class: &Class) -> String {
    let name = &class.name;
    let mut text = format!("class {name} {{\n    private final int rollcageObject;\n");
    let mut constructors = 0;
    for method in &class.methods {
        if method.name.is_empty() {
            constructors += 1;
            text.push_str(&constructor(name, method));
        } else {
            text.push_str(&stub(name, method));
        }
    }
    if !class.has_constructor {
        text.push_str(&constructor(name, &Method::default()));
    } else if constructors == 0 {
        text.push_str(&format!("    private {name}() {{ rollcageObject = 0; }}\n"));
    }
    text.push_str("}\n");
    text
}

fn constructor(class: &str, method: &Method) -> String {
    format!(
        "    {class}({}){} {{ rollcageObject = rollcage.RollcageJudge.make(\"{class}\"{}); }}\n",
        parameters(&method.params),
        throwing(&method.throws),
        passed(&method.params)
    )
}

fn stub(class: &str, method: &Method) -> String {
    let name = &method.name;
    let (is_static, call) = if method.is_static {
        ("static ", format!("callStatic(\"{class}\", \"{name}\""))
    } else {
        ("", format!("call(\"{class}\", rollcageObject, \"{name}\""))
    };
    let call = format!("rollcage.RollcageJudge.{call}{})", passed(&method.params));
    let (result, body) = match &method.result {
        None => ("void", format!("{call};")),
        Some(kind) => (
            kind.written.as_str(),
            format!("return {};", converted(kind, &call)),
        ),
    };
    format!(
        "    @SuppressWarnings(\"unchecked\") public {is_static}{result} {name}({}){} {{ {body} }}\n",
        parameters(&method.params),
        throwing(&method.throws)
    )
}

/// What was returned as a value of its declared type.
fn converted(kind: &Type, call: &str) -> String {
    let name = match kind.written.as_str() {
        "double" => "asDouble",
        "float" => "asFloat",
        "long" => "asLong",
        "int" => "asInt",
        written => return format!("({written}) {call}"),
    };
    format!("rollcage.RollcageJudge.{name}({call})")
}

fn parameters(params: &[Type]) -> String {
    let each = params.iter().enumerate();
    let each: Vec<String> = each
        .map(|(at, kind)| format!("{} a{at}", kind.written))
        .collect();
    each.join(", ")
}

fn throwing(throws: &[String]) -> String {
    if throws.is_empty() {
        return String::new();
    }
    format!(" throws {}", throws.join(", "))
}

/// Names of the parameters' classes, and the arguments.
fn passed(params: &[Type]) -> String {
    let types: Vec<String> = (params.iter())
        .map(|kind| format!("\"{}\"", kind.runtime))
        .collect();
    let args: Vec<String> = (0..params.len()).map(|at| format!("a{at}")).collect();
    format!(
        ", new String[] {{{}}}, new Object[] {{{}}}",
        types.join(", "),
        args.join(", ")
    )
}
