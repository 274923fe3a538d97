"""skdump-json.py REPORT JSON DOCUMENT: what skdump --json says is what sklink --report says, and each key is documented."""
import json
import sys

with open(sys.argv[1]) as file:
    report = json.load(file)
with open(sys.argv[2]) as file:
    data = json.load(file)
with open(sys.argv[3]) as file:
    document = file.read()
compared = 0


def same(what, one, other):
    global compared
    compared += 1
    if one != other:
        sys.exit("%s: the report says %r, skdump %r" % (what, one, other))


def named(items, numbers):
    return [items[number]["name"] for number in numbers]


def find_keys(value, keys):
    if isinstance(value, dict):
        for key, inner in value.items():
            keys.add(key)
            find_keys(inner, keys)
    elif isinstance(value, list):
        for inner in value:
            find_keys(inner, keys)
    return keys


steps, tasks, launches = data["steps"], data["tasks"], data["launches"]
last_tasks = [tasks[step["tasks"][-1]]["name"] for step in steps]
same("device", report["device"]["name"], data["device"])
same("lanes", [lane["name"] for lane in report["device"]["lanes"]], data["lanes"])
host = report["device"]["name"] == "host"
same("lane_cores", [None if host else lane["cores"] for lane in report["device"]["lanes"]], data["lane_cores"])
for key, value in data["sizes"].items():
    same("sizes." + key, report["sizes"][key], value)
same("traffic", report["tiles"]["traffic"], data["totals"]["traffic"])
same("awaits", report["tiles"]["awaits"]["after"], data["totals"]["awaits"])
same("tile groups", len(report["tile_groups"]), data["totals"]["tile_groups"])
same("tile groups", [[g["first"], g["last"], g["tasks"], g["extent"], g["unit"], g["tile"], g["traffic"]] for g in report["tile_groups"]],
     [[tasks[s["tasks"][0]]["name"], tasks[s["tasks"][-1]]["name"], len(s["tasks"]), s["extent"], s["unit"], s["tile"], s["traffic"]]
      for s in steps if "tile" in s])
same("launches", len(report["launches"]), data["totals"]["launches"])
same("tasks", len(report["tasks"]), data["totals"]["tasks"])
same("steps", sum(launch["steps"] for launch in report["launches"]), data["totals"]["steps"])
for one, other in zip(report["launches"], launches):
    for key in ("name", "scope", "stream", "steps", "awaits", "scratch", "code"):
        same(one["name"] + "." + key, one[key], other[key])
    same(one["name"] + ".kind", one["kind"] + (", once" if one.get("once") else ""), other["kind"])
    for key in ("first", "last"):
        same(one["name"] + "." + key, one[key], tasks[other[key]]["name"])
    same(one["name"] + ".follows", one["follows"], named(launches, other["follows"]))
    same(one["name"] + ".first_step", one["first"], tasks[steps[other["first_step"]]["tasks"][0]]["name"])
for one, other in zip(report["tasks"], tasks):
    step = steps[other["step"]]
    for key in ("name", "line", "stream", "scope", "reason", "because", "tile_reason", "tile_because"):
        same(one["name"] + "." + key, one[key], other[key])
    for key in ("blocks_reason", "blocks_because", "rule"):
        same(one["name"] + "." + key, one.get(key), other.get(key))
    for key in ("extent", "unit", "rows", "by_blocks", "blocks", "first_core", "lane", "work"):
        same(one["name"] + "." + key, one.get(key), step.get(key))
    same(one["name"] + ".step", one["step"], step["number"])
    same(one["name"] + ".cores", one["cores"], "home of stream %d" % step["home"] if "home" in step else "all")
    same(one["name"] + ".kernel", one["kernel"], data["kernels"][other["kernel"]]["name"])
    same(one["name"] + ".launch", one["launch"], launches[other["launch"]]["name"])
    same(one["name"] + ".awaits", one["awaits"], [last_tasks[awaited] for awaited in step["awaits"]])
same("code", sum(launch["code"] for launch in report["launches"]), data["totals"]["code"]["after"])
same("dependencies", len(report["dependencies"]), len(data["dependencies"]))
for one, other in zip(report["dependencies"], data["dependencies"]):
    what = "%s before %s" % (one["earlier"], one["later"])
    for key in ("earlier", "later"):
        same(what, one[key], tasks[other[key]]["name"])
    for key in ("why", "tensor", "in_the_bytes_of", "event", "covered_by"):
        same(what + ": " + key, one.get(key), other.get(key))
    if "await" in one:
        same(what, one["await"], {"of": tasks[steps[other["await"]["of"]]["tasks"][0]]["name"],
                                  "on": last_tasks[other["await"]["on"]]})
same("no_task", [[node["name"], node["operator"], 0, node["slices"]] for node in report["no_task"] if node["_no_task"]],
     [[node["name"], node["operator"], node["launches"],
       [{"name": s["name"], "of": data["tensors"][s["tensor"]]["name"], "offset": s["offset"], "bytes": s["bytes"]} for s in node["slices"]]]
      for node in data["no_task"]])
for key in sorted(find_keys(data, set())):
    if "`%s`" % key not in document and key not in ("cycles", "operations", "bytes", "code", "before-wait", "after-set", "waits"):
        sys.exit("'%s' is not documented" % key)
print("%d values compared" % compared)
