"""Change numbers in the ranks, or in the plan, of a package.

usage: damage_ranks.py PACKAGE RESULT WHAT [NUMBER...]"""

import struct
import sys

package, result, what, *numbers = sys.argv[1:]
numbers = [int(number) for number in numbers]
data = bytearray(open(package, "rb").read())


def section(name):
    start, size, count, names = (*struct.unpack_from("<Q", data, 40), *struct.unpack_from("<HHH", data, 58)[:1], 0, 0)[:4]
    size, count, names = struct.unpack_from("<HHH", data, 58)
    strings = struct.unpack_from("<Q", data, start + names * size + 24)[0]
    for i in range(count):
        title, = struct.unpack_from("<I", data, start + i * size)
        end = data.index(b"\0", strings + title)
        if data[strings + title : end].decode() == name:
            return struct.unpack_from("<Q", data, start + i * size + 24)[0]
    raise SystemExit(f"there is no section {name}")


def table(place):
    """The first record of a table, and their number."""
    offset, count = struct.unpack_from("<iI", data, place)
    return place + offset, count


ranks, plan = section(".sk.ranks"), section(".sk.plan")
GROUPS, MEMBERS, EXCHANGES = (table(ranks + 24 + 8 * i)[0] for i in range(3))
FOLLOWS = table(plan + 80 + 8 * 21)[0]
STEPS, STEP_COUNT = table(plan + 80 + 8 * 9)
CALLS = table(plan + 80 + 8 * 10)[0]
AWAITS, AWAIT_COUNT = table(plan + 80 + 8 * 11)


def put(form, place, number):
    struct.pack_into(form, data, place, number)


def get(form, place):
    return struct.unpack_from(form, data, place)[0]


def leave_out_await(step, number):
    """Remove the await of that number from a step."""
    record = STEPS + 56 * step
    place = AWAITS + 4 * (get("<I", record + 28) + number)
    end = AWAITS + 4 * AWAIT_COUNT
    data[place : end - 4] = data[place + 4 : end]
    put("<I", record + 32, get("<I", record + 32) - 1)
    for later in range(step + 1, STEP_COUNT):
        put("<I", STEPS + 56 * later + 28, get("<I", STEPS + 56 * later + 28) - 1)
    put("<I", plan + 80 + 8 * 11 + 4, AWAIT_COUNT - 1)


FIELDS = {  # of an exchange
    "task": ("<I", 0), "op": ("<i", 4), "kind": ("<B", 8), "dtype": ("<B", 9), "reserved": ("<H", 10), "group": ("<I", 12),
    "root": ("<I", 16), "peer": ("<I", 20), "bytes": ("<Q", 24),
}
if what in FIELDS:
    form, offset = FIELDS[what]
    put(form, EXCHANGES + 32 * numbers[0] + offset, numbers[1])
elif what == "swap":  # two exchanges
    one, other = (EXCHANGES + 32 * number for number in numbers)
    data[one : one + 4], data[other : other + 4] = data[other : other + 4], data[one : one + 4]
elif what == "steps":  # two steps make the calls of each other's tasks
    one, other = (CALLS + 40 * get("<I", STEPS + 56 * number) for number in numbers)
    data[one : one + 4], data[other : other + 4] = data[other : other + 4], data[one : one + 4]
elif what == "await":
    leave_out_await(*numbers)
elif what == "flags":  # step number, its flags
    put("<H", STEPS + 56 * numbers[0] + 10, numbers[1])
elif what == "member":
    put("<I", MEMBERS + 4 * numbers[0], numbers[1])
elif what == "size":
    put("<I", GROUPS + 16 * numbers[0] + 4, numbers[1])
elif what == "first":
    put("<I", GROUPS + 16 * numbers[0] + 8, numbers[1])
elif what == "name":
    put("<i", GROUPS + 16 * numbers[0], numbers[1])
elif what == "header":
    put("<I", ranks + numbers[0], numbers[1])
elif what == "follow":  # launch number, follow number within it, the new launch
    launches = table(plan + 80 + 8 * 2)[0] + 32 * numbers[0]
    first, = struct.unpack_from("<I", data, launches + 20)
    put("<I", FOLLOWS + 4 * (first + numbers[1]), numbers[2])
else:
    raise SystemExit(f"unknown: {what}")
open(result, "wb").write(data)
