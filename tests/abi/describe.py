"""Reads skrt.h without comments from standard input, and writes a C program that says of each struct, field and constant where it lies
and how large it is: "NAME OFFSET SIZE". With --prototypes: writes the functions' declarations alone."""
import re
import sys

text = sys.stdin.read()
structs = re.findall(r"struct (\w+) \{(.*?)\};", text, re.S)
constants = [name for body in re.findall(r"enum \w*\s*\{(.*?)\}", text, re.S) for name in re.findall(r"\bSKRT_\w+", body)]
prototypes = re.findall(r"^[a-z][\w ]*[ *]skrt_\w+\([^;{]*\);", text, re.M)


def fields(body):
    for declaration in re.sub(r"\[.*?\]", "", body).split(";"):
        pointer = re.search(r"\(\*(\w+)\)", declaration)
        names = [pointer[1]] if pointer else [re.sub(r".*\W", "", part.strip(), flags=re.S) for part in declaration.split(",")]
        yield from filter(None, names)


def line(name, offset, size):
    return f'\tprintf("{name} %lld %lld\\n", (long long)({offset}), (long long)({size}));'


if "--prototypes" in sys.argv:
    print(*prototypes, sep="\n")
    sys.exit()
lines = [line(name, name, 0) for name in constants]
for name, body in structs:
    lines.append(line(name, 0, f"sizeof(struct {name})"))
    for field in fields(body):
        lines.append(line(f"{name}.{field}", f"offsetof(struct {name}, {field})", f"sizeof(((struct {name} *)0)->{field})"))
print("#include <stddef.h>", "#include <stdio.h>", '#include "skrt.h"', "int main(void)\n{", *lines, "\treturn 0;\n}", sep="\n")
