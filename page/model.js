/* The package and data derived from it: producers and readers of tensors, and the order of tasks. Lists refer to each
 * other by number, as doc/reference/skdump-json.md says. */
const data = JSON.parse(document.getElementById("package").textContent);
const traces = JSON.parse(document.getElementById("traces").textContent);
const { tasks, steps, launches, tensors, kernels } = data;

/* By task: its producers, and the facts of the proof in which it is the later or the earlier one. */
const producers = tasks.map(() => []);
const before = tasks.map(() => []), after = tasks.map(() => []);

function findProducers() {
	const writer = new Map();

	tasks.forEach((task, number) => {
		for (const tensor of task.reads)
			if (writer.has(tensor) && writer.get(tensor) !== number)
				producers[number].push({ task: writer.get(tensor), tensor });
		for (const tensor of task.writes)
			writer.set(tensor, number);
	});
	for (const fact of data.dependencies) {
		before[fact.later].push(fact);
		after[fact.earlier].push(fact);
	}
}
findProducers();

const taskNumbers = new Map(tasks.map((task, number) => [task.name, number]));
const isFused = task => launches[task.launch].kind === "superkernel";

/* The operator that the kernel computes, from its signature: "MatMul(packed=1)". */
const operators = kernels.map(kernel => kernel.signature?.match(/^[^;]* op=([^ ;(]+(\([^)]*\))?)/)?.[1] ?? "");

/* The last task of a step; awaits are named after it. */
const lastTask = step => steps[step].tasks[steps[step].tasks.length - 1];

/* Bytes that a task moves if it runs by itself: the manifest's cost, or else those of its reads and writes. */
function taskBytes(task) {
	if (isCostGiven(task))
		return task.cost.bytes;
	return [...task.reads, ...task.writes].reduce((sum, tensor) => sum + tensors[tensor].bytes, 0);
}

function sizeText(bytes) {
	const units = ["B", "KiB", "MiB", "GiB", "TiB"];
	let unit = 0, value = bytes;

	while (value >= 1024 && unit + 1 < units.length) {
		value /= 1024;
		unit++;
	}
	return unit ? `${value.toPrecision(4)} ${units[unit]}` : `${bytes} B`;
}

const tensorText = tensor => `${tensor.name} ${tensor.dtype} [${tensor.shape.join(", ")}]`;

/* Whether the manifest gives bytes; in a small sample they may be those of the network that it represents. */
const isCostGiven = task => Boolean(task.cost && task.cost.bytes);
