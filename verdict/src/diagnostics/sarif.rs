//! SARIF 2.1: the results of all runs that nobody suppressed, and a tool's word that it failed.
//! A log without any run is no report: nothing was checked.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::reading::{self, First, List, ReadError};
use crate::verdict::{Diagnostic, Severity};

use super::{Found, diagnostic};

const FORMAT: &str = "sarif";

#[derive(Deserialize)]
struct Log {
    version: String,
    #[serde(default)]
    runs: List<Run>,
}

#[derive(Deserialize)]
struct Run {
    tool: Tool,
    #[serde(default)]
    artifacts: List<Artifact>,
    #[serde(default)]
    results: List<Written>,
    #[serde(default)]
    invocations: List<Invocation>,
}

#[derive(Deserialize)]
struct Tool {
    driver: Component,
    #[serde(default)]
    extensions: List<Component>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Component {
    #[serde(default)]
    name: String,
    #[serde(default)]
    guid: String,
    #[serde(default)]
    rules: List<Rule>,
    #[serde(default)]
    notifications: List<Rule>,
    #[serde(default)]
    global_message_strings: BTreeMap<String, Text>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    #[serde(default)]
    id: String,
    #[serde(default)]
    message_strings: BTreeMap<String, Text>,
    #[serde(default)]
    default_configuration: Configuration,
}

#[derive(Deserialize, Default)]
struct Configuration {
    level: Option<String>,
}

#[derive(Deserialize)]
struct Text {
    text: String,
}

#[derive(Deserialize)]
struct Artifact {
    location: Option<ArtifactLocation>,
}

#[derive(Deserialize)]
struct ArtifactLocation {
    uri: Option<String>,
    index: Option<i64>,
}

/// A result or a notification.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written {
    rule_id: Option<String>,
    rule_index: Option<i64>,
    #[serde(alias = "descriptor")]
    rule: Option<Reference>,
    level: Option<String>,
    kind: Option<String>,
    #[serde(default)]
    message: Message,
    #[serde(default)]
    locations: First<Location>,
    #[serde(default)]
    suppressions: List<Suppression>,
    baseline_state: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Reference {
    id: Option<String>,
    index: Option<i64>,
    tool_component: Option<ComponentReference>,
}

#[derive(Deserialize)]
struct ComponentReference {
    index: Option<i64>,
    #[serde(default)]
    guid: String,
}

#[derive(Deserialize, Default)]
struct Message {
    text: Option<String>,
    id: Option<String>,
    #[serde(default)]
    arguments: List<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    physical_location: Option<Physical>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Physical {
    artifact_location: Option<ArtifactLocation>,
    region: Option<Region>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: Option<u64>,
    start_column: Option<u64>,
}

#[derive(Deserialize)]
struct Suppression {
    status: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Invocation {
    execution_successful: Option<bool>,
    #[serde(default)]
    tool_configuration_notifications: List<Written>,
    #[serde(default)]
    tool_execution_notifications: List<Written>,
}

/// Reads a log.
pub(super) fn read(report: &[u8]) -> Result<Found, ReadError> {
    let log: Log = reading::json(FORMAT, report)?;
    if !log.version.starts_with("2.1.") {
        let reason = format!("version {:?} instead of 2.1.0", log.version);
        return Err(ReadError::malformed(FORMAT, reason));
    }
    if log.runs.0.is_empty() {
        return Err(ReadError::malformed(FORMAT, "it has no run"));
    }
    let mut found = Found::default();
    for run in &log.runs.0 {
        for result in run.results.0.iter().filter(|result| counts(result)) {
            let rule = run.rule(result);
            found.add(run.meant(result, rule))?;
        }
        for invocation in &run.invocations.0 {
            notifications(run, invocation, &mut found)?;
        }
    }
    Ok(found)
}

/// What a tool says of itself; only its errors, and that it did not succeed.
fn notifications(run: &Run, of: &Invocation, found: &mut Found) -> Result<(), ReadError> {
    let mut told = false;
    let both = [
        &of.tool_configuration_notifications,
        &of.tool_execution_notifications,
    ];
    for written in both.into_iter().flat_map(|list| &list.0) {
        let descriptor = run.notification(written);
        let said = run.meant(written, descriptor);
        if said.severity == Severity::Error {
            told = true;
            found.add(said)?;
        }
    }
    if of.execution_successful == Some(false) && !told {
        let message = "the tool says that it did not succeed";
        found.add(diagnostic(&run.tool.driver.name, Severity::Error, message))?;
    }
    Ok(())
}

/// Whether a result is one that still stands.
fn counts(result: &Written) -> bool {
    let holds = |suppression: &Suppression| {
        matches!(suppression.status.as_deref(), None | Some("accepted"))
    };
    let suppressed = result.suppressions.0.iter().any(holds);
    let passes = matches!(result.kind.as_deref(), Some("pass" | "notApplicable"));
    !suppressed && !passes && result.baseline_state.as_deref() != Some("absent")
}

fn at<T>(list: &List<T>, index: Option<i64>) -> Option<&T> {
    list.0.get(usize::try_from(index?).ok()?)
}

impl Run {
    fn component(&self, reference: Option<&ComponentReference>) -> &Component {
        let named = reference.and_then(|reference| {
            let by_guid = |it: &&Component| !it.guid.is_empty() && it.guid == reference.guid;
            at(&self.tool.extensions, reference.index)
                .or_else(|| self.tool.extensions.0.iter().find(by_guid))
        });
        named.unwrap_or(&self.tool.driver)
    }

