//! What a task's `environment/` folder asks for, as far as the host can stand in: a common base, a
//! working folder, variables and copied files. Everything else is named as a need. No line of it is
//! ever run.

use std::collections::BTreeMap;
use std::path::Path;

use super::super::super::failure::Failure;
use super::super::tree::{self, Tree};

/// Bases whose usual programs (a shell, core tools, Python) the host has too.
const BASES: &[&str] = &["ubuntu", "debian", "python", "bash", "busybox"];
/// Working folder of tasks that name none.
const WORKDIR: &str = "/app";

/// What an environment asks for.
#[derive(Debug, Default)]
pub(in super::super) struct Environment {
    base: String,
    pub(in super::super) workdir: String,
    pub(in super::super) env: BTreeMap<String, String>,
    pub(in super::super) files: Tree,
    /// What the host cannot give.
    pub(in super::super) needs: Vec<String>,
}

impl Environment {
    /// Reads `Dockerfile` and the files that it copies; nothing at all where there is none.
    pub(in super::super) fn read(folder: &Path) -> Result<Self, Failure> {
        let mut environment = Self {
            workdir: WORKDIR.to_owned(),
            ..Self::default()
        };
        for name in ["docker-compose.yaml", "docker-compose.yml", "compose.yaml"] {
            if folder.join(name).is_file() {
                environment.need(format!("several containers ({name})"));
            }
        }
        let file = folder.join("Dockerfile");
        if file.is_file() {
            let text = tree::read_text(&file)?.replace("\\\n", " ");
            let context = tree::read(folder)?;
            for line in text.lines().map(str::trim) {
                environment.line(line, &context);
            }
        }
        Ok(environment)
    }

    /// What people should know.
    pub(in super::super) fn notes(&self) -> Vec<String> {
        if self.base.is_empty() {
            return Vec::new();
        }
        vec![format!(
            "the host's own programs stand in for the image {}; {} is /workspace",
            self.base, self.workdir
        )]
    }

    fn need(&mut self, what: String) {
        self.needs.push(what);
    }

    fn line(&mut self, line: &str, context: &Tree) {
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        match word.to_ascii_uppercase().as_str() {
            "" | "LABEL" | "MAINTAINER" | "CMD" | "EXPOSE" | "SHELL" => {}
            _ if word.starts_with('#') => {}
            "FROM" => {
                let image = rest.split_whitespace().next().unwrap_or_default();
                let name = image.split([':', '@']).next().unwrap_or_default();
                if !self.base.is_empty() || !BASES.contains(&name) {
                    self.need(format!("the container image {image}"));
                }
                self.base = image.to_owned();
            }
            "WORKDIR" if rest.starts_with('/') && rest.trim_end_matches('/').len() > 1 => {
                self.workdir = rest.trim_end_matches('/').to_owned();
            }
            "ENV" => self.variables(rest),
            "COPY" => self.copy(rest, context),
            _ => {
                let shown: String = line.chars().take(100).collect();
                self.need(format!("an image built with `{shown}`"));
            }
        }
    }

    fn variables(&mut self, rest: &str) {
        let pairs: Option<Vec<_>> = rest
            .split_whitespace()
            .map(|pair| pair.split_once('='))
            .collect();
        match pairs {
            Some(pairs) if !rest.contains(['"', '\'', '$']) => {
                let pairs = pairs.into_iter();
                self.env
                    .extend(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())));
            }
            _ => self.need(format!("an image built with `ENV {rest}`")),
        }
    }

    /// `COPY SOURCE... DESTINATION`, below the working folder.
    fn copy(&mut self, rest: &str, context: &Tree) {
        let words: Vec<&str> = rest.split_whitespace().collect();
        let Some((to, sources)) = words.split_last() else {
            return;
        };
        let inside = match to.strip_prefix(self.workdir.as_str()) {
            Some(below) if below.is_empty() || below.starts_with('/') => Some(below),
            _ if !to.starts_with('/') => Some(*to),
            _ => None,
        };
        let Some(inside) = inside.filter(|_| !rest.contains(['*', '?', '[', '"'])) else {
            return self.need(format!("an image built with `COPY {rest}`"));
        };
        let is_folder = to.ends_with('/') || *to == "." || inside.is_empty() || sources.len() > 1;
        let inside = inside.trim_start_matches("./").trim_matches('/');
        for source in sources {
            if source.starts_with("--") {
                return self.need(format!("an image built with `COPY {rest}`"));
            }
            let source = source.trim_start_matches("./").trim_matches('/');
            let copied = copied(context, source, inside, is_folder);
            if copied.is_empty() {
                return self.need(format!("`{source}`, which it copies and does not have"));
            }
            self.files.extend(copied);
        }
    }
}

/// A file under its own or its new name, or the content of a folder.
fn copied(context: &Tree, source: &str, inside: &str, is_folder: bool) -> Tree {
    let join = |name: &str| match inside {
        "" | "." => name.to_owned(),
        inside => format!("{inside}/{name}"),
    };
    if let Some(file) = context.get(source) {
        let name = source.rsplit('/').next().unwrap_or(source);
        let path = if is_folder {
            join(name)
        } else {
            inside.to_owned()
        };
        return Tree::from([(path, file.clone())]);
    }
    let all = matches!(source, "" | ".");
    let below = format!("{source}/");
    let inner = context.iter().filter_map(|(path, file)| {
        let path = if all {
            Some(path.as_str())
        } else {
            path.strip_prefix(&below)
        };
        path.map(|path| (join(path), file.clone()))
    });
    inner.collect()
}
