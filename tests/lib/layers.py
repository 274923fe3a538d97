"""layers.py [--update] SOURCE BUILD: holds the source to its layers and rooms. Measures which rooms use which, by includes, by the names that sources
use of headers, and by the names that the objects in BUILD leave open; prints a line for each breach, and exits with 1 if there is one:
  - a layer that uses a layer that it may not use, rooms that use each other in a circle;
  - a file that uses a name of a header and does not include the header, or includes a header of which it uses no name;
  - a room that includes ROOM-parts.h of another one, which is for that one's own files;
  - a header that includes another one although it only points to the structs there;
  - a name that two headers declare;
  - rows of the table of rooms in doc/design.md that are not as measured. --update writes them."""
import collections
import glob
import os
import re
import subprocess
import sys

# The layers, and those that each may use beside itself.
LAYERS = {
    "base": (),
    "format": ("base",),
    "linker": ("base", "format"),
    "stubs": ("base", "format"),
    "graph": ("base", "format"),
    "loader": ("base", "format"),
    "src": ("base", "format", "linker", "stubs", "graph", "loader"),
    "kernels": ("format",),
}
# In kernels/ and for kernels: only the contract that is installed with the library.
KERNEL_HEADERS = {"format/skkernel.h", "format/skabi.h"}
# The suffixes of names in the list of machines.
MACHINES = ("x86_64",)
# The machine that libskrt runs on: configure chooses the header for machine.h, which all other files include.
MACHINE_HEADERS = {"loader/arch/x86_64.h": "loader/arch/machine.h"}
# Headers that are installed, or chosen by configure, count as themselves.
UNCHECKED = {"loader/skrt.h", "loader/skrt-transport.h", "format/skkernel.h", "format/skabi.h", "loader/arch/machine.h", "loader/arch/x86_64.h"}
# Rooms that are built if there is an MPI.
OPTIONAL = {"loader/mpi"}
# Rooms that use each other: neutral code finds the functions of a machine in the list of machines, and these use the
# neutral ops.
MUTUAL = {("stubs/dispatcher", "stubs/x86_64")}

NAME = re.compile(r"\b(?:sk|skrt|SK|SKRT)_\w+")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+(?:"([^"]+)"|<((?:%s)/[^>]+)>)' % "|".join(LAYERS), re.M)


def room_of(path):
    return os.path.dirname(path)


def layer_of(path):
    return path.split("/")[0]


def without_texts(text):
    """The code with comments and literals blanked; lines stay."""
    def blank(match):
        return "\n" * match.group(0).count("\n") or " "
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text, flags=re.S)


def outermost(code):
    """The code outside of braces and directives."""
    code = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", " ", code, flags=re.M)
    parts, depth, start = [], 0, 0
    for match in re.finditer(r"[{}]", code):
        if match.group(0) == "{":
            if depth == 0:
                parts.append(code[start:match.end()])
            depth += 1
        else:
            depth -= 1
            if depth == 0:
                start = match.start()
    parts.append(code[start:])
    return "".join(parts)


