//! Which policy a program gets when nobody names one: by its interpreter.
//!
//! Scripts get the policy of their interpreter, compiled languages `build` (the compiler runs
//! inside the sandbox). What is not in the table gets `shell`: the tools of the image and nothing
//! that was written inside can be executed.

#[cfg(test)]
mod tests;

/// File name endings without the dot, in lower case, and their policies.
const BY_EXTENSION: &[(&str, &[&str])] = &[
    ("python", &["py", "pyw", "pyz", "ipynb"]),
    (
        "node",
        &["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx"],
    ),
    (
        "shell",
        &[
            "sh", "bash", "zsh", "ksh", "awk", "sed", "rb", "lua", "pl", "php", "tcl", "r",
        ],
    ),
    (
        "build",
        &[
            "c", "cc", "cpp", "cxx", "c++", "rs", "go", "java", "kt", "scala", "swift", "zig",
            "hs", "ml", "d", "nim", "cs", "f90", "f95", "f", "s", "asm", "pas", "cu",
        ],
    ),
];

/// Names of interpreters and compilers without version, and their policies.
const BY_PROGRAM: &[(&str, &[&str])] = &[
    ("python", &["python", "pypy", "pytest"]),
    (
        "node",
        &["node", "nodejs", "npm", "npx", "deno", "bun", "tsc", "tsx"],
    ),
    (
        "build",
        &[
            "gcc", "g++", "cc", "c++", "clang", "clang++", "ld", "make", "cmake", "ninja", "cargo",
            "rustc", "go", "javac", "java", "kotlinc", "scalac", "swiftc", "zig", "ghc", "ocamlc",
            "dotnet", "gfortran", "nasm", "as", "mvn", "gradle",
        ],
    ),
];

/// The policy of a program that is in neither table.
const OTHERWISE: &str = "shell";

/// The catalog policy for a file with this ending (with or without the dot, any case).
pub fn policy_for_extension(extension: &str) -> &'static str {
    let extension = extension.trim_start_matches('.').to_ascii_lowercase();
    look_up(BY_EXTENSION, &extension)
}

/// The catalog policy for a command by its program (`argv[0]`, with or without folders and a
/// version such as `python3.11`).
pub fn policy_for_program(program: &str) -> &'static str {
    let name = program.rsplit('/').next().unwrap_or(program);
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
    look_up(BY_PROGRAM, if plain.is_empty() { name } else { plain })
}

fn look_up(table: &[(&'static str, &[&str])], name: &str) -> &'static str {
    table
        .iter()
        .find(|(_, names)| names.contains(&name))
        .map_or(OTHERWISE, |(policy, _)| *policy)
}
