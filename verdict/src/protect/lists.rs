//! What steers each kind of verification without being a test: files that a framework or its
//! interpreter reads by itself.

use super::matches;
use crate::verify::{Framework, Language, Measure, ReportFrom, VerifySpec};

/// Loaded by an interpreter before anything that was asked for: no solution needs one.
const PYTHON_START_UP: &[&str] = &[
    "**/sitecustomize.py",
    "**/sitecustomize",
    "**/usercustomize.py",
    "**/usercustomize",
    "**/*.pth",
    "**/pyvenv.cfg",
];

const PYTHON: &[&str] = &[
    "**/conftest.py",
    "**/pytest.ini",
    "**/.pytest.ini",
    "**/tox.ini",
    "**/setup.cfg",
    "**/pyproject.toml",
    "**/.coveragerc",
];

/// Compiled forms that an interpreter prefers to the source.
const PYTHON_CACHE: &[&str] = &["**/__pycache__", "**/*.pyc", "**/.pytest_cache"];

const RUST: &[&str] = &[
    "**/.cargo",
    "**/rust-toolchain",
    "**/rust-toolchain.toml",
    "**/.config/nextest.toml",
];
const RUST_CACHE: &[&str] = &["**/target"];

const GO: &[&str] = &["**/go.mod", "**/go.sum", "**/go.work", "**/go.env"];

const NODE: &[&str] = &[
    "**/package.json",
    "**/jest.config.*",
    "**/babel.config.*",
    "**/.babelrc*",
    "**/.mocharc*",
    "**/.npmrc",
    "**/.noderc",
    "**/node.config.json",
    "**/vitest.config.*",
];

/// What a command of the author's is likely to go by.
const COMMAND: &[&str] = &[
    "**/Makefile",
    "**/makefile",
    "**/GNUmakefile",
    "**/CMakeLists.txt",
    "**/CTestTestfile.cmake",
    "**/pom.xml",
    "**/build.gradle*",
    "**/.rspec",
    "**/phpunit.xml*",
];

/// The lists of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lists {
    /// Globs of files that a solution must not change.
    pub protected: Vec<&'static str>,
    start_up: Vec<&'static str>,
    caches: Vec<&'static str>,
    /// The file that the report of the tests is read from.
    report: Option<String>,
}

impl Lists {
    /// The lists for a verification.
    #[must_use]
    pub fn of(spec: &VerifySpec) -> Self {
        let groups: &[Group] = match spec {
            VerifySpec::Harness(spec) => match spec.framework {
                Framework::Pytest | Framework::Unittest => &[Group::Python],
                Framework::CargoTest => &[Group::Rust],
                Framework::GoTest => &[Group::Go],
                Framework::NodeTest | Framework::Jest => &[Group::Node],
                Framework::JunitXml | Framework::Tap | Framework::Ctrf | Framework::Command => ALL,
            },
            VerifySpec::Measure(spec) => match (spec.measure, spec.language) {
                (Measure::Compile, Some(Language::Python)) => &[Group::Python],
                _ => ALL,
            },
            _ => &[],
        };
        let mut lists = Self {
            report: report(spec),
            ..Self::default()
        };
        for group in groups {
            let (protected, start_up, caches) = group.lists();
            lists.protected.extend(protected);
            lists.start_up.extend(start_up);
            lists.caches.extend(caches);
        }
        lists
    }

    /// All globs of the kind.
    pub fn globs(&self) -> impl Iterator<Item = &str> {
        let lists = [&self.protected, &self.start_up, &self.caches];
        lists.into_iter().flatten().copied()
    }

    pub(super) fn is_report(&self, path: &str) -> bool {
        self.report.as_deref() == Some(path)
    }

    pub(super) fn is_start_up(&self, path: &str) -> bool {
        self.start_up.iter().any(|glob| matches(glob, path))
    }

    pub(super) fn is_cache(&self, path: &str) -> bool {
        self.caches.iter().any(|glob| matches(glob, path))
    }
}

fn report(spec: &VerifySpec) -> Option<String> {
    let from = match spec {
        VerifySpec::Harness(spec) => &spec.report,
        VerifySpec::Measure(spec) => &spec.report,
        _ => return None,
    };
    match from {
        ReportFrom::File(path) => Some(path.clone()),
        _ => None,
    }
}

#[derive(Clone, Copy)]
enum Group {
    Python,
    Rust,
    Go,
    Node,
    Command,
}

const ALL: &[Group] = &[
    Group::Python,
    Group::Rust,
    Group::Go,
    Group::Node,
    Group::Command,
];

type Globs = &'static [&'static str];

impl Group {
    /// Protected, start-up and caches.
    fn lists(self) -> (Globs, Globs, Globs) {
        match self {
            Self::Python => (PYTHON, PYTHON_START_UP, PYTHON_CACHE),
            Self::Rust => (RUST, &[], RUST_CACHE),
            Self::Go => (GO, &[], &[]),
            Self::Node => (NODE, &[], &[]),
            Self::Command => (COMMAND, &[], &[]),
        }
    }
}
