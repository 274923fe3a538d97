/* The package before and after linking; and the tasks that were not fused, with reasons, by cost. */
const count = (number, one, several) => `${number.toLocaleString("en")} ${number === 1 ? one : several}`;

function openOverview() {
	const { totals, sizes } = data, change = (name, from, to) => [name, from, to];
	const uses = kernels.map(() => 0);

	for (const task of tasks)
		uses[task.kernel]++;
	const made = new Map();

	for (const task of tasks)
		if (task.rule)
			made.set(task.rule, (made.get(task.rule) ?? 0) + 1);
	document.getElementById("overview").replaceChildren(
		element("h2", {}, "Changes by linking"),
		table(["", "task by task", "linked"], [
			change("launches", totals.tasks, totals.launches),
			change("awaits inside of launches", 0, totals.awaits),
			change("bytes that move between caches and memory (estimate)",
				totals.traffic.before, totals.traffic.after),
			change("bytes of temporaries, and of the workspace", temporaryBytes(), sizes.workspace),
			...totals.code ? [change("bytes of dispatchers' code, beside the kernels'",
				totals.task_entries ? totals.code.before : "left out", totals.code.after)] : [],
			change("bytes of kernels' code", sizes.kernels, sizes.kernels)]),
		element("h2", {}, "Sizes"),
		table(["", "bytes"], Object.entries(sizes).map(([name, bytes]) => [name.replace("_", " "), bytes])),
		element("h2", {}, count(launches.length, "launch", "launches")),
		table(["launch", "kind", "scope", "stream", "steps", "awaits", "first task", "last task"],
			launches.map(launch => [launch.name, launch.kind, launch.scope, launch.stream, launch.steps,
				launch.awaits, taskLink(launch.first), taskLink(launch.last)])),
		element("h2", {}, count(kernels.length, "kernel", "kernels")),
		table(["kernel", "operator", "tasks", "bytes of code", "object"], kernels.map((kernel, number) =>
			[kernel.name, operators[number], uses[number], kernel.code, kernel.object ?? ""])),
		...made.size ? [
			element("h2", {}, count(made.size, "rule", "rules") + " that made nodes of the model's"),
			table(["rule", "tasks"], [...made].sort((a, b) => b[1] - a[1]))] : []);
}

/* Codes with their numbers of tasks and of bytes that these move, then the tasks. */
function reasonTable(title, chosen, code, because) {
	const sums = new Map();

	if (!chosen.length)
		return [element("h2", {}, `${title}: none`)];
	for (const number of chosen) {
		const sum = sums.get(tasks[number][code]) ?? { tasks: 0, bytes: 0 };

		sum.tasks++;
		sum.bytes += taskBytes(tasks[number]);
		sums.set(tasks[number][code], sum);
	}
	return [element("h2", {}, `${title}: ${count(chosen.length, "task", "tasks")}`),
		element("p", {}, "Bytes are those of a task's cost, if the manifest or the kernel gives one, " +
			"or else of its reads and writes."),
		table(["reason", "tasks", "bytes that they move"],
			[...sums].map(([name, sum]) => [name, sum.tasks, sum.bytes])
			.sort((a, b) => b[2] - a[2])), element("br"),
		table(["task", "bytes that it moves", "kernel", "reason", "because"],
			chosen.map(number => [taskLink(number), taskBytes(tasks[number]),
				kernels[tasks[number].kernel].name, tasks[number][code], tasks[number][because]]))];
}

function openReasons() {
	const byCost = tasks.map((task, number) => number).sort((a, b) => taskBytes(tasks[b]) - taskBytes(tasks[a]));
	const single = byCost.filter(number => !isFused(tasks[number]));
	const apart = byCost.filter(number => isFused(tasks[number]) && tasks[number].tile_reason !== "TILE_JOINED");
	const known = tasks.some(task => task.reason);

	document.getElementById("reasons").replaceChildren(...(known ? [
		...reasonTable("Launched by themselves", single, "reason", "because"),
		...reasonTable("In a superkernel, but not in one tile group with the task before", apart,
			"tile_reason", "tile_because"),
	] : [element("p", {}, "The account has been stripped from the package, so the reasons are not known.")]));
}
