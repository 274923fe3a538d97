"""src/manifest/manifest.schema.json beside sklink's own reader of manifests.

    manifest-schema.py SCHEMA SOURCES PLAN READER FILE…

The keys and the choices of the schema are those of the reader's tables, in the folder SOURCES and (of costs) in the header PLAN, and
of its messages. Of each
file, and of mutants of those that are good, the reader (tests/lib/read-manifests) and the schema say the same, as far as a
schema can say it."""
import copy, json, os, random, re, subprocess, sys, warnings

warnings.simplefilter("ignore")  # of old libraries
import jsonschema
import yaml

schema_path, sources, plan, reader, *files = sys.argv[1:]
schema = json.load(open(schema_path, encoding="utf-8"))
jsonschema.Draft7Validator.check_schema(schema)
validator = jsonschema.Draft7Validator(schema)
definitions = schema["definitions"]

# Errors that a schema can express. All others are about several keys' values, about signatures and options inside of
# texts, or about bytes.
SAYABLE = re.compile(r"""unknown\ key
    | \ must\ be\ (?!a\ name\ (of|in)|an\ integer.*not\ '\d+\.0'|a\ list\ of\ \d|listed)
    | has\ no\ '(?!.*dimensions) | has\ neither | has\ a\ 'kernel'\ or | has\ 'args',\ or
    | only\ a\ view | a\ view\ has\ the\ (?!bytes) | exclude\ each\ other | its\ role\ is\ constant | there\ are\ no\ tasks
    | more\ than\ 8\ dimensions | must\ have\ at\ most | applies\ to\ a\ model | are\ nodes\ of\ a\ model | are\ those\ of\ the\ model
    | is\ empty;\ give | not\ both | neither\ is\ given | and\ nothing\ else | is\ two\ numbers | numbers\ only | is\ not\ a\ number;
    | format\ version\ \d | has\ no\ dimensions""", re.X)
# Errors that it cannot express: the inside of options is a text to a schema, and a number in YAML has lost its
# spelling. An expression in a manifest without dimensions is a text like any other.
UNSAYABLE = re.compile(r"scope option|signature, column|must be an integer.*, not '[^'0-9-]")


