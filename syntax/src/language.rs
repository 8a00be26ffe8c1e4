//! The languages that can be checked, and their grammars.

use std::path::Path;

/// A language with a grammar here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// Bash and what it has in common with `sh`.
    Bash,
    /// C.
    C,
    /// C++.
    Cpp,
    /// Go.
    Go,
    /// Java.
    Java,
    /// JavaScript, with JSX.
    JavaScript,
    /// Python 3.
    Python,
    /// Rust.
    Rust,
    /// TypeScript.
    TypeScript,
    /// TypeScript with JSX.
    Tsx,
}

/// Extensions, without the dot.
const EXTENSIONS: [(&str, Language); 22] = [
    ("bash", Language::Bash),
    ("sh", Language::Bash),
    ("c", Language::C),
    ("cc", Language::Cpp),
    ("cpp", Language::Cpp),
    ("cxx", Language::Cpp),
    ("h", Language::Cpp),
    ("hh", Language::Cpp),
    ("hpp", Language::Cpp),
    ("hxx", Language::Cpp),
    ("go", Language::Go),
    ("java", Language::Java),
    ("cjs", Language::JavaScript),
    ("js", Language::JavaScript),
    ("jsx", Language::JavaScript),
    ("mjs", Language::JavaScript),
    ("py", Language::Python),
    ("rs", Language::Rust),
    ("cts", Language::TypeScript),
    ("mts", Language::TypeScript),
    ("ts", Language::TypeScript),
    ("tsx", Language::Tsx),
];

impl Language {
    /// The language of a file by its extension; `None` for any other file.
    #[must_use]
    pub fn of_path(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?;
        let known = |(name, _): &&(&str, Self)| *name == extension;
        EXTENSIONS.iter().find(known).map(|(_, language)| *language)
    }

    /// Its grammar.
    pub(crate) fn grammar(self) -> tree_sitter::Language {
        match self {
            Self::Bash => tree_sitter_bash::LANGUAGE.into(),
            Self::C => tree_sitter_c::LANGUAGE.into(),
            Self::Cpp => tree_sitter_cpp::LANGUAGE.into(),
            Self::Go => tree_sitter_go::LANGUAGE.into(),
            Self::Java => tree_sitter_java::LANGUAGE.into(),
            Self::JavaScript => tree_sitter_javascript::LANGUAGE.into(),
            Self::Python => tree_sitter_python::LANGUAGE.into(),
            Self::Rust => tree_sitter_rust::LANGUAGE.into(),
            Self::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
            Self::Tsx => tree_sitter_typescript::LANGUAGE_TSX.into(),
        }
    }
}
