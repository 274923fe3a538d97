/* Tabs, the search, and the details of the selected task. */
let selected = -1;
let describeAgain = () => {}; /* shows the details anew, at other sizes */
let found = new Set();
const views = { overview: "Totals", graph: "Graph", schedule: "Schedule", memory: "Memory", reasons: "Not fused" };
const fits = {
	graph: () => graph.drawing.fit(Math.min(graph.width, 6 * COLUMN), Math.min(graph.height, 20 * ROW)),
	schedule: () => schedule.drawing.fit(schedule.width),
	memory: () => memory.drawing.fit(steps.length),
};

function show(name) {
	for (const view of Object.keys(views)) {
		document.getElementById(view).classList.toggle("shown", view === name);
		document.getElementById(`tab-${view}`).setAttribute("aria-pressed", view === name);
	}
	if (fits[name]) {
		fits[name](); /* the first time it is seen it has a size */
		delete fits[name];
	}
}

function refresh() {
	for (const view of [graph, schedule, memory])
		view.drawing.refresh();
}

function showDetails(...children) {
	document.getElementById("details").replaceChildren(...children);
}

const names = (numbers, text) => numbers.length ? numbers.flatMap(number => [text(number), element("br")]) : ["none"];

/* The facts of the proof that order the task with others, and the reason why an await is unnecessary. */
function orders(facts, side) {
	const lines = new Map(facts.map(fact => [`${fact[side]} ${coverText(fact, side)}`, fact]));

	return names([...lines.values()],
		fact => element("span", {}, taskLink(fact[side]), ` ${coverText(fact, side)}`));
}

/* "other await" is shown with that await. */
function coverText(fact, side) {
	const { covered_by: how, await: other } = fact;

	if (!other)
		return `(${how})`;
	const own = side === "earlier" && other.of === tasks[fact.later].step;

	return `(since ${own ? "it" : tasks[lastTask(other.of)].name} awaits ${tasks[lastTask(other.on)].name})`;
}

/* The division of a step's work. */
function workText(step) {
	const extent = step.extent?.toLocaleString("en") ?? "";

	if (step.work === "split")
		return `split ${extent} in units of ${step.unit.toLocaleString("en")}`;
	if (step.blocks)
		return count(step.blocks, "block", "blocks") + (extent ? ` of ${extent}` : "");
	return step.work;
}

function describe(number) {
	const task = tasks[number], step = steps[task.step], kernel = kernels[task.kernel];
	const facts = [["manifest", task.line ? [`line ${task.line}`] : ["a node of a model"]],
		["operator", [operators[task.kernel]]],
		["rule", [task.rule ? `${task.rule} has made the node` : ""]],
		["kernel", [`${kernel.name} (function ${kernel.symbol}, ${kernel.code.toLocaleString("en")} bytes)`]],
		["object", [kernel.object ?? "not known: the account has been stripped"]],
		["work", [workText(step)]],
		["operations", [task.cost?.operations?.toLocaleString("en") ?? ""]],
		["bytes", [`${taskBytes(task).toLocaleString("en")}, ` +
			(isCostGiven(task) ? "as its cost says" : "of its reads and writes")]],
		["reads", names(task.reads, tensor => tensorText(tensors[tensor]))],
		["writes", names(task.writes, tensor => tensorText(tensors[tensor]))],
		["awaits", names(step.awaits, awaited => taskLink(lastTask(awaited)))],
		["before it", orders(before[number], "earlier")],
		["after it", orders(after[number], "later")],
		["signature", [kernel.signature ?? ""]]];

	const given = facts.filter(([, texts]) => texts[0] !== "");
	const list = given.flatMap(([name, texts]) => [element("dt", {}, name), element("dd", {}, ...texts)]);

	showDetails(element("h2", {}, task.name), element("dl", {}, ...list),
		element("pre", { id: "explanation" }, task.explanation));
}

function select(number) {
	selected = number;
	describeAgain = () => describe(number);
	describe(number);
	if (document.getElementById("graph").classList.contains("shown"))
		showInGraph(number);
	showInSchedule(number);
	refresh();
}

/* Shows all views at the present sizes. */
function showSizes() {
	findLives();
	showMemoryCount();
	openOverview();
	openReasons();
	describeAgain();
	refresh();
}

/* Returns the tasks with the text in their name, kernel, operator, rule or tensors. */
function search(text) {
	const wanted = text.toLowerCase(), has = name => name.toLowerCase().includes(wanted);
	const kernel = kernels.map((one, number) => has(one.name) || has(operators[number]));
	const tensor = tensors.map(one => has(one.name));
	const matches = !wanted ? [] : tasks.map((task, number) => number).filter(number => has(tasks[number].name) ||
		kernel[tasks[number].kernel] || has(tasks[number].rule ?? "") ||
		[...tasks[number].reads, ...tasks[number].writes].some(one => tensor[one]));

	found = new Set(matches);
	document.getElementById("found").textContent = wanted ? count(matches.length, "task", "tasks") : "";
	if (matches.length) {
		describeAgain = () => {};
		showDetails(element("h2", {}, `found: ${count(matches.length, "task", "tasks")}`),
			...matches.slice(0, 200).flatMap(number => [taskLink(number), element("br")]),
			matches.length > 200 ? `and ${matches.length - 200} more` : "");
	}
	refresh();
	return matches;
}

document.title = data.package;
document.getElementById("title").textContent = data.package;
document.getElementById("tabs").append(...Object.entries(views).map(([view, title]) =>
	element("button", { id: `tab-${view}`, onclick: () => show(view) }, title)));
document.getElementById("search").addEventListener("input", event => search(event.target.value));
document.getElementById("search").addEventListener("keydown", event => {
	if (event.key === "Enter" && found.size)
		select([...found][0]);
});
openSizes();
openOverview();
openGraph();
openSchedule();
openMemory();
openReasons();
show("overview");