class File:
    def __init__(self, root, path):
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
            text = file.read()
        self.path, self.room, self.layer = path, room_of(path), layer_of(path)
        self.includes = {}
        for match in INCLUDE.finditer(re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group(0).count("\n"), text, flags=re.S)):
            self.includes[match.group(1) or match.group(2)] = text.count("\n", 0, match.start()) + 1
        code = without_texts(text)
        self.inline = bool(re.search(r"^\{", code, re.M))  # has functions
        self.tags, self.names = set(), set()  # tags and other names that it defines or declares
        self.types = set()  # of typedefs
        self.fields = set(re.findall(r"\b(\w+)(?:\[[^;\n]*\])?(?:\s*:\s*\d+)?[;,]", code)) if path.endswith(".h") else set()
        self.selected = set(re.findall(r"(?:->|\.)(\w+)", code))
        self.lines = {}  # of the first use
        for number, line in enumerate(code.split("\n"), 1):
            for name in NAME.findall(line):
                self.lines.setdefault(name, number)
        # Tags that are used other than by a pointer need their definition; others need a declaration.
        self.pointed, self.whole = set(), set()
        for match in re.finditer(r"\b(struct|union|enum)\s+((?:sk|skrt)_\w+)\s*(const\s*)?([*;{]?)", code):
            keyword, tag, _, after = match.groups()
            if after == "{":
                self.tags.add(tag)
            elif after in ("*", ";") and keyword != "enum":
                self.pointed.add(tag)
            else:
                self.whole.add(tag)
        used = re.sub(r"\b(?:struct|union|enum)\s+(?:sk|skrt)_\w+", " ", code)
        self.used = set(NAME.findall(used))
        self.called = set(re.findall(r"\b((?:sk|skrt)_\w+)\s*\(", used))
        if path.endswith(".h"):
            self.declare(code)

    def declare(self, code):
        self.names |= set(re.findall(r"^[ \t]*#[ \t]*define[ \t]+((?:sk|skrt|SK|SKRT)_\w+)", code, re.M))
        self.names |= {prefix + machine for prefix in re.findall(r"\b(sk_\w+_)##", code) for machine in MACHINES}
        for body in re.findall(r"\benum\b[^{;()]*\{([^}]*)\}", code):
            self.names |= set(re.findall(r"(?:^|,)\s*((?:SK|SKRT)_\w+)", body))
        outer = outermost(code)
        self.names |= set(re.findall(r"\b((?:sk|skrt)_\w+)\s*\(", re.sub(r"\(\s*\*\s*(\w+)\s*\)", r" \1", outer)))
        for declaration in re.findall(r"\btypedef\b[^;]*;", outer) + re.findall(r"\bextern\b[^;(]*;", outer):
            last = re.search(r"\b((?:sk|skrt)_\w+)\s*(?:\[[^;]*)?;$", declaration)
            if last:
                self.names.add(last.group(1))
                if declaration.startswith("typedef"):
                    self.types.add(last.group(1))
        for last in re.findall(r"\}\s*((?:sk|skrt)_\w+)\s*;", outer):
            self.names.add(last)
        self.used -= self.names
        self.whole -= self.tags
        self.pointed -= self.tags


