"""Checks a file of skrun --trace against the Trace Event format, and its times against each other.

check-trace.py FILE [--launches N] [--launch-ms T] [--profile FILE] [ARROW...]

--launches   so many launches are in it
--launch-ms  the fastest run took that long: the fastest launch takes no longer (but for 5 % and 20 us), and half of that at least,
             since between launch and run nothing is done but waking threads
--profile    the table of skrun --profile of the same runs: the same calls and sums
ARROW        A>B or A>: these, and no others, are the tasks (B: empty: a wait without a task) between which there are arrows
"""
import collections
import json
import sys


def fail(text):
    sys.exit(f"check-trace.py: {text}")


def nanoseconds(value):
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0:
        fail(f"{value!r} is no time")
    return round(value * 1000)


def read_events(path):
    with open(path, encoding="utf-8") as file:
        trace = json.load(file)
    if not isinstance(trace.get("traceEvents"), list):
        fail("no list traceEvents")
    for event in trace["traceEvents"]:
        if event.get("ph") not in ("M", "X", "s", "f"):
            fail(f"unknown phase: {event}")
        if not isinstance(event.get("name"), str):
            fail(f"no name: {event}")
        for key in ("pid", "tid"):
            if not isinstance(event.get(key), int):
                fail(f"no {key}: {event}")
        if event["ph"] != "M":
            event["start"] = nanoseconds(event.get("ts"))
            if not isinstance(event.get("cat"), str):
                fail(f"no category: {event}")
        if event["ph"] == "X":
            event["end"] = event["start"] + nanoseconds(event.get("dur"))
        if event["ph"] in ("s", "f") and not isinstance(event.get("id"), int):
            fail(f"no id: {event}")
    return trace["traceEvents"]


def check_rows(events):
    """Every row has a name; on a row a slice lies inside of another one or beside it. Returns the rows."""
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    rows = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            rows[event["pid"], event["tid"]].append(event)
    for row, slices in rows.items():
        if row not in names:
            fail(f"row {row} has no name")
        slices.sort(key=lambda e: (e["start"], -e["end"]))
        stack = []
        for event in slices:
            while stack and stack[-1]["end"] <= event["start"]:
                stack.pop()
            if stack and event["end"] > stack[-1]["end"]:
                fail(f"{event} is partly in {stack[-1]}")
            event["outer"] = stack[-1] if stack else None
            stack.append(event)
    return rows


def check_sums(rows):
    """A core's part lies in its launch; its tasks and waits lie in it. Returns the launches."""
    launches = rows[0, 0]
    for row, slices in rows.items():
        if row == (0, 0):
            continue
        parts = [e for e in slices if e["cat"] == "core"]
        for launch in launches:
            inside = [e for e in parts if launch["start"] <= e["start"] and e["end"] <= launch["end"]]
            if len(inside) > 1:
                fail(f"core {row} is twice in {launch}")
        for part in parts:
            if not any(l["start"] <= part["start"] and part["end"] <= l["end"] for l in launches):
                fail(f"no launch around {part}")
            inner = [e for e in slices if e["outer"] is part]
            busy = sum(e["end"] - e["start"] for e in inner)
            if any(e["cat"] not in ("task", "wait") for e in inner) or busy > part["end"] - part["start"]:
                fail(f"tasks and waits do not fit into {part}")
        if any(e["cat"] != "core" and e["outer"] is None for e in slices):
            fail(f"a task of core {row} is outside of every launch")
    return launches


def find_slice(rows, event):
    """The innermost task or wait that the end of an arrow lies in."""
    found = [
        e
        for e in rows[event["pid"], event["tid"]]
        if e["cat"] in ("task", "wait") and e["start"] <= event["start"] <= e["end"]
    ]
    if len(found) != 1:
        fail(f"not one slice around {event}: {found}")
    return found[0]


def check_arrows(events, rows):
    ends = collections.defaultdict(dict)
    for event in events:
        if event["ph"] in ("s", "f"):
            if event["ph"] in ends[event["id"]]:
                fail(f"a second {event}")
            ends[event["id"]][event["ph"]] = event
    arrows = set()
    for number, both in ends.items():
        if set(both) != {"s", "f"}:
            fail(f"arrow {number} has one end")
        if both["f"].get("bp") != "e":
            fail(f"arrow {number} binds to the next slice, not to the enclosing one")
        start, end = find_slice(rows, both["s"]), find_slice(rows, both["f"])
        if start["cat"] != "task" or start["end"] > end["end"] or both["s"]["start"] > both["f"]["start"]:
            fail(f"arrow {number} leads from {start} to {end}")
        arrows.add(f"{start['name']}>{end['name'] if end['cat'] == 'task' else ''}")
    return arrows


def check_profile(path, rows):
    """Calls and times by task, and the last line: how many launches there were."""
    calls, times, waits = (collections.Counter() for _ in range(3))
    for slices in rows.values():
        for event in slices:
            if event["cat"] == "task":
                calls[event["name"]] += event["args"]["calls"]
                times[event["name"]] += event["end"] - event["start"]
            if event["cat"] == "wait":
                waits[event["args"]["before"]] += event["end"] - event["start"]
    with open(path, encoding="utf-8") as file:
        lines = [line.split() for line in file]
    table = lines[next(i for i, line in enumerate(lines) if line[:2] == ["task", "calls"]) :]
    shares = 0.0
    for line in table[1:]:
        if line[0] in ("(waits)", "(outside"):
            shares += float(line[-1])
        if line[0] not in calls and line[0] not in waits:
            continue
        name, share = line[0], float(line[5 - 1])
        shares += share
        if int(line[1]) != calls.pop(name, 0):
            fail(f"calls in {line}")
        for printed, counted in ((line[2], times[name]), (line[5], waits[name])):
            if abs(float(printed) * 1e6 - counted) > 1000 + 0.001 * counted:
                fail(f"{line} says {printed} ms, the trace {counted} ns")
    if calls:
        fail(f"not in the table: {sorted(calls)}")
    if abs(shares - 100) > 0.1 * len(table):
        fail(f"the shares add up to {shares} %")


def main():
    path, arguments, wanted = sys.argv[1], sys.argv[2:], {}
    while arguments and arguments[0].startswith("--"):
        wanted[arguments[0]] = arguments[1]
        arguments = arguments[2:]
    events = read_events(path)
    rows = check_rows(events)
    launches = check_sums(rows)
    if "--launches" in wanted and len(launches) != int(wanted["--launches"]):
        fail(f"{len(launches)} launches")
    if "--launch-ms" in wanted:
        fastest, measured = min(e["end"] - e["start"] for e in launches), float(wanted["--launch-ms"]) * 1e6
        if not 0.5 * measured <= fastest <= 1.05 * measured + 20000:
            fail(f"the fastest launch takes {fastest} ns, measured {measured} ns")
    if "--profile" in wanted:
        check_profile(wanted["--profile"], rows)
    arrows = check_arrows(events, rows)
    if arrows != set(arguments):
        fail(f"arrows {sorted(arrows)}, expected {sorted(arguments)}")


main()