def value_of(node):
    """A node of YAML's as data: what is a number, a boolean or null there is one, with all others and all keys texts. Integers are
    those that JSON has: sklink reads no others where it counts. Nothing at all, which is null in YAML, is an empty text: sklink takes null
    only where it is written."""
    if isinstance(node, yaml.MappingNode):
        return {key.value: value_of(value) for key, value in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [value_of(item) for item in node.value]
    text = node.value
    if node.style:
        return text
    if text in ("~", "null", "Null", "NULL"):
        return None
    if text in ("true", "false"):
        return text == "true"
    if re.fullmatch(r"-?(0|[1-9][0-9]*)", text):
        return int(text)
    if re.fullmatch(r"[-+]?(\.[0-9]+|[0-9]+\.[0-9]*|[0-9]+(?=[eE]))([eE][-+]?[0-9]+)?", text):
        return float(text)
    if re.fullmatch(r"[-+]?\.(inf|nan)", text):
        return float(text.replace(".", ""))
    return text


def load(path):
    """None: no YAML."""
    try:
        return value_of(yaml.compose(open(path, encoding="utf-8"), yaml.SafeLoader))
    # raised for keys that are lists, and for empty manifests
    except (yaml.YAMLError, UnicodeDecodeError, TypeError, AttributeError):
        return None


def read(paths):
    """The errors of sklink's reader, by file."""
    said = {}
    for first in range(0, len(paths), 500):
        output = subprocess.run([reader] + paths[first:first + 500], stdout=subprocess.PIPE, encoding="utf-8", errors="replace", check=True)
        for line in output.stdout.splitlines():
            if line.startswith("file "):
                errors = said[line[5:]] = []
            elif line.startswith("read-manifests: error: "):
                errors.append(line)
    return said


def compare(path, data, errors):
    """Whether both said the same, and it was good."""
    refused = list(validator.iter_errors(data))
    # A null is a name where sklink wants one. The schema is stricter: an editor cannot tell it from a missing value.
    strange = next((error for error in refused if error.instance is not None), None)
    sayable = [error for error in errors if SAYABLE.search(error) and not UNSAYABLE.search(error)]
    if not errors and strange:
        sys.exit("%s: the schema refuses what sklink reads: %s: %s\n%s" % (path, list(strange.absolute_path), strange.message, json.dumps(data)))
    if sayable and not refused:
        sys.exit("%s: the schema takes what sklink refuses: %s\n%s" % (path, sayable[0], json.dumps(data)))
    return not errors, bool(sayable)


# ---- keys ----

# The places of the reader's tables in the schema, by their names in messages.
PLACES = {"the manifest": schema, "kernel": definitions["kernel"], "scope": definitions["scope"], "tensor": definitions["tensor"],
          "a task": definitions["task"], "the value of": definitions["setTensor"]}


def keys_of_tables():
    for name in sorted(os.listdir(sources)):
        text = open(os.path.join(sources, name), encoding="utf-8").read() if name.endswith(".c") else ""
        for table, behind in re.findall(r"sk_field fields\[\] = \{(.*?)\};(.*?)(?=sk_field fields\[\]|\Z)", text, re.S):
            called = re.search(r'sk_read_fields\(document, [^"]*"([^"]*)"', behind).group(1)
            yield called, re.findall(r'\{"([^"]+)"', table), re.findall(r'\{"([^"]+)", true', table)


tables = list(keys_of_tables())
assert sorted(called for called, _, _ in tables) == sorted(PLACES), tables
for called, keys, required in tables:
    place = PLACES[called]
    assert sorted(keys) == sorted(place["properties"]), (called, set(keys) ^ set(place["properties"]))
    assert set(required) == set(place.get("required", [])), (called, required)
    assert place["additionalProperties"] is False, called
# Each property has a description for authors of manifests.
for called, place in PLACES.items():
    for key, value in place["properties"].items():
        assert len(value.get("description", "")) >= 6, "%s: %s has no description" % (called, key)

HEAD = {"sklink": 1, "tensors": {"x": {"dtype": "f32", "shape": [4]}}, "tasks": [{"name": "t", "kernel": "k", "args": ["x"]}]}


def told(change):
    """What the reader says of a manifest that has been changed."""
    data = copy.deepcopy(HEAD)
    change(data)
    with open("told.yaml", "w", encoding="utf-8") as file:
        json.dump(data, file)
    return "\n".join(read(["told.yaml"])["told.yaml"])


# Costs have their keys from a table of the plan.
costs = re.search(r"sk_cost_name\(.*?names\[[A-Z_]*\] = \{(.*?)\};", open(plan, encoding="utf-8").read(), re.S).group(1)
sides = re.search(r"side_names\[\] = \{(.*?)\};", open(sources + "/manifest-costs.c", encoding="utf-8").read(), re.S).group(1)
assert sorted(re.findall(r'"([^"]+)"', costs)) == sorted(definitions["cost"]["properties"]), costs
assert sorted(re.findall(r'"([^"]+)"', sides)) == sorted(definitions["task"]["properties"]["cost"]["then"]["properties"]), sides

# ---- choices: a wrong one is reported with all right ones ----
CHOICES = {
    "device": (schema["properties"]["device"]["anyOf"][0], lambda data: data.update(device="zz")),
    "dtype": (definitions["dtype"], lambda data: data["tensors"]["x"].update(dtype="zz")),
    "role": (definitions["tensor"]["properties"]["role"], lambda data: data["tensors"]["x"].update(role="zz")),
    "unwritten": (definitions["tensor"]["properties"]["unwritten"], lambda data: data["tensors"]["x"].update(unwritten="zz")),
    "once": (definitions["task"]["properties"]["once"], lambda data: data["tasks"][0].update(once="zz")),
}
for name, (place, change) in CHOICES.items():
    right = re.search(r" must be (.*), not 'zz'", told(change)).group(1)
    assert set(re.split(", | or ", right)) == {choice for choice in place["enum"] if isinstance(choice, str)}, (name, right)
# And numbers with their limits.
LIMITS = {
    "stream": (definitions["task"]["properties"]["stream"], lambda data: data["tasks"][0].update(stream="zz")),
    "blocks": (definitions["task"]["properties"]["blocks"], lambda data: data["tasks"][0].update(blocks="zz")),
    "cost": (definitions["count"], lambda data: data["tasks"][0].update(cost={"cycles": "zz"})),
    "shape": (definitions["size"], lambda data: data["tensors"]["x"].update(shape=["zz"])),
}
for name, (place, change) in LIMITS.items():
    limits = re.search(r" from (\d+) to (\d+), not 'zz'", told(change)).groups()
    assert [int(limit) for limit in limits] == [place["minimum"], place["maximum"]], (name, limits)

# ---- files ----
good = []
refused = 0
errors_of = read(files)
for path in files:
    data = load(path)
    if data is None:
        assert errors_of[path], path
        continue
    fine, sayable = compare(path, data, errors_of[path])
    refused += sayable
    if fine:
        good.append(data)

# ---- mutants of the good ones ----
VALUES = [True, 5, -1, 1.5, "", "a b", "zz", "a=b", [], {}, [1, 2], {"a": 1}, "x" * 256, ["x"], "x", "f32"]
KEYS = sorted({key for place in list(PLACES.values()) + [definitions["cost"]] for key in place["properties"]}) + ["cube", "vector", "zz", "a b"]
good.sort(key=json.dumps)
chance = random.Random(int(os.environ.get("SCHEMA_SEED", "1")))


def holders(data):
    """All maps and lists that are not empty."""
    if isinstance(data, (dict, list)) and data:
        yield data
        for item in data.values() if isinstance(data, dict) else data:
            yield from holders(item)


def mutate(data):
    holder = chance.choice(list(holders(data)))
    key = chance.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
    kind = chance.randrange(4)
    if kind == 0:
        del holder[key]
    elif kind == 1 and isinstance(holder, dict):
        holder[chance.choice(KEYS)] = holder.pop(key)
    elif kind == 2 and isinstance(holder, dict):
        holder[chance.choice(KEYS)] = copy.deepcopy(chance.choice(VALUES))
    else:
        holder[key] = copy.deepcopy(chance.choice(VALUES))


mutants = {}
for number in range(int(os.environ.get("SCHEMA_MUTANTS", "1500"))):
    data = copy.deepcopy(chance.choice(good))
    for _ in range(chance.choice((1, 1, 2))):
        if data:
            mutate(data)
    path = "mutant-%d.yaml" % number
    with open(path, "w", encoding="utf-8") as file:
        json.dump(data, file)
    mutants[path] = data
errors_of = read(list(mutants))
counts = [0, 0, 0]
for path, data in mutants.items():
    fine, sayable = compare(path, data, errors_of[path])
    counts[0 if fine else 1 if sayable else 2] += 1
print("%d files, %d good, %d refused by both; of %d mutants %d good, %d refused by both, %d wrong in other ways" %
      (len(files), len(good), refused, len(mutants), *counts))
assert len(good) >= 80 and refused >= 75 and min(counts[:2]) >= len(mutants) // 10, "too few"
