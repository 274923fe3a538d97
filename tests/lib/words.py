"""Count words that make sentences hard to read, in documents and in comments, and find lines that are too long.

    words.py [--list] SOURCE
    words.py FILE...          list the places in these files, and count

A noun says what is meant, so "what" and "who" are rare; "before" and "after" say order, "behind" is for addresses;
"is not a" reads better than "is no". The limits are hits for each 10,000 words of a group. --list prints each place.
Exit status 1: a limit is exceeded, or a line is longer than 120 columns.
"""

import re
import sys
from pathlib import Path

PATTERNS = {
    "what": (re.compile(r"\bwhat\b", re.I), 15),
    "who": (re.compile(r"\b(?:who|whom|whose|whoever)\b", re.I), 6),
    "behind": (re.compile(r"\bbehind\b", re.I), 2),
    "in front of": (re.compile(r"\bin front of\b", re.I), 2),
    "is no": (re.compile(r"\b(?:is|are) no\b", re.I), 5),
}
# Titles that the text only names.
EXCEPTIONS = ("where to add what", "is no longer", "are no longer")
COLUMNS = 120
KEPT = {".md": ("|", "    "), ".def": ("#define", "ALIAS(", "NO_EFFECT(")}
DOCUMENTS = {".md", ".1", ".3", ".5", ".7"}
C = {".c", ".h", ".cc", ".hh", ".def", ".S", ".js"}
SCRIPTS = {".py", ".sh", ".awk", ".mk", ".am", ".ac"}
GENERATED = {"configure", "aclocal.m4", "autom4te.cache", "build-aux", ".git", "__pycache__"}
TOKEN = re.compile(r"""/\*.*?\*/|//[^\n]*|\n|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.S)


def prose_of_document(text: str) -> str:
    """Return the text without code; places keep their lines."""
    text = re.sub(r"```.*?```", lambda match: "\n" * match.group().count("\n"), text, flags=re.S)
    return re.sub(r"^(?: {4}|\t).*$", "", re.sub(r"`[^`\n]*`", "X", text), flags=re.M)


def prose_of_c(text: str) -> str:
    """Return the comments; places keep their lines."""
    parts = []
    for match in TOKEN.finditer(text):
        token = match.group()
        if token == "\n":
            parts.append(token)
        elif token[0] == "/":
            parts.append(re.sub(r"^[ \t]*\*(?!/)|^/\*+|\*/$|^//", " ", token, flags=re.M))
    return "".join(parts)


def prose_of_script(text: str) -> str:
    """Return the comments; places keep their lines."""
    return "\n".join(line.lstrip()[1:] if line.lstrip().startswith("#") else "" for line in text.split("\n"))


def prose(path: Path) -> tuple[str, str]:
    """Return the file's group and its prose."""
    text = path.read_text(errors="replace")
    if path.suffix in DOCUMENTS:
        group, found = "documents", prose_of_document(text)
    elif path.suffix in C:
        group, found = "comments", prose_of_c(text)
    else:
        group, found = "comments", prose_of_script(text)
    for exception in EXCEPTIONS:
        found = re.sub(exception.replace(" ", r"\s+"), lambda match: "\n" * match.group().count("\n"), found, flags=re.I)
    return group, found


def long_lines(path: Path) -> list[int]:
    """Return the numbers of lines that are too long.

    Some lines cannot be wrapped: in Markdown rows of tables, code and output; rows of .def files; macros, and regions
    that clang-format leaves alone; in test scripts messages and programs in other languages, so there only comments
    count.
    """
    scripted = "tests" in path.parts and path.suffix in SCRIPTS | {".js"}
    found = []
    whole = False
    for number, line in enumerate(path.read_text(errors="replace").split("\n"), 1):
        if "clang-format o" in line:
            whole = "clang-format off" in line
        elif path.suffix == ".md" and line.lstrip().startswith("```"):
            whole = not whole
        kept = whole or (scripted and not line.lstrip().startswith(("# ", "//")))
        kept = kept or line.startswith(KEPT.get(path.suffix, "#define"))
        if len(line.expandtabs(8)) > COLUMNS and not kept:
            found.append(number)
    return found


def sources(top: Path) -> list[Path]:
    """Return the files of a source tree that people read, without build directories below it."""
    found = []
    for path in sorted(top.iterdir()):
        if path.name in GENERATED or (path.is_dir() and (path / "config.status").exists()):
            continue
        if path.is_dir():
            found += sources(path)
        elif path.suffix in DOCUMENTS | C | SCRIPTS:
            found.append(path)
    return found


def main() -> int:
    arguments = [argument for argument in sys.argv[1:] if argument != "--list"]
    whole = len(arguments) == 1 and Path(arguments[0]).is_dir()
    files = sources(Path(arguments[0])) if whole else [Path(argument) for argument in arguments]
    listed = "--list" in sys.argv or not whole
    words: dict[str, int] = {}
    hits: dict[tuple[str, str], list[str]] = {}
    status = 0
    for path in files:
        group, text = prose(path)
        words[group] = words.get(group, 0) + len(re.findall(r"[A-Za-z]+", text))
        for name, (pattern, _) in PATTERNS.items():
            for match in pattern.finditer(text):
                sentence = " ".join(text[max(0, match.start() - 50) : match.end() + 50].split())
                place = f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {name}: {sentence}"
                hits.setdefault((group, name), []).append(place)
        for number in long_lines(path):
            print(f"{path}:{number}: longer than {COLUMNS} columns")
            status = 1
    for group, count in words.items():
        for name, (_, limit) in PATTERNS.items():
            places = hits.get((group, name), [])
            rate = len(places) * 10000 / max(count, 1)
            bad = whole and rate > limit
            status |= bad
            if listed or bad:
                print("\n".join(places))
            print(f"{group}: '{name}' {rate:.1f} for each 10,000 of {count} words{', more than ' + str(limit) if bad else ''}")
    return status


sys.exit(main())
