# A manifest of n tasks (-v n=N) in one of the orders (-v order=NAME) that may cost a linker most; each is a function
# below. With fused- before its name tasks of several streams are one launch, with divided- kernels are divided among
# cores. adverse-orders.sh describes the kernels. Random numbers are the same in every run.

# Park and Miller's generator, with products that are whole numbers in awk.
function random(below) {
	seed = seed * 16807 % 2147483647
	return seed % below
}

function tensor(name, rest) {
	if (divided)
		sub(/shape: \[64\]/, "shape: [4096]", rest)
	tensors[++tensor_count] = "  " name ": {" (rest ~ /^of/ ? "" : "dtype: f32, ") rest "}"
}

# Without a scope of its own, or another word about it, the task is in the one that all are in.
function task(name, kernel, args, rest) {
	if (rest == "" || (fused && rest !~ /scope/))
		rest = rest (rest ? ", " : "") "scope: s"
	tasks[++task_count] = "  - {name: " name ", kernel: " kernel (divided ? "_divided" : "") ", args: [" args "], " rest "}"
}

# A list of many names grows by pieces: awk would copy it for each name.
function add(name) {
	piece = piece (piece || list ? ", " : "") name
	if (length(piece) > 4000)
		flush_piece()
}

function flush_piece() {
	list = list piece
	piece = ""
}

# Each task reads the output of the one before it.
function chain(	i) {
	tensor("x0", "shape: [64]")
	for (i = 1; i <= n; i++) {
		tensor("x" i, "shape: [64]")
		task("t" i, "move", "x" i - 1 ", x" i)
	}
}

# All tasks read the output of one.
function fan_out(	i) {
	tensor("x", "shape: [64]")
	tensor("m", "shape: [64]")
	task("t0", "move", "x, m")
	for (i = 1; i <= n; i++) {
		tensor("y" i, "shape: [64]")
		task("t" i, "move", "m, y" i)
	}
}

# One task reads the outputs of all others, each a slice.
function fan_in(	i) {
	tensor("x", "shape: [64]")
	tensor("m", "shape: [" 64 * n "]")
	tensor("z", "shape: [" 64 * n "]")
	for (i = 0; i < n; i++) {
		tensor("m" i, sprintf("of: m, offset: [%d], shape: [64]", 64 * i))
		task("t" i, "move", "x, m" i)
	}
	task("all", "move", "m, z")
}

# All are added up, two by two.
function tree(	i) {
	for (i = 1; i < 2 * n; i++)
		tensor("x" i, "shape: [64]")
	for (i = n - 1; i > 0; i--)
		task("t" i, "add", "x" 2 * i ", x" 2 * i + 1 ", x" i)
}

# Slices of one tensor anywhere, read and written, that overlap a few others.
function slices(	i, at) {
	tensor("m", "shape: [" n + 32 "], role: inout")
	for (i = 0; i < n; i++) {
		at = random(n)
		tensor("m" i, sprintf("of: m, offset: [%d], shape: [%d]", at, 1 + random(31)))
		if (random(2))
			task("t" i, "fill", "m" i)
		else
			task("t" i, "touch", "m" i)
	}
}

# All tasks work on one or the other of two tensors.
function ping_pong(	i) {
	tensor("a", "shape: [64], role: inout")
	tensor("b", "shape: [64], role: inout")
	for (i = 0; i < n; i++)
		task("t" i, "move", i % 2 ? "b, a" : "a, b")
}

# A writer, and a hundred readers of its output, again and again.
function broadcasts(	i) {
	tensor("m", "shape: [64], role: inout")
	for (i = 0; i < n; i++) {
		tensor("y" i, "shape: [64]")
		if (i % 100)
			task("t" i, "move", "m, y" i)
		else
			task("t" i, "touch", "m")
	}
}

# Diamonds, one after the other.
function diamonds(	i) {
	tensor("d0", "shape: [64]")
	for (i = 1; i <= n / 3; i++) {
		tensor("l" i, "shape: [64]")
		tensor("r" i, "shape: [64]")
		tensor("d" i, "shape: [64]")
		task("tl" i, "move", "d" i - 1 ", l" i)
		task("tr" i, "move", "d" i - 1 ", r" i)
		task("td" i, "add", "l" i ", r" i ", d" i)
	}
}

# Each tensor is a view of the one before it.
function views(	i) {
	tensor("x", "shape: [64]")
	tensor("v0", "shape: [" 64 * n "]")
	for (i = 1; i <= n; i++) {
		tensor("v" i, sprintf("of: v%d, offset: [%d], shape: [%d]", i - 1, i == 1 ? 0 : 64, 64 * (n - i + 1)))
		tensor("w" i, sprintf("of: v%d, shape: [64]", i))
		task("t" i, "move", "x, w" i)
	}
}

