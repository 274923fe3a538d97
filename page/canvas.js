/* A drawing that can be moved and zoomed. Each picture is drawn again, and only its visible part, so that
 * 20,000 tasks are no more work than those of one screen. */
class Drawing {
	/* `paint(context, drawing)` draws in its own units; `pick(x, y)` is a click there. flat: only the horizontal is
	 * zoomed. */
	constructor(canvas, paint, pick, flat) {
		Object.assign(this, { canvas, paint, pick, flat, x: 0, y: 0, scale: 1, margin: 0, queued: false });
		new ResizeObserver(() => this.refresh()).observe(canvas);
		matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.refresh());
		canvas.addEventListener("wheel", event => this.wheel(event), { passive: false });
		canvas.addEventListener("pointerdown", event => this.press(event));
	}

	get scaleY() { return this.flat ? 1 : this.scale; }
	get width() { return this.canvas.clientWidth; }
	get height() { return this.canvas.clientHeight; }
	screenX(x) { return (x - this.x) * this.scale; }
	screenY(y) { return (y - this.y) * this.scaleY; }

	/* The visible part. */
	get right() { return this.x + this.width / this.scale; }
	get bottom() { return this.y + this.height / this.scaleY; }

	refresh() {
		if (this.queued || !this.width)
			return;
		this.queued = true;
		requestAnimationFrame(() => this.draw());
	}

	draw() {
		const context = this.canvas.getContext("2d"), ratio = window.devicePixelRatio || 1;

		this.queued = false;
		readPalette();
		this.canvas.width = this.width * ratio;
		this.canvas.height = this.height * ratio;
		context.scale(ratio, ratio);
		context.font = "12px system-ui, sans-serif";
		context.textBaseline = "middle";
		this.paint(context, this);
	}

	zoom(factor, atX, atY) {
		const scale = Math.min(Math.max(this.scale * factor, 1e-7), 1e4);

		this.x += atX / this.scale - atX / scale;
		if (!this.flat)
			this.y += atY / this.scale - atY / scale;
		this.scale = scale;
		this.refresh();
	}

	wheel(event) {
		event.preventDefault();
		if (event.shiftKey) {
			this.x += event.deltaY / this.scale;
			this.refresh();
		} else {
			this.zoom(Math.exp(-event.deltaY / 400), event.offsetX, event.offsetY);
		}
	}

	/* A press that does not move is a click. */
	press(event) {
		let moved = 0, lastX = event.clientX, lastY = event.clientY;
		const move = next => {
			moved += Math.abs(next.clientX - lastX) + Math.abs(next.clientY - lastY);
			this.x -= (next.clientX - lastX) / this.scale;
			this.y -= (next.clientY - lastY) / this.scaleY;
			lastX = next.clientX;
			lastY = next.clientY;
			this.refresh();
		};
		const release = () => {
			window.removeEventListener("pointermove", move);
			if (moved < 4)
				this.pick(this.x + event.offsetX / this.scale, this.y + event.offsetY / this.scaleY);
		};

		window.addEventListener("pointermove", move);
		window.addEventListener("pointerup", release, { once: true });
	}

	centre(x, y) {
		this.x = x - this.width / 2 / this.scale;
		this.y = y - this.height / 2 / this.scaleY;
		this.refresh();
	}

	fit(width, height) {
		if (!this.width)
			return;
		const vertical = this.flat ? Infinity : this.height / (height || 1);

		this.scale = Math.min((this.width - this.margin) / (width || 1), vertical) * 0.96;
		this.x = -(this.margin + 0.02 * (this.width - this.margin)) / this.scale;
		this.y = this.flat ? 0 : -0.02 * this.height / this.scale;
		this.refresh();
	}
}

/* Draws the text, cut to the room. */
function label(context, text, x, y, room) {
	const letters = Math.floor(room / 6.5);

	if (letters >= 3)
		context.fillText(text.length > letters ? text.slice(0, letters - 1) + "…" : text, x, y, room);
}

/* Draws the end of a name, cut to the room: names that begin with a path differ at the end. */
function nameLabel(context, name, x, y, room) {
	const letters = Math.floor(room / 6.5);

	label(context, name.length > letters ? "…" + name.slice(1 - letters) : name, x, y, room);
}

/* bend: distance of its middle from the straight line. */
function arrow(context, fromX, fromY, toX, toY, bend = 0) {
	const middleX = (fromX + toX) / 2 + bend, middleY = (fromY + toY) / 2;
	const angle = Math.atan2(toY - middleY, toX - middleX);

	context.beginPath();
	context.moveTo(fromX, fromY);
	context.quadraticCurveTo(middleX, middleY, toX, toY);
	for (const side of [-0.4, 0.4]) {
		context.moveTo(toX, toY);
		context.lineTo(toX - 7 * Math.cos(angle + side), toY - 7 * Math.sin(angle + side));
	}
	context.stroke();
}