class Tree:
    def __init__(self, root, build=None):
        listed = []
        for layer in LAYERS:
            for folder, _, names in os.walk(os.path.join(root, layer)):
                for name in names:
                    if name.endswith((".c", ".h", ".S", ".def")) and not name.startswith("."):
                        listed.append(os.path.relpath(os.path.join(folder, name), root))
        self.root = root
        self.files = {path: File(root, path) for path in sorted(listed)}
        self.headers = {path: file for path, file in self.files.items() if path.endswith(".h")}
        self.breaches = []
        self.names = self.homes(lambda file: file.names - {"SK_MACHINE"})  # each list of machines defines it for itself
        self.tags = self.homes(lambda file: file.tags)
        self.types = {name for file in self.headers.values() for name in file.types}
        self.uses = collections.defaultdict(dict)  # (room, room) -> {reason: place}
        self.calls = {}  # (room, room) -> one call, to the room that defines the function
        self.needs = {}
        for file in self.files.values():
            self.measure(file)
        if build:
            self.measure_objects(build)

    def homes(self, names_of):
        """{name: the header that declares it}."""
        homes = {}
        for path, file in self.headers.items():
            path = MACHINE_HEADERS.get(path, path)
            for name in names_of(file) if file.layer != "kernels" else ():
                if homes.setdefault(name, path) != path:
                    self.breaches.append("%s: declares %s, as %s does" % (path, name, homes[name]))
        return homes

    def resolve(self, file, include):
        for path in (include, "format/" + include):  # where the headers are that are installed
            if path in self.files:
                return path
        return None

    def use(self, file, to, text, line):
        if file.room != room_of(to):
            self.uses[file.room, room_of(to)].setdefault((layer_of(to), text), "%s:%d" % (file.path, line))

    def measure(self, file):
        whole, mentioned = {}, {}
        if file.path.endswith(".S"):
            return  # its object shows the symbols that it uses
        for names, declared, needs in ((file.used, self.names, whole), (file.whole, self.tags, whole), (file.pointed, self.tags, mentioned)):
            for name in sorted(names):
                homes = declared
                if names is file.used and name in self.tags and name not in file.called and name not in self.types:
                    homes = self.tags  # an argument of offsetof or the like
                if homes.get(name, file.path) != file.path:
                    needs.setdefault(homes[name], name)
        for include, line in file.includes.items():
            if self.resolve(file, include) is None and include != "config.h" and "/" not in include:
                self.breaches.append("%s:%d: %s is not written from the root of the tree" % (file.path, line, include))
        included = {self.resolve(file, include): (include, line) for include, line in file.includes.items()}
        included.pop(None, None)
        for to, (include, line) in included.items():
            self.use(file, to, "includes " + to, line)
        for to, name in whole.items():
            self.use(file, to, "uses %s of %s" % (name, to), file.lines.get(name, 0))
        self.needs[file.path] = (set(whole), set(mentioned), set(included))
        if file.layer == "kernels" or file.path.endswith(".def") or file.path in UNCHECKED:
            return
        for to, name in sorted(whole.items()):
            if to not in included:
                self.breaches.append("%s:%d: uses %s, and does not include %s" % (file.path, file.lines.get(name, 0), name, to))
        for to, (include, line) in sorted(included.items()):
            if to.endswith("-parts.h") and room_of(to) != file.room:
                self.breaches.append("%s:%d: %s is for the files of its room" % (file.path, line, to))
            if not self.files[to].names and not self.files[to].tags:
                continue
            if file.path not in self.headers and file.selected & self.files[to].fields:
                continue  # which a struct there may have
            if to not in whole and (to not in mentioned or file.path in self.headers and not file.inline):
                why = "only points to %s: declare it" % mentioned[to] if to in mentioned else "uses no name of it"
                self.breaches.append("%s:%d: includes %s, and %s" % (file.path, line, to, why))

    def measure_objects(self, build):
        source = {}
        for path in self.files:
            if not path.endswith((".c", ".S")) or layer_of(path) == "kernels":
                continue
            folder, name = os.path.split(path[:-2])
            found = [object for pattern in ("", "*_a-", ".libs/*_la-", "*[a-z]-") for object in glob.glob(os.path.join(build, folder, pattern + name + ".o"))]
            if found:
                source[found[0]] = path
            elif room_of(path) not in OPTIONAL:
                self.breaches.append("%s: is not built, so nobody knows which names it leaves open" % path)
        text = subprocess.run(["nm", "-A", "--format=posix"] + sorted(source), check=True, capture_output=True, text=True).stdout
        definer, open_names = {}, []
        for line in text.splitlines():
            place, name, kind = line.split()[:3]
            if kind == "U":
                open_names.append((source[place.rstrip(":")], name))
            elif kind in "TDRBVWC":
                definer[name] = source[place.rstrip(":")]
        # A function of a machine's room is used by the name of the header that declares it for all machines.
        for user, name in open_names:
            if name in definer:
                if room_of(user) != room_of(definer[name]):
                    to = self.names.get(name, definer[name])
                    self.use(self.files[user], to, "calls %s of %s" % (name, to), 0)
                    self.calls[room_of(user), room_of(definer[name])] = "%s: calls %s of %s" % (user, name, definer[name])

    def check(self):
        for (room, other), reasons in sorted(self.uses.items()):
            layer, to = layer_of(room), layer_of(other)
            for (_, text), place in sorted(reasons.items(), key=lambda item: item[1]):
                if to != layer and to not in LAYERS[layer]:
                    self.breaches.append("%s: %s/ may not use %s/: %s" % (place, layer, to, text))
                elif layer == "kernels" and to == "format" and text.split()[-1] not in KERNEL_HEADERS:
                    self.breaches.append("%s: kernels/ may use format/skkernel.h only: %s" % (place, text))
        for circle in self.circles():
            for (room, other) in sorted(set(self.uses) | set(self.calls)):
                if room in circle and other in circle:
                    reason = self.calls.get((room, other)) or "%s: %s" % sorted((place, text) for (_, text), place in self.uses[room, other].items())[0]
                    self.breaches.append("%s: rooms in a circle" % reason)
        return self.breaches

    def circles(self):
        below = collections.defaultdict(set)
        for room, other in list(self.uses) + list(self.calls):
            if (room, other) not in MUTUAL and (other, room) not in MUTUAL:
                below[room].add(other)

        def reach(room):
            seen, todo = set(), [room]
            while todo:
                for other in below[todo.pop()]:
                    if other not in seen:
                        seen.add(other)
                        todo.append(other)
            return seen
        reached = {room: reach(room) for room in list(below)}
        found = {frozenset([room] + [other for other in seen if room in reached.get(other, ())]) for room, seen in reached.items() if room in seen}
        return found

    def rooms(self):
        """{room: rooms that it uses}."""
        uses = {file.room: set() for file in self.files.values()}
        for room, other in self.uses:
            uses[room].add(other)
        return uses