# The last tensor by name and place is used first, and all live until the end.
function reversed(	i) {
	tensor("x", "shape: [64]")
	tensor("y", "shape: [64], role: inout")
	for (i = 0; i < n / 2; i++)
		tensor("m" i, "shape: [64]")
	for (i = n / 2 - 1; i >= 0; i--)
		task("t" i, "move", "x, m" i)
	for (i = 0; i < n / 2; i++)
		task("u" i, "move", "m" i ", y")
}

# Temporaries of many sizes with overlapping lives.
function sizes(	i) {
	tensor("x", "shape: [64]")
	tensor("y", "shape: [64], role: inout")
	for (i = 0; i < n / 2; i++) {
		tensor("m" i, "shape: [" 16 + random(4096) "]")
		task("t" i, "fill", "m" i)
		if (i >= 50)
			task("u" i, "touch", "m" i - random(50))
	}
}

# Streams, thousands of them, in turn, each task waits for an event of another stream.
function streams(	i, count) {
	count = n / 10
	tensor("x", "shape: [64]")
	for (i = 0; i < n; i++) {
		tensor("y" i, "shape: [64]")
		task("t" i, "move", "x, y" i, "stream: " i % count ", record: e" i (i < count ? "" : ", wait: e" i - random(count) - 1))
	}
}

# One task waits for all, and all others wait for that one.
function events(	i) {
	tensor("x", "shape: [64]")
	for (i = 0; i < n; i++) {
		tensor("y" i, "shape: [64]")
		if (i == int(n / 2)) {
			flush_piece()
			task("t" i, "move", "x, y" i, "stream: 7, record: all, wait: [" list "]")
		} else if (i > n / 2)
			task("t" i, "move", "x, y" i, "stream: " i % 1000 ", wait: all")
		else {
			task("t" i, "move", "x, y" i, "stream: " i % 1000 ", record: e" i)
			add("e" i)
		}
	}
}

# One task comes after all, and each other one after ten before it.
function after(	i, k, few) {
	tensor("x", "shape: [64]")
	for (i = 0; i < n; i++) {
		tensor("y" i, "shape: [64]")
		few = ""
		for (k = 1; k <= 10 && k <= i; k++)
			few = few (few ? ", " : "") "t" i - k
		if (i == n - 1)
			flush_piece()
		task("t" i, "move", "x, y" i, "stream: " i % 1000 ", after: [" (i == n - 1 ? list : few) "]")
		add("t" i)
	}
}

# Scopes of ten tasks each, one after the other.
function scopes(	i) {
	tensor("x0", "shape: [64]")
	for (i = 1; i <= n; i++) {
		tensor("x" i, "shape: [64]")
		task("t" i, "move", "x" i - 1 ", x" i, "scope: s" int((i - 1) / 10))
	}
}

# Scopes in turn, with names that would be those of tasks' entries; each depends on the results of others.
function mixed_scopes(	i, count) {
	count = 1000
	tensor("x", "shape: [64]")
	for (i = 0; i < n; i++) {
		tensor("y" i, "shape: [64]")
		task("t" i, "move", (i < 2 * count ? "x" : "y" i - count - random(count)) ", y" i, "scope: unfused_" i % count)
	}
}

# No task is fused.
function alone(	i) {
	tensor("x", "shape: [64]")
	for (i = 0; i < n; i++) {
		tensor("y" i, "shape: [64]")
		task("t" i, "move", (i < 100 ? "x" : "y" i - 1 - random(100)) ", y" i, "stream: " random(1000))
	}
}

BEGIN {
	seed = n
	name = order
	fused = sub(/^fused-/, "", name)
	divided = sub(/^divided-/, "", name)
	if (name == "chain") chain()
	else if (name == "fan-out") fan_out()
	else if (name == "fan-in") fan_in()
	else if (name == "tree") tree()
	else if (name == "slices") slices()
	else if (name == "ping-pong") ping_pong()
	else if (name == "broadcasts") broadcasts()
	else if (name == "diamonds") diamonds()
	else if (name == "views") views()
	else if (name == "reversed") reversed()
	else if (name == "sizes") sizes()
	else if (name == "streams") streams()
	else if (name == "events") events()
	else if (name == "after") after()
	else if (name == "scopes") scopes()
	else if (name == "mixed-scopes") mixed_scopes()
	else if (name == "alone") alone()
	else exit 1
	print "sklink: 1\ntensors:"
	for (i = 1; i <= tensor_count; i++)
		print tensors[i]
	print "tasks:"
	for (i = 1; i <= task_count; i++)
		print tasks[i]
	if (fused)
		print "scopes:\n  s: {options: \"stream-fusion=1\"}"
}
