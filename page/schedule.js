/* The schedule: a band for each trace (skrun --trace, from top to bottom in the given order), with a row for each core,
 * waits and tasks, awaits as arrows, and the critical path. Without traces: the steps in their order, with their lanes
 * and awaits. */
const schedule = { bands: [], width: 0, rowHeight: 22 };

/* Microseconds, to the nanosecond if need be: "1.5 ms". Steps are steps. */
function lengthText(length, unit) {
	const thousands = unit === "µs" ? Math.min(2, Math.max(0, Math.floor(Math.log10(length || 1) / 3))) : 0;

	const digits = { maximumFractionDigits: 6 };

	return `${Number((length / 1000 ** thousands).toPrecision(7)).toLocaleString("en", digits)} ` +
		(thousands ? ["", "ms", "s"][thousands] : unit);
}

/* A trace has one band; that of a prediction has one for each way to run, and names of lanes begin with its name. */
function readTrace({ name, trace }) {
	const runs = new Map(), runOf = new Map(), sizes = traceSizes({ trace });

	for (const event of trace.traceEvents)
		if (event.ph === "M" && event.name === "process_name") /* and no task of that name */
			runOf.set(event.pid, trace.otherData.predicted ? event.args.name.split(", ")[0] : "");
	for (const event of trace.traceEvents) {
		const run = runOf.get(event.pid);

		if (!runs.has(run))
			runs.set(run, []);
		runs.get(run).push(event);
	}
	return [...runs].map(([run, events]) =>
		({ ...readBand((run ? `${name}, ${run}` : name) + (sizes ? ` (${sizes})` : ""), events),
			predicted: Boolean(run) }));
}

/* Rows of slices, in microseconds since the first one, and arrows between rows. */
function readBand(name, events) {
	const band = { name, unit: "µs", rows: [], slices: [], arrows: [], end: 0 };
	const rows = new Map(), names = new Map(), flows = new Map();
	const start = events.reduce((least, event) => event.ph === "X" ? Math.min(least, event.ts) : least, Infinity);
	const rowOf = event => rows.get(event.pid * 65536 + event.tid);

	for (const event of events)
		if (event.ph === "M" && event.name === "process_name")
			names.set(event.pid, event.args.name);
	for (const event of events)
		if (event.ph === "X")
			rows.set(event.pid * 65536 + event.tid, 0);
	[...rows.keys()].sort((a, b) => a - b).forEach((key, row) => {
		const lane = names.get(Math.floor(key / 65536)) ?? "";

		rows.set(key, row);
		band.rows.push(lane === "launches" ? lane : `${lane} ${key % 65536}`);
	});
	for (const event of events) {
		if (event.ph === "X" && event.cat !== "core") {
			band.slices.push({ row: rowOf(event), from: event.ts - start, to: event.ts - start + event.dur,
				kind: event.cat, name: event.name,
				task: event.cat === "task" ? taskNumbers.get(event.name) : undefined });
			band.end = Math.max(band.end, event.ts - start + event.dur);
		} else if (event.ph === "s") {
			flows.set(event.id, { row: rowOf(event), at: event.ts - start });
		} else if (event.ph === "f" && flows.has(event.id)) {
			band.arrows.push({ from: flows.get(event.id),
				to: { row: rowOf(event), at: event.ts - start } });
		}
	}
	markCritical(band);
	return band;
}

/* The task that a core ran at that time, from those of its row in order; the clock's steps are nanoseconds. */
function taskAt(row, at) {
	let low = 0, high = row.length;

	while (low < high) {
		const middle = (low + high) >> 1;

		row[middle].from <= at ? low = middle + 1 : high = middle;
	}
	return low && row[low - 1].to + 0.002 >= at ? row[low - 1] : null;
}

/* From the last task to end backwards: to the task that it awaited, or the one before on its core, whichever ended
 * later. */
function markCritical(band) {
	const rows = band.rows.map(() => []), previous = new Map();
	let slice = null;

	for (const one of [...band.slices].sort((a, b) => a.from - b.from)) {
		const row = rows[one.row];

		if (one.kind !== "task")
			continue;
		previous.set(one, row.length ? [row[row.length - 1]] : []);
		row.push(one);
		if (!slice || one.to > slice.to)
			slice = one;
	}
	for (const one of band.arrows) {
		const from = taskAt(rows[one.from.row], one.from.at), to = taskAt(rows[one.to.row], one.to.at);

		if (from && to)
			previous.get(to).push(from);
	}
	const latest = slices => slices.reduce((last, one) => !last || one.to > last.to ? one : last, null);

	for (; slice && !slice.critical; slice = latest(previous.get(slice)))
		slice.critical = true;
}

/* Without times: all steps have one length, and the critical path is the longest chain of awaits. */
function orderedBand() {
	const band = { name: "steps in the network's order, without times: add a trace for them", unit: "steps",
		rows: [...data.lanes],
		slices: [], arrows: [], end: steps.length }, chain = [], via = [];
	let last = 0;

	steps.forEach((step, number) => {
		const row = data.lanes.indexOf(step.lane), name = step.tasks.map(task => tasks[task].name).join(", ");

		band.slices.push({ row, from: number, to: number + 1, kind: "task", name, task: step.tasks[0] });
		chain[number] = 1;
		for (const awaited of step.awaits) {
			band.arrows.push({ from: { row: data.lanes.indexOf(steps[awaited].lane), at: awaited + 1 },
				to: { row, at: number } });
			if (chain[awaited] + 1 > chain[number]) {
				chain[number] = chain[awaited] + 1;
				via[number] = awaited;
			}
		}
		if (chain[number] > chain[last])
			last = number;
	});
	for (let number = last; number !== undefined; number = via[number])
		band.slices[number].critical = true;
	return band;
}

