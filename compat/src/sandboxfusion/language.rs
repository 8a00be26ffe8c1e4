//! The languages: how a source becomes a program and how that is run, under which policy, and what
//! the image must have for it. A table; it starts nothing.

mod java;
#[cfg(test)]
mod tests;

use super::request::Invalid;

/// What a language needs of the image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// A program on the `PATH`.
    Program(&'static str),
    /// A module of Python.
    PythonModule(&'static str),
}

/// Where the source goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// A file of this name and ending.
    File(&'static str, &'static str),
    /// A file named after the class in it.
    JavaClass,
}

/// One stage of a language. In its words `{source}` is the source's file and `{main}` the name of
/// its main class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stage {
    pub(crate) argv: &'static [&'static str],
    pub(crate) policy: &'static str,
    pub(crate) env: &'static [(&'static str, &'static str)],
}

/// One language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Language {
    /// Its name in requests.
    pub name: &'static str,
    pub(crate) needs: &'static [Need],
    source: Source,
    /// How it is built, and what of it the run needs; none: the source is run.
    pub(crate) build: Option<(Stage, &'static str)>,
    pub(crate) run: Stage,
}

/// The source's file and what stands for it in the words of a stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) path: String,
    main: String,
}

const fn stage(argv: &'static [&'static str], policy: &'static str) -> Stage {
    Stage {
        argv,
        policy,
        env: &[],
    }
}

const fn script(
    name: &'static str,
    needs: &'static [Need],
    ending: &'static str,
    run: Stage,
) -> Language {
    Language {
        name,
        needs,
        source: Source::File("main", ending),
        build: None,
        run,
    }
}

/// What a built program is called.
const PROGRAM: &str = "rollcage-program";
const RUN_PROGRAM: Stage = stage(&["./rollcage-program"], "build");
/// Where go keeps what it compiled: in the sandbox, gone with it.
const GO_ENV: &[(&str, &str)] = &[
    ("GOCACHE", "/tmp/go-cache"),
    ("GOPATH", "/tmp/go"),
    ("GOFLAGS", "-mod=mod"),
    ("GOPROXY", "off"),
    ("GOTOOLCHAIN", "local"),
];

