"use strict";
/* Added after a page of skdump --html: looks at it and clicks, as a user would, and leaves its results
 * in the document. */
setTimeout(() => {
	/* Without a screen the browser requests no frames. */
	const frames = () => [graph, schedule, memory].filter(view => view.drawing.width).forEach(view => view.drawing.draw());
	const drag = (id, x, y, toX, toY) => {
		const canvas = document.getElementById(id), box = canvas.getBoundingClientRect();
		const at = { clientX: box.left + x, clientY: box.top + y, bubbles: true };
		const to = { clientX: box.left + toX, clientY: box.top + toY };

		canvas.dispatchEvent(new PointerEvent("pointerdown", at));
		window.dispatchEvent(new PointerEvent("pointermove", to));
		window.dispatchEvent(new PointerEvent("pointerup", to));
		frames();
	};
	const click = (id, x, y) => drag(id, x, y, x, y);
	/* The heading at the side after a click there, and after one where that is when the view has been dragged. */
	const dragged = (view, place) => {
		document.getElementById(`tab-${view}`).click();
		frames();
		const half = document.getElementById(`${view}-canvas`).clientHeight / 2;

		return [[0, 0], [20, half], [-5, -1.5 * half]].map(([right, down]) => {
			const [x, y] = place();

			drag(`${view}-canvas`, x, y, x + right, y + down);
			showDetails();
			click(`${view}-canvas`, ...place());
			return document.querySelector("#details h2")?.textContent;
		});
	};
	/* Pixels of the canvas that are not empty: something has been drawn. */
	const drawn = id => {
		const canvas = document.getElementById(id);
		const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
		let some = 0;

		for (let i = 3; i < pixels.length; i += 4)
			some += pixels[i] > 0;
		return some;
	};
	const result = { title: document.title, loaded: performance.now(), totals: {}, drawn: {}, counts: {} };

	/* "?batch=2" after the address of the page: type that into the field. */
	for (const [name, size] of new URLSearchParams(location.search)) {
		const field = document.getElementById(`size-${name}`);

		field.value = size;
		field.dispatchEvent(new Event("change"));
	}
	result.address = location.hash;
	result.fields = [...document.querySelectorAll("#sizes input")].map(one => `${one.id.slice(5)}=${one.value}`).join("&");
	if (data.at)
		result.said = document.getElementById("sizes").textContent;
	result.titles = schedule.bands.map(band => band.name);

	for (const row of document.querySelectorAll("#overview tbody tr"))
		result.totals[row.cells[0].textContent] = [...row.cells].slice(1).map(cell => cell.textContent);
	for (const name of ["graph", "schedule", "memory"]) {
		document.getElementById(`tab-${name}`).click();
		frames();
		result.drawn[name] = drawn(`${name}-canvas`);
		result.counts[name] = document.getElementById(`${name}-count`).textContent;
	}
	result.bands = schedule.bands.map(band => ({ rows: band.rows.length, slices: band.slices.filter(one => one.kind === "task").length,
		named: band.slices.filter(one => one.task !== undefined).length, arrows: band.arrows.length,
		critical: band.slices.filter(one => one.critical).length }));
	result.reasons = [...document.querySelectorAll("#reasons h2")].map(one => one.textContent);
	/* Tables as text, under their headings. */
	const rows = table => [...table.querySelectorAll("tbody tr")].map(row => [...row.cells].map(cell => cell.textContent));
	const tables = view => [...document.querySelectorAll(`#${view} table`)].map(rows);
	result.tables = { overview: tables("overview"), reasons: tables("reasons") };
	result.background = getComputedStyle(document.body).backgroundColor;
	result.boxes = graph.boxes.map(boxName);

	/* Every meaning of colours is drawn, and explained in a line. */
	result.legends = {};
	for (const choice of Object.keys(colouring)) {
		const select = document.querySelector("#graph .colours select");

		select.value = choice;
		select.dispatchEvent(new Event("change"));
		frames();
		result.legends[choice] = [...document.querySelectorAll("#schedule .swatch")].map(one => one.textContent);
	}

	/* A click on a task, where the graph has it. */
	const wanted = Math.min(5, tasks.length - 1);
	document.getElementById("tab-graph").click();
	showInGraph(wanted);
	frames();
	click("graph-canvas", graph.drawing.screenX(nodeX(graph.places[wanted]) + 20), graph.drawing.screenY(nodeY(graph.places[wanted]) + 8));
	const facts = [...document.querySelectorAll("#details dt")].map(name => [name.textContent, name.nextSibling.innerText]);
	result.clicked = { task: wanted, explanation: document.getElementById("explanation")?.textContent, facts: Object.fromEntries(facts) };

	/* Views can be dragged, and a click then selects the part in view. */
	result.dragged = [];
	const slice = schedule.bands[0].slices.find(one => one.task === wanted);
	if (slice) {
		document.getElementById("tab-schedule").click();
		schedule.drawing.fit(schedule.width);
		result.dragged.push([tasks[wanted].name, dragged("schedule", () => [schedule.drawing.screenX((slice.from + slice.to) / 2),
			(slice.row + 2.5) * schedule.rowHeight - schedule.drawing.y])]);
	}
	const lasts = Math.max(...memory.lives.map(one => tensors[one.tensor].offset)), life = memory.lives.find(one => tensors[one.tensor].offset === lasts);
	if (life) {
		const tensor = tensors[life.tensor];

		result.dragged.push([tensorText(tensor), dragged("memory", () => [memory.drawing.screenX((life.first + life.last + 1) / 2),
			memoryY(memory.drawing, tensor.offset + tensor.bytes / 2)])]);
		result.life = { tensor: life.tensor, said: document.querySelector("#details p").textContent };
	}
	document.getElementById("tab-graph").click();

	/* The wheel zooms towards the pointer: the part in sight then, and its middle. */
	document.getElementById("tab-schedule").click();
	schedule.drawing.fit(schedule.width);
	const canvas = document.getElementById("schedule-canvas"), middle = canvas.clientWidth / 2;
	const pointed = schedule.drawing.x + middle / schedule.drawing.scale;
	for (let i = 0; i < 60; i++) /* offsetX and offsetY follow from these */
		canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: -100, clientX: canvas.getBoundingClientRect().left + middle,
			clientY: canvas.getBoundingClientRect().top + 20 }));
	frames();
	result.zoomed = { sight: schedule.drawing.width / schedule.drawing.scale,
		moved: Math.abs(schedule.drawing.x + middle / schedule.drawing.scale - pointed) };
	schedule.drawing.fit(schedule.width);
	document.getElementById("tab-graph").click();

	/* Boxes fold, and unfold. */
	result.nodes = new Set(tasks.map((task, number) => visible(number))).size;
	const box = graph.boxes.find(one => one.key.startsWith("launch"));
	if (box) {
		graph.drawing.scale = 1;
		graph.drawing.x = columnX(box) - 10;
		graph.drawing.y = box.row * ROW - 10;
		graph.drawing.refresh();
		frames();
		click("graph-canvas", 30, 20);
		result.folded = new Set(tasks.map((task, number) => visible(number))).size;
		click("graph-canvas", 30, 20);
		result.unfolded = new Set(tasks.map((task, number) => visible(number))).size;
	}
	const seen = () => new Set(tasks.map((task, number) => visible(number))).size;
	const press = name => [...document.querySelectorAll("#graph-bar button")].find(one => one.textContent === name).click();
	press("fold tile groups");
	result.groupsFolded = seen();
	press("fold scopes");
	result.scopesFolded = seen();
	press("unfold");
	result.allUnfolded = seen();
	result.live = [...memory.live];

	/* A search may be for a task, a kernel, an operator, a rule or a tensor. */
	const input = document.getElementById("search"), task = tasks[wanted];
	result.found = [task.name, kernels[task.kernel].name, operators[task.kernel], task.rule, tensors[task.writes[0]].name, "nothing is called so"]
		.filter(text => text).map(text => {
			input.value = text;
			input.dispatchEvent(new Event("input"));
			return [text, document.getElementById("found").textContent];
		});
	result.scripts = document.scripts.length;
	result.requests = performance.getEntriesByType("resource").map(one => one.name);
	document.body.append(element("pre", { id: "result" }, JSON.stringify(result)));
}, 50);
