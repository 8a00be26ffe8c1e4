//! What the tests need of the machine: files that must be there, and the Debian packages that bring
//! them. It does not know how they are installed.

/// A file that must be there, the Debian package that brings it, and what needs it.
pub(super) struct Need {
    pub(super) file: &'static str,
    pub(super) package: &'static str,
    pub(super) needed_by: &'static str,
}

const fn need(file: &'static str, package: &'static str, needed_by: &'static str) -> Need {
    Need {
        file,
        package,
        needed_by,
    }
}

/// Absolute paths on purpose: sandboxes see the host's `/usr`, not the caller's `PATH`.
pub(super) const NEEDS: [Need; 38] = [
    need("/usr/bin/python3", "python3", "programs in Python"),
    need(
        "/usr/bin/pip3",
        "python3-pip",
        "fetching HumanEval, and linters",
    ),
    need("/usr/bin/git", "git", "scrubbing repositories"),
    need("/usr/bin/node", "nodejs", "programs in JavaScript"),
    need("/usr/bin/gcc", "gcc", "programs in C, and the probe"),
    need("/usr/include/stdio.h", "libc6-dev", "programs in C"),
    need(
        "/usr/bin/qemu-system-x86_64",
        "qemu-system-x86",
        "the emulated host",
    ),
    need("/usr/bin/busybox", "busybox-static", "the emulated host"),
    need("/usr/sbin/mke2fs", "e2fsprogs", "the emulated host"),
    need("/usr/bin/strip", "binutils", "the emulated host"),
    need("/usr/bin/bwrap", "bubblewrap", "bench: a peer"),
    need("/usr/sbin/runc", "runc", "bench: a peer"),
    need("/usr/bin/g++", "g++", "programs in C++"),
    need(
        "/usr/include/boost/any.hpp",
        "libboost-dev",
        "programs in C++ of HumanEval-X",
    ),
    need(
        "/usr/include/openssl/opensslv.h",
        "libssl-dev",
        "programs in C++ of HumanEval-X",
    ),
    need("/usr/bin/go", "golang-go", "programs in Go"),
    need(
        "/usr/share/gocode/src/github.com/stretchr/testify",
        "golang-github-stretchr-testify-dev",
        "tests in Go",
    ),
    need("/usr/bin/javac", "default-jdk-headless", "programs in Java"),
    need(
        "/usr/lib/python3/dist-packages/sympy",
        "python3-sympy",
        "answers that are expressions",
    ),
    need(
        "/usr/lib/python3/dist-packages/pytest",
        "python3-pytest",
        "tests in Python",
    ),
    need(
        "/usr/lib/python3/dist-packages/six.py",
        "python3-six",
        "repositories with bugs",
    ),
    need(
        "/usr/lib/python3/dist-packages/psutil",
        "python3-psutil",
        "repositories with bugs",
    ),
    need(
        "/usr/lib/python3/dist-packages/colorama",
        "python3-colorama",
        "repositories with bugs",
    ),
    need(
        "/usr/lib/python3/dist-packages/decorator.py",
        "python3-decorator",
        "repositories with bugs",
    ),
    need(
        "/usr/lib/python3/dist-packages/pyte",
        "python3-pyte",
        "repositories with bugs",
    ),
    need(
        "/usr/lib/python3/dist-packages/mock",
        "python3-mock",
        "repositories with bugs",
    ),
    need(
        "/usr/lib/python3/dist-packages/pytest_mock",
        "python3-pytest-mock",
        "repositories with bugs",
    ),
    need(
        "/usr/lib/python3/dist-packages/setuptools",
        "python3-setuptools",
        "repositories with bugs",
    ),
    need(
        "/usr/bin/python3-coverage",
        "python3-coverage",
        "coverage of programs in Python",
    ),
    need("/usr/bin/valgrind", "valgrind", "leaks of programs in C"),
    need(
        "/usr/share/doc/libc6-dbg",
        "libc6-dbg",
        "leaks of programs in C",
    ),
    need("/usr/bin/lcov", "lcov", "coverage of programs in C"),
    need("/usr/bin/bc", "bc", "programs in bash"),
    need("/usr/bin/php", "php-cli", "programs in PHP"),
    need("/usr/bin/ruby", "ruby", "programs in Ruby"),
    need("/usr/bin/lua5.4", "lua5.4", "programs in Lua"),
    need("/usr/share/lua/5.4/luaunit.lua", "lua-unit", "tests in Lua"),
    need(
        "/usr/share/perl5/Test/Deep.pm",
        "libtest-deep-perl",
        "tests in Perl",
    ),
];
