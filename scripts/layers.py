#!/usr/bin/env python3
"""Fails on an include that goes against the arrows between the rooms of src/.

base <- domain <- ports <- app <- adapters <- bin; wire, cli and guest stand beside them.
Prints one line per wrong include, and a count.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SRC = ROOT / "src"

# What each room may include besides itself. A name with a slash is a file or a folder.
ALLOWED = {
    "base": set(),
    "domain": {"base"},
    "ports": {"base", "domain"},
    "app": {"base", "domain", "ports"},
    "wire": {"base", "domain"},
    "guest": {"base"},
    "cli": {"base", "domain", "wire", "adapters/http/json_codec.h"},
    "adapters": {"base", "domain", "ports", "app", "wire"},
    "bin": {"base", "domain", "ports", "app", "wire", "adapters", "cli/cli.h"},
    "sim": {"base", "domain", "ports", "app", "wire", "adapters"},
    "tests": {"base", "domain", "ports", "app", "wire", "adapters", "cli", "guest", "tests"},
}
# Adapters do not know one another; these do, and why.
ADAPTERS_TOGETHER = {
}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def room_of(path):
    """The room of a file, by its path below src/ (or sim/, tests/)."""
    return path.split("/", 1)[0]


def matches(target, allowed):
    return any(target == one or target.startswith(one + "/") for one in allowed)


def is_wrong(here, target, is_test):
    """Why this include is wrong, or None."""
    room = room_of(here)
    if not (SRC / target).exists():
        # Relative to the repository: sim/ and tests/ may, and tests of src/ use tests/.
        if (ROOT / target).exists() and (room in ("sim", "tests") or is_test):
            return None
        return "no such file"
    other = room_of(target)
    if other == "bin" and room != "bin":
        return "nothing includes bin"
    if room == "adapters" and other == "adapters":
        mine, theirs = here.split("/")[1], target.split("/")[1]
        if mine == theirs or is_test or (mine, theirs) in ADAPTERS_TOGETHER:
            return None
        return f"adapter {mine} includes adapter {theirs}"
    if other == room or matches(target, ALLOWED[room]):
        return None
    if is_test and other in ("adapters", "app", "ports", "domain", "base"):
        return None if room in ("app", "adapters", "ports") else f"{room} includes {other}"
    return f"{room} includes {other}"


def main():
    wrong = files = 0
    roots = [(SRC, "")] + [(ROOT / d, d + "/") for d in ("sim", "tests") if (ROOT / d).is_dir()]
    for root, prefix in roots:
        for path in sorted(root.rglob("*")):
            if path.suffix not in (".h", ".cc"):
                continue
            files += 1
            here = prefix + str(path.relative_to(root))
            is_test = path.stem.endswith("_test") or prefix == "tests/" or "test_" in path.name
            text = path.read_text(encoding="utf-8")
            for match in INCLUDE.finditer(text):
                why = is_wrong(here, match.group(1), is_test)
                if why:
                    wrong += 1
                    line = text.count("\n", 0, match.start(1)) + 1
                    print(f"{path.relative_to(ROOT)}:{line}: {match.group(1)}: {why}")
    print(f"layers: {files} files, {wrong} wrong includes")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
