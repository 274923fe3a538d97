"""Checks a trace of several ranks: its rows, and that no message arrives before it was sent, as far as the clocks are known.

check-ranks-trace.py FILE RANKS MESSAGES [SHIFT]: there are so many arrows between ranks; SHIFT: clocks differ by so many ns, and are
compared (they are known to be off by up to "clock errors in ns")."""
import json
import sys

path, ranks, messages = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with open(path, encoding="utf-8") as file:
    trace = json.load(file)
events, other = trace["traceEvents"], trace["otherData"]
names = {event["args"]["name"]: event["pid"] for event in events if event["name"] == "process_name"}
for rank in range(ranks):
    assert f"rank {rank}: launches" in names, names
assert len(set(names.values())) == len(names), names
assert other["ranks"] == ranks and len(other["clock errors in ns"]) == ranks, other
errors = other["clock errors in ns"]
assert errors[0] == 0, errors
shifted = len(sys.argv) > 4
assert any(errors[1:]) == shifted, errors
assert not shifted or max(errors) < int(sys.argv[4]) / 2, errors

slices = {}  # by row
for event in events:
    if event["ph"] == "X":
        slices.setdefault((event["pid"], event["tid"]), []).append((event["ts"], event["ts"] + event["dur"], event["name"]))
ends = {"s": {}, "f": {}}
for event in events:
    if event.get("cat") == "exchange":
        assert event["id"] not in ends[event["ph"]], event
        ends[event["ph"]][event["id"]] = event
        row = slices[event["pid"], event["tid"]]
        assert any(start <= event["ts"] <= end for start, end, _ in row), f"{event} is in no slice"
assert ends["s"].keys() == ends["f"].keys(), ends["s"].keys() ^ ends["f"].keys()
assert len(ends["s"]) == messages, len(ends["s"])
for name, sent in ends["s"].items():
    came = ends["f"][name]
    _, _, source, target = map(int, name.split("."))
    assert names[f"rank {source}: launches"] < sent["pid"] and names[f"rank {target}: launches"] < came["pid"], name
    slack = (errors[source] + errors[target]) / 1000
    assert sent["ts"] <= came["ts"] + slack, f"{name}: sent at {sent['ts']}, came at {came['ts']}, {errors}"
