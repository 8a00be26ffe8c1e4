//! One family of kinds after the other, from the flat message to its own type.

use std::collections::BTreeMap;

use proto::v1;
use verdict::verify::answer::{AnswerMatch, AnswerTake};
use verdict::verify::{ReportFrom, WHOLE_TEST_ID};
use verdict::{
    AnswerSpec, AssertsSpec, Case, CasesSpec, Combine, CombinedSpec, Framework, GitScrub,
    HarnessSpec, Language, Measure, MeasureSpec, OnTamper, Part, Phase, ReportFormat, Required,
    TestCode, TestFile,
};

use super::{Reader, kind_name};
use crate::grpc::convert::{WORKSPACE, check_argument, check_environment, files};
use crate::grpc::status::{ApiError, shorten};

/// A path of a request, relative to `/workspace`.
fn relative(path: &str) -> String {
    let prefix = format!("{WORKSPACE}/");
    path.strip_prefix(&prefix).unwrap_or(path).to_owned()
}

impl Reader<'_> {
    pub(super) fn asserts(&self, message: v1::Verify) -> Result<AssertsSpec, ApiError> {
        if v1::Isolation::try_from(message.isolation).is_ok_and(|it| it == v1::Isolation::Shared) {
            let problem = "shared is not supported for asserts; leave it out or give separate";
            return Err(self.refuse("isolation", problem));
        }
        let tests = (1..).zip(message.tests).map(|(number, test)| TestCode {
            id: if test.id.is_empty() {
                format!("{WHOLE_TEST_ID}/{number}")
            } else {
                test.id
            },
            code: test.code,
        });
        Ok(AssertsSpec {
            file: relative(&message.file),
            code: message.code,
            language: self.language(message.language)?.unwrap_or_default(),
            tests: tests.collect(),
            test_ids: message.test_ids,
            on_tamper: self.on_tamper(message.on_tamper)?,
            entry_points: message.entry_points,
            declaration: message.declaration,
        })
    }

    pub(super) fn answer(&self, message: v1::Verify) -> Result<AnswerSpec, ApiError> {
        let answer =
            (message.answer).ok_or_else(|| self.refuse("answer", "missing; give what is right"))?;
        let compare = match v1::AnswerMatch::try_from(answer.compare) {
            Ok(v1::AnswerMatch::Unspecified | v1::AnswerMatch::Exact) => AnswerMatch::Exact,
            Ok(v1::AnswerMatch::Numeric) => AnswerMatch::Numeric,
            Ok(v1::AnswerMatch::Symbolic) => AnswerMatch::Symbolic,
            Err(_unknown) => {
                let known = "exact, numeric, symbolic";
                return Err(self.unknown("answer.compare", answer.compare, known));
            }
        };
        Ok(AnswerSpec {
            expected: answer.expected,
            compare,
            take: match v1::AnswerTake::try_from(answer.take) {
                Ok(v1::AnswerTake::Unspecified | v1::AnswerTake::Whole) => AnswerTake::Whole,
                Ok(v1::AnswerTake::LastLine) => AnswerTake::LastLine,
                Ok(v1::AnswerTake::Boxed) => AnswerTake::Boxed,
                Err(_unknown) => {
                    let known = "whole, last_line, boxed";
                    return Err(self.unknown("answer.take", answer.take, known));
                }
            },
            float_tolerance: message.float_tolerance,
            file: relative(&message.file),
        })
    }

    pub(super) fn cases(&self, message: v1::Verify) -> Result<CasesSpec, ApiError> {
        let cases = (1..).zip(message.cases).map(|(number, case)| Case {
            id: if case.id.is_empty() {
                format!("cases/{number}")
            } else {
                case.id
            },
            stdin: case.stdin,
            argv: case.argv,
            stdout: case.stdout,
            exit_code: case.exit_code,
            args: case.args.map_or_else(String::new, |value| value.json),
            kwargs: case.kwargs.map_or_else(String::new, |value| value.json),
            expected: case.expected.map_or_else(String::new, |value| value.json),
        });
        Ok(CasesSpec {
            file: relative(&message.file),
            language: self.language(message.language)?.unwrap_or_default(),
            argv: message.argv,
            function: message.function,
            declaration: message.declaration,
            cases: cases.collect(),
            stop_on_first_fail: message.stop_on_first_fail,
            case_wall_ms: message.case_wall_ms,
            case_cpu_ms: message.case_cpu_ms,
            ignore_trailing_space: message.ignore_trailing_space,
            float_tolerance: message.float_tolerance,
            test_ids: message.test_ids,
            partial_credit: message.partial_credit,
        })
    }

    pub(super) fn harness(
        &self,
        kind: v1::VerifyKind,
        mut message: v1::Verify,
    ) -> Result<HarnessSpec, ApiError> {
        let name = kind_name(kind);
        let separate = v1::Isolation::try_from(message.isolation)
            .is_ok_and(|isolation| isolation == v1::Isolation::Separate);
        if separate {
            let problem = format!(
                "separate is not possible for {name}: tests and solution share a process; \
                 leave it out or give shared"
            );
            return Err(self.refuse("isolation", &problem));
        }
        self.check_command(&message)?;
        let format = match message.format.as_str() {
            "" => None,
            name => Some(ReportFormat::from_name(name).ok_or_else(|| {
                let known = ReportFormat::ALL.map(ReportFormat::name).join(", ");
                let name = shorten(name);
                self.refuse("format", &format!("{name:?} is unknown; known: {known}"))
            })?),
        };
        Ok(HarnessSpec {
            framework: framework(kind),
            phase: self.phase(&mut message)?,
            args: message.args,
            argv: message.argv,
            env: message.env,
            cwd: relative(&message.cwd),
            format,
            report: ReportFrom::parse(&relative(&message.report)),
            required: Required {
                test_ids: message.test_ids,
                fail_to_pass: message.fail_to_pass,
                pass_to_pass: message.pass_to_pass,
                partial_credit: message.partial_credit,
            },
            repeat: message.repeat,
        })
    }

    pub(super) fn measure(
        &self,
        kind: v1::VerifyKind,
        mut message: v1::Verify,
    ) -> Result<MeasureSpec, ApiError> {
        self.check_command(&message)?;
        Ok(MeasureSpec {
            measure: match kind {
                v1::VerifyKind::Coverage => Measure::Coverage,
                v1::VerifyKind::Leaks => Measure::Leaks,
                v1::VerifyKind::Lint => Measure::Lint,
                _ => Measure::Compile,
            },
            language: self.language(message.language)?,
            phase: self.phase(&mut message)?,
            file: relative(&message.file),
            argv: message.argv,
            env: message.env,
            cwd: relative(&message.cwd),
            format: message.format,
            report: ReportFrom::parse(&relative(&message.report)),
            min_coverage_pct: message.min_coverage_pct,
            baseline_coverage_pct: message.baseline_coverage_pct,
            max_leaks: message.max_leaks,
            max_errors: message.max_errors,
            max_warnings: message.max_warnings,
        })
    }

    pub(super) fn combined(&self, message: v1::Verify) -> Result<CombinedSpec, ApiError> {
        let combine = match v1::Combine::try_from(message.combine) {
            Ok(v1::Combine::Unspecified | v1::Combine::All) => Combine::All,
            Ok(v1::Combine::Weighted) => Combine::Weighted,
            Ok(v1::Combine::Min) => Combine::Min,
            Err(_unknown) => {
                return Err(self.unknown("combine", message.combine, "all, weighted, min"));
            }
        };
        let mut parts = Vec::with_capacity(message.parts.len());
        for (index, part) in message.parts.into_iter().enumerate() {
            let at = format!("{}.parts[{index}].verify", self.at);
            let field = format!("parts[{index}].verify");
            let verify = (part.verify)
                .ok_or_else(|| self.refuse(&field, "missing; say how this part is judged"))?;
            if verify.kind == i32::from(v1::VerifyKind::Combined) {
                let problem = "combined cannot be a part; put its parts here";
                return Err(self.refuse(&format!("{field}.kind"), problem));
            }
            let limits = self.limits;
            parts.push(Part {
                name: part.name,
                weight: part.weight.unwrap_or(1.0),
                verify: Reader { at, limits }.spec(verify)?,
            });
        }
        Ok(CombinedSpec { parts, combine })
    }

    /// Sizes of the command; its values are checked with the rest.
    fn check_command(&self, message: &v1::Verify) -> Result<(), ApiError> {
        let words: Vec<Vec<u8>> = (message.argv.iter().chain(&message.args))
            .map(|word| word.clone().into_bytes())
            .collect();
        for (index, word) in words.iter().enumerate() {
            check_argument(&format!("{}.argv[{index}]", self.at), word)?;
        }
        check_environment(&words, &message.env)
    }

    fn phase(&self, message: &mut v1::Verify) -> Result<Phase, ApiError> {
        let name = format!("{}.test_files", self.at);
        let test_files =
            files::checked(&name, std::mem::take(&mut message.test_files), self.limits)?;
        let test_files: BTreeMap<String, TestFile> = (test_files.into_iter())
            .map(|file| {
                let (content, mode) = (file.content, file.mode);
                (file.path, TestFile { content, mode })
            })
            .collect();
        let git = match v1::GitScrub::try_from(message.git) {
            Ok(v1::GitScrub::Unspecified | v1::GitScrub::Keep) => GitScrub::Keep,
            Ok(v1::GitScrub::Scrub) => GitScrub::Scrub,
            Err(_unknown) => return Err(self.unknown("git", message.git, "keep, scrub")),
        };
        Ok(Phase {
            test_files,
            protected: (message.protected.iter())
                .map(|glob| relative(glob))
                .collect(),
            on_tamper: self.on_tamper(message.on_tamper)?,
            git,
        })
    }

    fn on_tamper(&self, number: i32) -> Result<OnTamper, ApiError> {
        match v1::OnTamper::try_from(number) {
            Ok(v1::OnTamper::Unspecified | v1::OnTamper::Grade) => Ok(OnTamper::Grade),
            Ok(v1::OnTamper::Zero) => Ok(OnTamper::Zero),
            Err(_unknown) => Err(self.unknown("on_tamper", number, "grade, zero")),
        }
    }

    fn language(&self, number: i32) -> Result<Option<Language>, ApiError> {
        use v1::Language as Wire;
        let language = v1::Language::try_from(number).map_err(|_unknown| {
            let known = "python, javascript, typescript, go, java, c, cpp, rust, php, ruby, perl, \
                         lua, shell";
            self.unknown("language", number, known)
        })?;
        Ok(Some(match language {
            Wire::Unspecified => return Ok(None),
            Wire::Python => Language::Python,
            Wire::Javascript => Language::JavaScript,
            Wire::Typescript => Language::TypeScript,
            Wire::Go => Language::Go,
            Wire::Java => Language::Java,
            Wire::C => Language::C,
            Wire::Cpp => Language::Cpp,
            Wire::Rust => Language::Rust,
            Wire::Php => Language::Php,
            Wire::Ruby => Language::Ruby,
            Wire::Perl => Language::Perl,
            Wire::Lua => Language::Lua,
            Wire::Shell => Language::Shell,
        }))
    }

    fn unknown(&self, field: &str, number: i32, known: &str) -> ApiError {
        self.refuse(
            field,
            &format!("number {number} is unknown; known: {known}"),
        )
    }
}

fn framework(kind: v1::VerifyKind) -> Framework {
    use v1::VerifyKind as Kind;
    match kind {
        Kind::Pytest => Framework::Pytest,
        Kind::Unittest => Framework::Unittest,
        Kind::CargoTest => Framework::CargoTest,
        Kind::GoTest => Framework::GoTest,
        Kind::NodeTest => Framework::NodeTest,
        Kind::Jest => Framework::Jest,
        Kind::JunitXml => Framework::JunitXml,
        Kind::Tap => Framework::Tap,
        Kind::Ctrf => Framework::Ctrf,
        _ => Framework::Command,
    }
}
