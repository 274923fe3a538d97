/* The graph: tasks from top to bottom, in boxes for launches and for tile groups, which fold. A launch's box is below
 * earlier ones, since launches of a stream follow each other. In it, a block (a task, a tile group, a folded box) is
 * below all its producers, in the column of one of them if that is free. No library: a layout that looks for
 * the best places takes minutes for 20,000 tasks, and all orders are known here. */
const COLUMN = 190, ROW = 34, WIDTH = 160, HEIGHT = 22;
const graph = { folded: new Set(), places: [], boxes: [], edges: [], width: 0, height: 0 };

const groupOf = number => steps[tasks[number].step].tasks.length > 1 ? tasks[number].step : -1;
const launchKey = launch => `launch ${launch}`, groupKey = step => `group ${step}`;

/* The visible item for the task: itself, or the folded box around it. */
function visible(number) {
	const task = tasks[number], group = groupOf(number);

	if (graph.folded.has(launchKey(task.launch)))
		return launchKey(task.launch);
	return group >= 0 && graph.folded.has(groupKey(group)) ? groupKey(group) : number;
}

/* The blocks of a launch, each put into a column as a whole, in the network's order. */
function blocksOf(members) {
	const blocks = new Map();

	for (const number of members) {
		const group = groupOf(number), key = visible(number);
		const block = typeof key === "string" ? key : group >= 0 ? groupKey(group) : `task ${number}`;

		if (!blocks.has(block))
			blocks.set(block, { group, members: [], folded: typeof key === "string" ? key : null });
		blocks.get(block).members.push(number);
	}
	return blocks.values();
}

/* The column that is free from the row on: that of a producer, or else the one nearest to it. */
function freeColumn(ends, row, wanted) {
	for (let distance = 0; distance <= ends.length; distance++)
		for (const column of [wanted + distance, wanted - distance])
			if (column >= 0 && column <= ends.length && (ends[column] ?? 0) <= row)
				return column;
	return ends.length;
}

function placeBlock(block, ends, top) {
	const length = block.folded ? 1 : block.members.length;
	let row = top, wanted = 0;

	for (const number of block.members)
		for (const producer of producers[number]) {
			const place = graph.places[producer.task];

			if (!place || tasks[producer.task].launch !== tasks[number].launch)
				continue; /* it is in this block, or in a box above */
			if (place.row + 1 >= row) {
				row = place.row + 1;
				wanted = place.column;
			}
		}
	const column = freeColumn(ends, row, wanted), gap = block.group >= 0 && !block.folded ? 1 : 0;

	block.members.forEach((number, index) => {
		graph.places[number] = { row: row + gap + (block.folded ? 0 : index), column };
	});
	ends[column] = row + length + gap;
	if (block.folded)
		graph.boxes.push({ key: block.folded, row: row + gap, column, folded: true, members: block.members });
	else if (block.group >= 0)
		graph.boxes.push({ key: groupKey(block.group), row, end: row + length + gap, column, columns: 1,
			members: block.members });
	return ends[column];
}

function layOut() {
	const members = launches.map(() => []);
	let top = 0;

	Object.assign(graph, { places: [], boxes: [], edges: [], width: 0 });
	tasks.forEach((task, number) => members[task.launch].push(number));
	launches.forEach((launch, index) => {
		const ends = [], key = launchKey(index), folded = graph.folded.has(key);
		let end = top + 1;

		for (const block of blocksOf(members[index]))
			end = Math.max(end, placeBlock(block, ends, top + (folded ? 0 : 1)));
		if (!folded && launch.kind === "superkernel")
			graph.boxes.push({ key, row: top, end: end + 1, column: 0, columns: ends.length,
				members: members[index] });
		graph.width = Math.max(graph.width, ends.length * COLUMN);
		top = end + 2;
	});
	graph.height = top * ROW;
	const seen = new Set(), edge = (from, to, kind, text) => {
		const name = `${visible(from)}>${visible(to)}>${kind}`;

		if (visible(from) !== visible(to) && !seen.has(name))
			graph.edges.push({ from: graph.places[from], to: graph.places[to], kind, text,
				tasks: [from, to] });
		seen.add(name);
	};

	tasks.forEach((task, number) =>
		producers[number].forEach(made => edge(made.task, number, "data", tensors[made.tensor].name)));
	steps.forEach(step => step.awaits.forEach(awaited => edge(lastTask(awaited), step.tasks[0], "await", "")));
	graph.drawing.refresh();
	document.getElementById("graph-count").textContent =
		`${tasks.length} tasks, ${tensors.length} tensors, ${graph.boxes.length} boxes; ` +
		"wheel: zoom, drag: move, click on a box's name: fold";
}

const nodeX = place => place.column * COLUMN + 15, nodeY = place => place.row * ROW + 6;
const columnX = box => box.column * COLUMN + 4;

/* A tensor's name beside its arrow, if no other one is there, and not on lines. */
function tensorLabel(context, name, x, y, taken) {
	const places = [Math.floor(x / 60), Math.ceil(x / 60)].map(column => `${column} ${Math.round(y / 12)}`);

	if (places.some(place => taken.has(place)))
		return;
	places.forEach(place => taken.add(place));
	context.fillStyle = style("--back");
	context.fillRect(x - 1, y - 6, Math.min(name.length * 6.5, 130) + 2, 12);
	context.fillStyle = style("--faint");
	nameLabel(context, name, x, y, 130);
}

