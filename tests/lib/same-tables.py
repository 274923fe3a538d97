#!/usr/bin/env python3
"""same-tables.py OLD-FILE OLD-SKDUMP NEW-FILE NEW-SKDUMP: whether two packages are the same but for how their plans are
written: skdump shows the same tables, the sections have the same sizes and, where nothing has moved, the same bytes. Where the
plan's size has moved what lies behind it, code is compared as instructions without addresses. For same-packages.sh --tables."""
import re
import struct
import subprocess
import sys

# The sections that have the plan's own size and addresses.
PLAN = {".sk.plan", ".rela.sk.plan", ".note.gnu.build-id", ".padding"}
# Sections that hold only addresses, and places of code: only their sizes are compared.
PLACES = {".symtab", ".dynsym", ".hash", ".gnu.hash", ".dynamic", ".rela.dyn", ".eh_frame", ".eh_frame_hdr", ".plt", ".got"}


def sections(path):
    data = open(path, "rb").read()
    if data[:4] != b"\x7fELF":
        return None
    (start,) = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    table = [struct.unpack_from("<IIQQQQIIQQ", data, start + i * size) for i in range(count)]
    found = {}
    for name, kind, _flags, address, offset, length, *_ in table:
        at = table[names][4] + name
        text = data[at : data.index(b"\0", at)].decode()
        found[text] = (address, b"" if kind == 8 else data[offset : offset + length], length)
    return found


def tables(path, skdump):
    result = subprocess.run([skdump, "--all", path], capture_output=True, text=True, check=True)
    return result.stdout.replace(path, "PACKAGE")


def instructions(path, section):
    command = ["objdump", "-d", "--no-show-raw-insn", "-j", section, path]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    lines = [line.split(":", 1)[1] for line in text.splitlines() if re.match(r"\s+[0-9a-f]+:\t", line)]
    # Displacements from the instruction, and objdump's names for their targets, which may be the nearest symbol's.
    lines = [re.sub(r"-?0x[0-9a-f]+\(%rip\).*", "(%rip)", line) for line in lines]
    return [re.sub(r"\b[0-9a-f]+ <", "<", line) for line in lines]


def differences(old_path, old_skdump, new_path, new_skdump):
    old, new = sections(old_path), sections(new_path)
    if old is None or new is None or ".sk.plan" not in old:
        return ["it is no package"]
    found = []
    if tables(old_path, old_skdump) != tables(new_path, new_skdump):
        found.append("skdump --all")
    if set(old) - PLAN != set(new) - PLAN:
        found.append("the names of sections")
    for name in sorted((set(old) & set(new)) - PLAN):
        (was, before, size), (now, after, new_size) = old[name], new[name]
        moved = any(old[other][0] != new[other][0] for other in set(old) & set(new) - PLAN)
        if size != new_size:
            found.append(f"the size of {name}")
        elif before == after or name in PLACES or name in (".shstrtab", ".strtab"):
            continue
        elif not moved or name == ".sk.constants":
            found.append(f"the bytes of {name}")
        elif name == ".text" and instructions(old_path, name) != instructions(new_path, name):
            found.append("the instructions of .text")
        elif name == ".sk.report":
            found.append("the report")
    return found


found = differences(*sys.argv[1:5])
if found:
    print("; ".join(found))
sys.exit(bool(found))