const bandHeight = band => (band.rows.length + 2) * schedule.rowHeight;

function paintAxis(context, drawing, band, top) {
	const room = 110 / drawing.scale, power = 10 ** Math.floor(Math.log10(room));
	const step = [1, 2, 5, 10].map(factor => factor * power).find(one => one >= room);

	context.fillStyle = style("--faint");
	context.strokeStyle = style("--line");
	context.lineWidth = 1;
	const last = Math.min(drawing.right, band.end + step);

	for (let at = Math.max(0, Math.floor(drawing.x / step) * step); at < last; at += step) {
		const x = drawing.screenX(at);

		context.fillText(lengthText(at, band.unit), x + 3, top + 32);
		context.beginPath();
		context.moveTo(x, top + 26);
		context.lineTo(x, top + bandHeight(band));
		context.stroke();
	}
	context.fillStyle = style("--front");
	context.fillText(`${band.name}: ${lengthText(band.end, band.unit)}, ` +
		`${count(band.arrows.length, "await", "awaits")}, ` +
		`${count(band.slices.filter(slice => slice.critical).length, "slice", "slices")} on the critical path`,
		8, top + 12);
}

function paintSlice(context, drawing, slice, top) {
	const left = drawing.screenX(slice.from), width = Math.max((slice.to - slice.from) * drawing.scale, 1);
	const number = slice.task, height = schedule.rowHeight - 4;

	if (slice.kind === "task" && number !== undefined)
		context.fillStyle = taskColour(tasks[number]);
	else
		context.fillStyle = style(slice.kind === "wait" ? "--line" : "--panel");
	context.fillRect(left, top, width, height);
	if (slice.critical) {
		context.fillStyle = style("--critical");
		context.fillRect(left, top + height - 3, width, 3);
	}
	if (number !== undefined && (number === selected || found.has(number))) {
		context.strokeStyle = style(number === selected ? "--mark" : "--critical");
		context.lineWidth = 2;
		context.strokeRect(left, top, width, height);
	}
	context.fillStyle = style("--front");
	nameLabel(context, slice.name, Math.max(left, 0) + 3, top + height / 2,
		Math.min(left + width, drawing.width) - Math.max(left, 0) - 6);
}

function paintBand(context, drawing, band, top) {
	const rowTop = row => top + (row + 2) * schedule.rowHeight;

	paintAxis(context, drawing, band, top);
	for (const slice of band.slices)
		if (slice.to >= drawing.x && slice.from <= drawing.right)
			paintSlice(context, drawing, slice, rowTop(slice.row));
	context.strokeStyle = style("--await");
	context.lineWidth = 1;
	for (const one of band.arrows)
		if (one.to.at >= drawing.x && one.from.at <= drawing.right &&
			drawing.scale * band.end / (band.arrows.length + 1) > 6)
			arrow(context, drawing.screenX(one.from.at), rowTop(one.from.row) + schedule.rowHeight / 2,
				drawing.screenX(one.to.at), rowTop(one.to.row) + schedule.rowHeight / 2);
	band.rows.forEach((name, row) => {
		context.fillStyle = style("--panel");
		context.fillRect(0, rowTop(row), drawing.margin, schedule.rowHeight - 4);
		context.fillStyle = style("--front");
		label(context, name, 8, rowTop(row) + 9, drawing.margin - 12);
	});
}

function paintSchedule(context, drawing) {
	let top = -drawing.y;

	for (const band of schedule.bands) {
		paintBand(context, drawing, band, top);
		top += bandHeight(band);
	}
}

function pickSchedule(x, y) {
	let top = 0;

	for (const band of schedule.bands) {
		const row = Math.floor((y - top) / schedule.rowHeight) - 2;
		const slice = band.slices.find(one => one.row === row && one.from <= x && x <= one.to &&
			one.task !== undefined);

		if (slice && y < top + bandHeight(band)) {
			select(slice.task);
			return;
		}
		top += bandHeight(band);
	}
}

function showInSchedule(number) {
	const { drawing } = schedule, slice = schedule.bands[0].slices.find(one => one.task === number);

	if (slice && (slice.to < drawing.x || slice.from > drawing.right))
		drawing.centre((slice.from + slice.to) / 2, drawing.y + drawing.height / 2);
}

function showBand(number) {
	schedule.drawing.fit(schedule.bands[number].end);
	schedule.drawing.y = schedule.bands.slice(0, number).reduce((top, band) => top + bandHeight(band), 0);
}

function openSchedule() {
	schedule.bands = traces.flatMap(readTrace);
	if (!schedule.bands.length)
		schedule.bands.push(orderedBand());
	/* Measured bands are shown first, if there are any: predictions may be of another, much slower device. */
	const measured = schedule.bands.filter(band => !band.predicted);
	const shown = measured.length ? measured : schedule.bands;
	schedule.width = shown.reduce((most, band) => Math.max(most, band.end), 0);
	schedule.drawing = new Drawing(document.getElementById("schedule-canvas"), paintSchedule, pickSchedule, true);
	schedule.drawing.margin = 110; /* names of rows */
	document.getElementById("schedule-bar").append(
		...schedule.bands.map((band, number) =>
			element("button", { onclick: () => showBand(number) }, `fit ${band.name}`)),
		element("span", { id: "schedule-count" }, "a row for each core; wheel: zoom, drag: move"),
		colourBar(element("span", { class: "critical" }, "▁ critical path"),
			element("span", { class: "await" }, "⟶ await"), element("span", {}, "▮ wait")));
}