/// All languages that this endpoint knows, by name.
pub const LANGUAGES: &[Language] = &[
    script(
        "bash",
        &[Need::Program("bash")],
        "sh",
        stage(&["bash", "{source}"], "shell"),
    ),
    Language {
        name: "cpp",
        needs: &[Need::Program("g++")],
        source: Source::File("main", "cpp"),
        build: Some((
            stage(
                &[
                    "g++",
                    "-std=c++17",
                    "-O2",
                    "{source}",
                    "-o",
                    PROGRAM,
                    "-pthread",
                    "-Wl,--as-needed",
                    "-lm",
                ],
                "build",
            ),
            PROGRAM,
        )),
        run: RUN_PROGRAM,
    },
    Language {
        name: "go",
        needs: &[Need::Program("go")],
        source: Source::File("main", "go"),
        build: Some((
            Stage {
                argv: &["go", "build", "-o", PROGRAM, "{source}"],
                policy: "build",
                env: GO_ENV,
            },
            PROGRAM,
        )),
        run: RUN_PROGRAM,
    },
    Language {
        name: "go_test",
        needs: &[Need::Program("go")],
        source: Source::File("main_test", "go"),
        build: Some((
            Stage {
                argv: &["go", "test", "-c", "-o", PROGRAM, "{source}"],
                policy: "build",
                env: GO_ENV,
            },
            PROGRAM,
        )),
        run: stage(&["./rollcage-program", "-test.v"], "build"),
    },
    Language {
        name: "java",
        needs: &[Need::Program("javac"), Need::Program("java")],
        source: Source::JavaClass,
        build: Some((
            stage(&["javac", "-d", "rollcage-classes", "{source}"], "build"),
            "rollcage-classes/**",
        )),
        run: stage(
            &["java", "-cp", "rollcage-classes:.", "-ea", "{main}"],
            "build",
        ),
    },
    Language {
        name: "jest",
        needs: &[Need::Program("jest"), Need::Program("node")],
        source: Source::File("main.test", "js"),
        build: None,
        run: stage(
            &[
                "jest",
                "--runInBand",
                "--no-cache",
                "--config={\"rootDir\":\"/workspace\",\"testEnvironment\":\"node\"}",
                "--runTestsByPath",
                "{source}",
            ],
            "node",
        ),
    },
    script(
        "lua",
        &[Need::Program("lua5.4")],
        "lua",
        stage(&["lua5.4", "{source}"], "shell"),
    ),
    script(
        "nodejs",
        &[Need::Program("node")],
        "js",
        stage(&["node", "{source}"], "node"),
    ),
    script(
        "perl",
        &[Need::Program("perl")],
        "pl",
        stage(&["perl", "{source}"], "shell"),
    ),
    script(
        "php",
        &[Need::Program("php")],
        "php",
        stage(&["php", "{source}"], "shell"),
    ),
    Language {
        name: "pytest",
        needs: &[Need::PythonModule("pytest")],
        source: Source::File("test_main", "py"),
        build: None,
        run: stage(
            &[
                "python3",
                "-m",
                "pytest",
                "-p",
                "no:cacheprovider",
                "{source}",
            ],
            "python",
        ),
    },
    script(
        "python",
        &[Need::Program("python3")],
        "py",
        stage(&["python3", "{source}"], "python"),
    ),
    script(
        "ruby",
        &[Need::Program("ruby")],
        "rb",
        stage(&["ruby", "{source}"], "shell"),
    ),
    Language {
        name: "rust",
        needs: &[Need::Program("rustc"), Need::Program("cc")],
        source: Source::File("main", "rs"),
        build: Some((
            stage(
                &[
                    "rustc",
                    "--edition=2021",
                    "-O",
                    "--crate-name=program",
                    "-o",
                    PROGRAM,
                    "{source}",
                ],
                "build",
            ),
            PROGRAM,
        )),
        run: RUN_PROGRAM,
    },
    script(
        "sql",
        &[Need::Program("sqlite3")],
        "sql",
        stage(&["sqlite3", "-bail", ":memory:", ".read {source}"], "shell"),
    ),
];

/// The language of this name.
pub(crate) fn find(name: &str) -> Option<&'static Language> {
    LANGUAGES.iter().find(|language| language.name == name)
}

impl Language {
    /// Where the source goes, beside files of the names that `taken` knows.
    ///
    /// # Errors
    /// The name that the source must have and another file has.
    pub(crate) fn place(
        &self,
        code: &str,
        taken: impl Fn(&str) -> bool,
    ) -> Result<Placed, Invalid> {
        match self.source {
            Source::File(stem, ending) => {
                let mut path = format!("{stem}.{ending}");
                let mut number = 0_usize;
                while taken(&path) {
                    number += 1;
                    // Frameworks find their tests by the ends of this name.
                    path = format!("{}.{ending}", numbered(stem, number));
                }
                Ok(Placed {
                    main: stem.to_owned(),
                    path,
                })
            }
            Source::JavaClass => {
                let names = java::names(code);
                let path = format!("{}.java", names.file);
                if taken(&path) {
                    return Err(Invalid::taken(&path));
                }
                Ok(Placed {
                    path,
                    main: names.main,
                })
            }
        }
    }
}

/// `main_test` with a number is `main1_test`, `test_main` is `test_main1`.
fn numbered(stem: &str, number: usize) -> String {
    match stem.strip_prefix("main") {
        Some(rest) => format!("main{number}{rest}"),
        None => format!("{stem}{number}"),
    }
}

impl Placed {
    /// The words of a stage for this source.
    pub(crate) fn argv(&self, stage: &Stage) -> Vec<String> {
        let fill = |word: &&str| {
            word.replace("{source}", &self.path)
                .replace("{main}", &self.main)
        };
        stage.argv.iter().map(fill).collect()
    }
}