# Rows of the table of layers have three cells, those of the table of rooms four.
LAYER_ROW = re.compile(r"^\| `([a-z]+)/` \|[^|\n]*\|([^|\n]*)\|$", re.M)
ROW = re.compile(r"^\| `([a-z0-9_/]+)/` \|([^|\n]*)\|([^|\n]*)\|(?=[^|\n]*\|$)", re.M)


def folders(cell):
    return set(re.findall(r"`([a-z0-9_/]+)/`", cell))


def compare_table(tree, document):
    with open(os.path.join(tree.root, document), encoding="utf-8") as file:
        text = file.read()
    layers = {match.group(1): folders(match.group(2)) for match in LAYER_ROW.finditer(text)}
    for layer in sorted(set(layers) | set(LAYERS)):
        if layers.get(layer) != set(LAYERS.get(layer, ())):
            yield "%s: the row of layer %s/ is not as in layers.py" % (document, layer)
    rows = {match.group(1): folders(match.group(3)) for match in ROW.finditer(text)}
    measured = tree.rooms()
    for room in sorted(set(rows) | set(measured)):
        if room not in rows:
            yield "%s: no row for %s/" % (document, room)
        elif room not in measured:
            yield "%s: %s/ has no code" % (document, room)
        else:
            for other in sorted(measured[room] - rows[room]):
                (_, text), place = sorted(tree.uses[room, other].items())[0]
                yield "%s: the row of %s/ lacks %s/: %s %s" % (document, room, other, place, text)
            for other in sorted(rows[room] - measured[room]):
                yield "%s: the row of %s/ has %s/, of which it uses nothing" % (document, room, other)


def update_table(tree, document):
    measured = tree.rooms()
    order = list(LAYERS)

    def row(match):
        uses = sorted(measured.get(match.group(1), ()), key=lambda room: (order.index(layer_of(room)), room))
        return "| `%s/` |%s| %s |" % (match.group(1), match.group(2), " ".join("`%s/`" % room for room in uses))
    path = os.path.join(tree.root, document)
    with open(path, encoding="utf-8") as file:
        text = ROW.sub(row, file.read())
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--update"]
    if len(arguments) != 2:
        sys.exit("usage: layers.py [--update] SOURCE BUILD")
    tree = Tree(*arguments)
    if "--update" in sys.argv:
        update_table(tree, "doc/design.md")
    breaches = sorted(set(tree.check())) + list(compare_table(tree, "doc/design.md"))
    print("\n".join(breaches), end="\n" if breaches else "")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