function paintEdges(context, drawing) {
	const { x, y, right, bottom } = drawing, taken = new Set();

	for (const edge of graph.edges) {
		const fromX = nodeX(edge.from) + WIDTH / 2, toX = nodeX(edge.to) + WIDTH / 2;
		const fromY = nodeY(edge.from) + HEIGHT, toY = nodeY(edge.to);
		const touched = edge.tasks.includes(selected);
		const apart = edge.from.column === edge.to.column && edge.to.row > edge.from.row + 1;
		const bend = apart ? WIDTH * 1.15 : 0; /* around the blocks between */

		if (Math.max(fromX, toX) < x || Math.min(fromX, toX) > right ||
			Math.max(fromY, toY) < y || Math.min(fromY, toY) > bottom)
			continue;
		context.strokeStyle = touched ? style("--mark") : style(edge.kind === "await" ? "--await" : "--edge");
		context.lineWidth = touched ? 2 : 1;
		context.setLineDash(edge.kind === "await" ? [5, 3] : []);
		arrow(context, drawing.screenX(fromX), drawing.screenY(fromY), drawing.screenX(toX),
			drawing.screenY(toY), bend * drawing.scale);
		if (drawing.scale > 0.9 && edge.text) {
			tensorLabel(context, edge.text, drawing.screenX((fromX + toX + bend) / 2) + 4,
				drawing.screenY((fromY + toY) / 2), taken);
		}
	}
	context.setLineDash([]);
}

function paintBox(context, drawing, box) {
	const left = drawing.screenX(columnX(box)), top = drawing.screenY(box.row * ROW);
	const width = (box.folded ? COLUMN - 8 : box.columns * COLUMN - 8) * drawing.scale;
	const height = (box.folded ? ROW : (box.end - box.row) * ROW - 2) * drawing.scale;

	context.strokeStyle = style("--line");
	context.fillStyle = style(box.folded ? "--panel" : "--faint");
	context.lineWidth = 1;
	if (box.folded)
		context.fillRect(left, top, width, height);
	context.strokeRect(left, top, width, height);
	context.fillStyle = style("--faint");
	if (drawing.scale > 0.35)
		label(context, `${box.folded ? "▸" : "▾"} ${boxName(box)}`, left + 6, top + ROW / 2 * drawing.scale,
			width - 10);
}

function boxName(box) {
	const first = tasks[box.members[0]];
	const name = box.key.startsWith("launch") ? launches[first.launch].name : "tile group";

	return `${name} (${box.members.length} tasks)`;
}

function paintGraph(context, drawing) {
	const { x, y, right, bottom } = drawing;

	for (const box of graph.boxes)
		if (box.row * ROW < bottom && (box.end ?? box.row + 1) * ROW > y)
			paintBox(context, drawing, box);
	paintEdges(context, drawing);
	tasks.forEach((task, number) => {
		const place = graph.places[number], left = nodeX(place), top = nodeY(place);

		if (left > right || left + WIDTH < x || top > bottom || top + HEIGHT < y ||
			typeof visible(number) === "string")
			return;
		context.fillStyle = taskColour(task);
		context.fillRect(drawing.screenX(left), drawing.screenY(top), WIDTH * drawing.scale,
			HEIGHT * drawing.scale);
		if (number === selected || found.has(number)) {
			context.strokeStyle = style(number === selected ? "--mark" : "--critical");
			context.lineWidth = 2.5;
			context.strokeRect(drawing.screenX(left), drawing.screenY(top), WIDTH * drawing.scale,
				HEIGHT * drawing.scale);
		}
		context.fillStyle = style("--front");
		if (drawing.scale > 0.35)
			nameLabel(context, task.name, drawing.screenX(left) + 4, drawing.screenY(top + HEIGHT / 2),
				WIDTH * drawing.scale - 8);
	});
}

function pickGraph(x, y) {
	const number = tasks.findIndex((task, index) => {
		const place = graph.places[index];

		return x >= nodeX(place) && x <= nodeX(place) + WIDTH &&
			y >= nodeY(place) && y <= nodeY(place) + HEIGHT &&
			typeof visible(index) === "number";
	});
	const box = graph.boxes.findLast(one => x >= columnX(one) && x <= columnX(one) + (one.columns ?? 1) * COLUMN &&
		y >= one.row * ROW && y <= (one.row + 1) * ROW);

	if (number >= 0) {
		select(number);
	} else if (box) {
		box.folded ? graph.folded.delete(box.key) : graph.folded.add(box.key);
		layOut();
	}
}

function showInGraph(number) {
	const place = graph.places[number];

	graph.drawing.scale = Math.max(graph.drawing.scale, 1);
	graph.drawing.centre(nodeX(place) + WIDTH / 2, nodeY(place));
}

function foldAll(fold, key) {
	tasks.forEach((task, number) => {
		const name = key(number);

		if (name)
			fold ? graph.folded.add(name) : graph.folded.delete(name);
	});
	layOut();
}

function openGraph() {
	const launchOf = number => isFused(tasks[number]) ? launchKey(tasks[number].launch) : null;
	const groupName = number => groupOf(number) >= 0 ? groupKey(groupOf(number)) : null;

	document.getElementById("graph-bar").append(
		element("button", { onclick: () => foldAll(true, launchOf) }, "fold scopes"),
		element("button", { onclick: () => foldAll(true, groupName) }, "fold tile groups"),
		element("button", { onclick: () => { graph.folded.clear(); layOut(); } }, "unfold"),
		element("button", { onclick: () => graph.drawing.fit(graph.width, graph.height) }, "all"),
		element("span", { id: "graph-count" }),
		colourBar(element("span", {}, "⟶ data"), element("span", { class: "await" }, "⇢ await")));
	graph.drawing = new Drawing(document.getElementById("graph-canvas"), paintGraph, pickGraph);
	layOut();
}