    fn rule(&self, result: &Written) -> Option<&Rule> {
        let reference = result.rule.as_ref();
        let rules = &self
            .component(reference.and_then(|it| it.tool_component.as_ref()))
            .rules;
        let index = result.rule_index.or(reference.and_then(|it| it.index));
        at(rules, index).or_else(|| {
            let id = result.id()?;
            rules.0.iter().find(|rule| rule.id == id)
        })
    }

    fn notification(&self, written: &Written) -> Option<&Rule> {
        let reference = written.rule.as_ref()?;
        let known = &self.tool.driver.notifications;
        at(known, reference.index).or_else(|| {
            let id = reference.id.as_deref()?;
            known.0.iter().find(|rule| rule.id == id)
        })
    }

    fn meant(&self, written: &Written, rule: Option<&Rule>) -> Diagnostic {
        let of_rule = rule.and_then(|rule| rule.default_configuration.level.as_deref());
        let severity = match written.level.as_deref().or(of_rule) {
            Some("error") => Severity::Error,
            Some("note" | "none") => Severity::Note,
            None if !matches!(written.kind.as_deref(), None | Some("fail")) => Severity::Note,
            _ => Severity::Warning,
        };
        let message = self.message(&written.message, rule);
        let mut said = diagnostic(&self.tool.driver.name, severity, &message);
        let code = written.id().or(rule.map(|rule| rule.id.as_str()));
        code.unwrap_or_default().clone_into(&mut said.code);
        let physical = written
            .locations
            .0
            .as_ref()
            .and_then(|at| at.physical_location.as_ref());
        if let Some(physical) = physical {
            said.file = self
                .file(physical.artifact_location.as_ref())
                .unwrap_or_default();
            said.line = physical
                .region
                .as_ref()
                .and_then(|region| region.start_line);
            said.column = physical
                .region
                .as_ref()
                .and_then(|region| region.start_column);
        }
        said
    }

    fn message(&self, message: &Message, rule: Option<&Rule>) -> String {
        let template = message.text.as_deref().or_else(|| {
            let id = message.id.as_deref()?;
            let of_rule = rule.and_then(|rule| rule.message_strings.get(id));
            let text = of_rule.or_else(|| self.tool.driver.global_message_strings.get(id));
            text.map(|text| text.text.as_str())
        });
        let template = reading::cut(template.unwrap_or_default(), reading::MESSAGE_BYTES_MAX);
        if message.arguments.0.is_empty() {
            return template;
        }
        filled(&template, &message.arguments.0)
    }

    fn file(&self, location: Option<&ArtifactLocation>) -> Option<String> {
        let location = location?;
        let by_index = || {
            at(&self.artifacts, location.index)?
                .location
                .as_ref()?
                .uri
                .as_deref()
        };
        let uri = location.uri.as_deref().or_else(by_index)?;
        Some(uri.strip_prefix("file://").unwrap_or(uri).to_owned())
    }
}

impl Written {
    fn id(&self) -> Option<&str> {
        let of_reference = || self.rule.as_ref().and_then(|rule| rule.id.as_deref());
        self.rule_id.as_deref().or_else(of_reference)
    }
}

/// `{0}` and its like replaced, once each and no longer than a message may be.
fn filled(template: &str, arguments: &[String]) -> String {
    let mut filled = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let argument = after.split_once('}').and_then(|(index, after)| {
            let argument = arguments.get(index.parse::<usize>().ok()?)?;
            Some((argument, after))
        });
        match argument {
            Some((argument, after)) if filled.len() < reading::MESSAGE_BYTES_MAX => {
                filled.push_str(&reading::cut(argument, reading::NAME_BYTES_MAX));
                rest = after;
            }
            _ => {
                filled.push('{');
                rest = after;
            }
        }
    }
    filled.push_str(rest);
    filled
}
