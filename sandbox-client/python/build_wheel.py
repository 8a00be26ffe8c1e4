"""The hook of the build: where `ROLLCAGE_BIN_DIR` names the built programs, the wheel carries them as
scripts and is tagged by what they need of a host; else it is the client alone, for any platform.
"""

from __future__ import annotations

import os
import re
import struct
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PROGRAMS = ("rollcage", "sandboxd", "sandbox-launcher", "sandbox-init", "sandbox-probe", "sandbox-check")
# Libraries that every distribution with this version of glibc has (PEP 600).
LIBRARIES = re.compile(r"lib(c|m|dl|rt|pthread|gcc_s)\.so\.\d+|ld-linux-x86-64\.so\.2")


class ProgramsHook(BuildHookInterface[Any]):
    """Adds the programs."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before a wheel is made."""
        folder = os.environ.get("ROLLCAGE_BIN_DIR")
        if self.target_name != "wheel" or not folder:
            return
        programs = [Path(folder).absolute() / name for name in PROGRAMS]
        glibc = max(glibc_of(program) for program in programs)
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-manylinux_{glibc[0]}_{glibc[1]}_x86_64"
        build_data["shared_scripts"] = {str(program): program.name for program in programs}


def glibc_of(program: Path) -> tuple[int, int]:
    """The lowest version of glibc that a program for x86-64 runs with; (2, 5) for a static one."""
    elf = program.read_bytes()
    if elf[:6] != b"\x7fELF\x02\x01" or struct.unpack_from("<H", elf, 18)[0] != 62:
        raise SystemExit(f"{program} is no program for x86-64")
    needed, strings = dynamic_section(elf)
    for library in needed:
        if not LIBRARIES.fullmatch(library):
            raise SystemExit(f"{program} needs {library}, which not every Linux has")
    versions = re.findall(rb"\0GLIBC_(\d+)\.(\d+)", strings)
    return max([(2, 5), *((int(major), int(minor)) for major, minor in versions)])


def dynamic_section(elf: bytes) -> tuple[list[str], bytes]:
    """The libraries that a program names, and its table of dynamic strings; neither where it is static."""
    table, size, count = struct.unpack_from("<Q", elf, 32)[0], *struct.unpack_from("<HH", elf, 54)
    loads, dynamic = [], None
    for at in range(table, table + size * count, size):
        kind, _, offset, address, _, length = struct.unpack_from("<IIQQQQ", elf, at)
        if kind == 1:
            loads.append((address, offset, length))
        elif kind == 2:
            dynamic = (offset, length)
    if dynamic is None:
        return [], b""
    entries = list(struct.iter_unpack("<QQ", elf[dynamic[0] : dynamic[0] + dynamic[1]]))
    values = dict(entries)
    if 1 not in values:
        return [], b""
    offset = next(at + values[5] - address for address, at, length in loads if address <= values[5] < address + length)
    strings = elf[offset : offset + values[10]]
    names = [strings[value : strings.index(b"\0", value)].decode() for tag, value in entries if tag == 1]
    return names, strings
