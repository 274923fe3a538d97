/* The workspace: from left to right the steps of the network, from top to bottom its bytes. A rectangle is a temporary,
 * from the first step that accesses it to the last. Above it, the number of bytes in use. */
const memory = { lives: [], live: [], top: 70 };

function findLives() {
	const lives = new Map();

	tasks.forEach((task, number) => {
		for (const tensor of [...task.reads, ...task.writes]) {
			const life = lives.get(tensor) ?? { tensor, first: task.step, last: task.step, tasks: [] };

			life.first = Math.min(life.first, task.step);
			life.last = Math.max(life.last, task.step);
			life.tasks.push(number);
			lives.set(tensor, life);
		}
	});
	memory.lives = [...lives.values()].filter(life => tensors[life.tensor].space === "workspace");
	memory.live = new Float64Array(steps.length + 1);
	for (const life of memory.lives) {
		memory.live[life.first] += tensors[life.tensor].bytes;
		memory.live[life.last + 1] -= tensors[life.tensor].bytes;
	}
	for (let step = 1; step <= steps.length; step++)
		memory.live[step] += memory.live[step - 1];
}

const memoryY = (drawing, offset) =>
	memory.top + offset / (data.sizes.workspace || 1) * (drawing.height - memory.top - 10);

function paintLive(context, drawing) {
	const most = memory.live.reduce((a, b) => Math.max(a, b), 1);

	context.fillStyle = style("--mark");
	context.globalAlpha = 0.5;
	for (let step = Math.max(0, Math.floor(drawing.x)); step < Math.min(steps.length, drawing.right); step++) {
		const height = memory.live[step] / most * (memory.top - 26);

		context.fillRect(drawing.screenX(step), memory.top - 8 - height, Math.max(drawing.scale, 0.5), height);
	}
	context.globalAlpha = 1;
	context.fillStyle = style("--faint");
	context.fillText("in use, at", 8, 24);
	context.fillText(`most ${sizeText(most)}`, 8, 40);
}

/* Labels: offsets in the workspace, and the steps below. */
function paintOffsets(context, drawing) {
	const { workspace } = data.sizes, part = 2 ** Math.ceil(Math.log2(Math.max(workspace, 1) / 8));
	const room = 90 / drawing.scale, power = 10 ** Math.floor(Math.log10(room));
	const step = Math.max(1, [1, 2, 5, 10].map(factor => factor * power).find(one => one >= room));

	context.strokeStyle = style("--line");
	context.lineWidth = 1;
	context.fillStyle = style("--faint");
	for (let offset = 0; offset < workspace; offset += part) {
		const y = memoryY(drawing, offset);

		context.beginPath();
		context.moveTo(0, y);
		context.lineTo(drawing.width, y);
		context.stroke();
		context.fillText(sizeText(offset), 8, y + 8);
	}
	const last = Math.min(drawing.right, steps.length);

	for (let at = Math.max(0, Math.ceil(drawing.x / step) * step); at < last; at += step)
		context.fillText(`step ${at}`, drawing.screenX(at), 10);
}

function paintMemory(context, drawing) {
	paintLive(context, drawing);
	paintOffsets(context, drawing);
	for (const life of memory.lives) {
		const tensor = tensors[life.tensor], left = drawing.screenX(life.first);
		const width = Math.max((life.last + 1 - life.first) * drawing.scale - 1, 1);
		const top = memoryY(drawing, tensor.offset);
		const height = Math.max(memoryY(drawing, tensor.offset + tensor.bytes) - top - 1, 1);

		if (life.last + 1 < drawing.x || life.first > drawing.right)
			continue;
		context.fillStyle = colour(life.tensor, isDark());
		context.fillRect(left, top, width, height);
		if (life.tasks.includes(selected)) {
			context.strokeStyle = style("--mark");
			context.lineWidth = 2.5;
			context.strokeRect(left, top, width, height);
		}
		context.fillStyle = style("--front");
		if (height > 11)
			nameLabel(context, tensor.name, Math.max(left, 0) + 4, top + height / 2, width - 6);
	}
}

/* All bytes are always visible: vertical dragging moves nothing. */
function pickMemory(x, movedY) {
	const y = movedY - memory.drawing.y;
	const life = memory.lives.find(one => {
		const tensor = tensors[one.tensor];

		return x >= one.first && x < one.last + 1 && y >= memoryY(memory.drawing, tensor.offset) &&
			y <= memoryY(memory.drawing, tensor.offset + tensor.bytes);
	});

	if (life)
		showTensor(life);
}

function showTensor(life) {
	describeAgain = () => showTensor(life);
	const tensor = tensors[life.tensor];
	const sharers = memory.lives.filter(one => one !== life &&
		tensors[one.tensor].offset < tensor.offset + tensor.bytes &&
		tensors[one.tensor].offset + tensors[one.tensor].bytes > tensor.offset);

	showDetails(element("h2", {}, tensorText(tensor)),
		element("p", {}, `${sizeText(tensor.bytes)} at ${tensor.offset} of the workspace, ` +
			`from step ${life.first} to step ${life.last}`),
		element("p", {}, "accessed by ", ...life.tasks.flatMap(number => [taskLink(number), " "])),
		element("p", {}, sharers.length ? `${sharers.length} others have some of its bytes at other times: ` +
			sharers.slice(0, 50).map(one => tensors[one.tensor].name).join(", ") :
			"no other temporary has its bytes"));
}

function temporaryBytes() {
	return tensors.reduce((sum, tensor) => sum + (tensor.space === "workspace" ? tensor.bytes : 0), 0);
}

function showMemoryCount() {
	const bytes = temporaryBytes(), { workspace } = data.sizes;

	document.getElementById("memory-count").textContent =
		`${memory.lives.length} temporaries of ${sizeText(bytes)} in a workspace of ${sizeText(workspace)}: ` +
		`reuse saves ${sizeText(Math.max(bytes - workspace, 0))}; each has its bytes from the first step ` +
		"that accesses it to the last; a click shows the others with them";
}

function openMemory() {
	findLives();
	memory.drawing = new Drawing(document.getElementById("memory-canvas"), paintMemory, pickMemory, true);
	memory.drawing.margin = 100; /* names of offsets */
	document.getElementById("memory-bar").append(
		element("button", { onclick: () => memory.drawing.fit(steps.length) }, "all"),
		element("span", { id: "memory-count" }));
	showMemoryCount();
}
