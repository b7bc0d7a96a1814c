/* SPDX-License-Identifier: ISC */
/*
 * Threads in time: a lane a thread, below its process.  Bars are states, ticks
 * are samples; what was lost is hatched.  Dragging, or the keys, choose a
 * range of time, to the nanosecond, and the graph and the table show it.
 */
"use strict";

const LANE = 16, LANES_AXIS = 18, LANES_HEIGHT = 340;
const STATE_COLORS = {
	light: ["#4caf7d", "#c9c3dd", "#f0a63a"],
	dark: ["#3d9367", "#5d5780", "#b97a1c"],
};

/* Whole numbers of nanoseconds, as seconds. */
function exactSeconds(ns) {
	const text = String(Math.round(ns)).padStart(10, "0");
	return `${text.slice(0, -9)}.${text.slice(-9)}`;
}

/* "#rrggbb" as a pixel, whose bytes are red, green, blue and opacity. */
function pixelOf(color) {
	const [red, green, blue] = color.match(/\w\w/g).map(two =>
	    parseInt(two, 16));
	return (255 << 24 | blue << 16 | green << 8 | red) >>> 0;
}

class Timeline extends LaneSums {
	constructor(page, head) {
		super(page.data.events, head);
		this.page = page;
		this.box = $("lanes");
		this.canvas = $("lanes-canvas");
		this.view = null;
		this.dragged = null;
		this.folded = new Set();
		this.listen();
	}

	async read() {
		await super.read();
		this.view = this.whole;
	}

	/* --------------------------------------------------------- rows */

	/* A process of several threads has a row of its own above them. */
	makeRows() {
		const many = this.lanes.length > 100, rows = [];
		for (let i = 0; i < this.lanes.length;) {
			const {pid} = this.lanes[i];
			let end = i;
			while (end < this.lanes.length &&
			    this.lanes[end].pid === pid)
				end++;
			const lanes = this.lanes.slice(i, end);
			if (lanes.length > 1 && many && !this.rows)
				this.folded.add(pid);
			if (lanes.length > 1)
				rows.push({pid, lanes, name: lanes[0].name});
			if (lanes.length === 1 || !this.folded.has(pid))
				rows.push(...lanes.map(lane => ({pid, lane,
					name: lane.name,
					inner: lanes.length > 1})));
			i = end;
		}
		this.rows = rows;
	}

	fold(row) {
		if (!row || !row.lanes)
			return;
		if (!this.folded.delete(row.pid))
			this.folded.add(row.pid);
		this.makeRows();
		this.draw();
	}

	foldAll() {
		const groups = this.rows.filter(row => row.lanes);
		const all = groups.every(row => this.folded.has(row.pid));
		for (const {pid} of groups)
			all ? this.folded.delete(pid) : this.folded.add(pid);
		this.makeRows();
		this.draw();
	}

	/* ------------------------------------------------------- places */

	get gutter() {
		return this.width < 600 ? 90 : 170;
	}

	x(time) {
		return this.gutter + (time - this.view[0]) /
		    (this.view[1] - this.view[0]) * (this.width - this.gutter);
	}

	timeAt(x) {
		return Math.round(this.view[0] + (x - this.gutter) /
		    (this.width - this.gutter) *
		    (this.view[1] - this.view[0]));
	}

	/* At least ten units of time, within what was recorded. */
	look(from, to) {
		const [first, last] = this.whole;
		const wide = Math.min(Math.max(to - from, 10 *
		    this.head.unit_ns), last - first);
		const begin = Math.min(Math.max(from, first), last - wide);
		this.view = [Math.round(begin), Math.round(begin + wide)];
		this.draw();
		/* Words can wait until the view rests. */
		clearTimeout(this.telling);
		this.telling = setTimeout(() => this.tell(), 100);
	}

	zoom(factor, at = (this.view[0] + this.view[1]) / 2) {
		this.look(at - (at - this.view[0]) * factor,
		    at + (this.view[1] - at) * factor);
	}

	pan(share) {
		const by = share * (this.view[1] - this.view[0]);
		this.look(this.view[0] + by, this.view[1] + by);
	}

	choose(range) {
		this.page.go({slice: range && this.snap(range), range: null,
			zoom: ""});
	}

	/* ------------------------------------------------------ drawing */

	draw() {
		const began = performance.now(), {box, canvas} = this;
		if (!this.rows)
			this.makeRows();
		this.width = box.clientWidth;
		const all = this.rows.length * LANE + LANES_AXIS;
		const height = Math.min(all, LANES_HEIGHT);
		box.style.height = height + "px";
		$("lanes-room").style.height = all - height + "px";
		this.theme = document.documentElement.dataset.theme === "dark" ?
		    "dark" : "light";
		this.resize(height);
		const {c} = this, first = Math.floor(box.scrollTop / LANE);
		const rows = this.rows.slice(first, first +
		    Math.ceil(height / LANE) + 1);
		const y = i => LANES_AXIS + (first + i) * LANE - box.scrollTop;
		this.pixels.fill(0);
		rows.forEach((row, i) => this.paintRow(row, y(i)));
		c.putImageData(this.image, 0, 0);
		rows.forEach((row, i) => this.drawName(row, y(i)));
		this.drawOver(height);
		this.drawAxis();
		this.took = performance.now() - began;
	}

	/* The canvas, and the pixels that are put into it. */
	resize(height) {
		const {canvas} = this, ratio = window.devicePixelRatio || 1;
		const size = [Math.floor(this.width * ratio),
			Math.floor(height * ratio)];
		if (!this.image || this.ratio !== ratio ||
		    this.image.width !== size[0] ||
		    this.image.height !== size[1]) {
			[canvas.width, canvas.height] = size;
			canvas.style.width = this.width + "px";
			canvas.style.height = height + "px";
			this.ratio = ratio;
			this.c = canvas.getContext("2d");
			this.c.scale(ratio, ratio);
			this.image = this.c.createImageData(...size);
			this.pixels = new Uint32Array(this.image.data.buffer);
		}
		this.c.font = "11px system-ui, sans-serif";
		this.c.textBaseline = "middle";
	}

	get front() {
		return this.theme === "dark" ? "#e8eaed" : "#1b1e24";
	}

	drawName(row, y) {
		const {c} = this;
		const mark = row.lanes ? this.folded.has(row.pid) ? "\u25b8 " :
		    "\u25be " : row.inner ? "   " : "";
		const text = mark + row.name + (row.lanes ?
		    ` ${row.pid}, ${row.lanes.length} threads` :
		    ` ${row.lane.tid}`);
		c.save();
		c.beginPath();
		c.rect(0, y, this.gutter - 4, LANE);
		c.clip();
		c.fillStyle = this.front;
		c.fillText(text, row.inner ? 14 : 2, y + LANE / 2);
		c.restore();
	}

	/* ------------------------------------------------------- pixels */

	/* One row of pixels, from a height in a row on, so high. */
	paintLines(line, y, high) {
		const {ratio, pixels, image} = this, {width} = image;
		const at = Math.round(this.gutter * ratio);
		const end = Math.min(image.height, Math.round((y + high) *
		    ratio));
		for (let i = Math.max(0, Math.round(y * ratio)); i < end; i++)
			pixels.set(line, i * width + at);
	}

	paintRow(row, y) {
		const wide = Math.max(1, this.image.width -
		    Math.round(this.gutter * this.ratio));
		const line = new Uint32Array(wide).fill(pixelOf(this.theme ===
		    "dark" ? "#20242c" : "#f4f5f7"));
		this.paintLines(line, y, LANE - 1);
		if (row.lane)
			this.paintLane(row.lane, y, line);
		else
			this.paintGroup(row.lanes, y, line);
	}

	paintLane(lane, y, line) {
		const {states, counts} = this.partsOfLane(lane, this.view,
		    line.length);
		const colors = STATE_COLORS[this.theme].map(pixelOf);
		states.forEach((state, x) => {
			if (state >= 0)
				line[x] = colors[state];
		});
		this.paintLines(line, y + 2, LANE - 5);
		const front = pixelOf(this.front);
		for (let x = 0; x < line.length; x++)
			if (counts[x])
				line.fill(front, x, x + this.ratio);
		this.paintLines(line, y + (lane.waits ? LANE / 2 : 3),
		    lane.waits ? LANE / 2 - 2 : LANE - 7);
	}

	/* From below: running, runnable, blocked; samples in front of them. */
	paintGroup(lanes, y, empty) {
		const {levels, counts} = this.partsOfProcess(lanes, this.view,
		    empty.length);
		const [running, blocked, runnable] = STATE_COLORS[this.theme]
		    .map(pixelOf);
		const front = pixelOf(this.front), high = LANE - 3;
		const most = counts.reduce((a, b) => Math.max(a, b), 0) || 1;
		const scale = high / lanes.length, step = 1 / this.ratio;
		const line = new Uint32Array(empty.length);
		for (let up = 0; up < high; up += step) {
			const level = up + step / 2;
			for (let x = 0; x < line.length; x++) {
				const all = levels[0][x] * scale;
				const ready = all - levels[1][x] * scale;
				const tick = counts[x] && Math.max(1,
				    counts[x] / most * high / 2);
				line[x] = level < tick ? front : level > all ?
				    empty[x] : level > ready ? blocked :
				    level > ready - levels[2][x] * scale ?
				    runnable : running;
			}
			this.paintLines(line, y + 1 + high - up - step, step);
		}
	}

	/* ----------------------------------------------------- in front */

	/* Losses and pauses, marks, and what is chosen. */
	drawOver(height) {
		const {c} = this, {slice} = this.page.state;
		c.save();
		c.beginPath();
		c.rect(this.gutter, 0, this.width - this.gutter, height);
		c.clip();
		for (const [from, to] of this.gaps())
			this.hatch(this.x(from), Math.max(3, this.x(to) -
			    this.x(from)), height);
		const range = this.dragged || slice;
		if (range) {
			c.fillStyle = this.theme === "dark" ? "#8ab4f833" :
			    "#0b57d022";
			c.fillRect(this.x(range[0]), 0, Math.max(1,
			    this.x(range[1]) - this.x(range[0])), height);
		}
		c.fillStyle = this.theme === "dark" ? "#8ab4f8" : "#0b57d0";
		for (const [time, text] of this.head.marks) {
			const x = this.x(time);
			c.fillRect(x, 0, 1, height);
			c.fillText(text, x + 3, LANES_AXIS + LANE / 2);
		}
		c.restore();
	}

	/* When samples were lost or nothing was recorded. */
	gaps() {
		const gaps = this.head.lost.map(lost => [lost[0], lost[1]]);
		let paused = -1;
		for (const [time, on] of this.head.pauses) {
			if (on && paused < 0)
				paused = time;
			if (!on && paused >= 0) {
				gaps.push([paused, time]);
				paused = -1;
			}
		}
		if (paused >= 0)
			gaps.push([paused, this.whole[1]]);
		return gaps;
	}

	hatch(x, wide, height) {
		const {c} = this;
		c.save();
		c.beginPath();
		c.rect(x, 0, wide, height);
		c.clip();
		c.beginPath();
		const from = Math.max(x, this.gutter) - height;
		for (let at = from; at < Math.min(x + wide, this.width);
		    at += 6) {
			c.moveTo(at, height);
			c.lineTo(at + height, 0);
		}
		c.strokeStyle = this.theme === "dark" ? "#ffb4ab" : "#b3261e";
		c.lineWidth = 1.5;
		c.stroke();
		c.restore();
	}

	drawAxis() {
		const {c} = this, [from, to] = this.view;
		c.fillStyle = this.theme === "dark" ? "#14171c" : "#fff";
		c.fillRect(0, 0, this.width, LANES_AXIS);
		const room = (to - from) / (this.width - this.gutter) * 110;
		const power = 10 ** Math.floor(Math.log10(room));
		const step = Math.max(1, [1, 2, 5, 10].find(n => n * power >=
		    room) * power);
		c.fillStyle = this.theme === "dark" ? "#a2a9b6" : "#5b6270";
		const digits = Math.max(0, 9 - Math.floor(Math.log10(step) +
		    1e-9));
		for (let at = Math.ceil(from / step) * step; at < to;
		    at += step) {
			c.fillRect(this.x(at), LANES_AXIS - 5, 1, 5);
			c.fillText((at / 1e9).toFixed(digits) + " s",
			    this.x(at) + 3, LANES_AXIS / 2);
		}
	}

	/* -------------------------------------------------------- words */

	tell() {
		const {page, head} = this, {slice} = page.state;
		const range = this.snap(this.view), unit = head.unit_ns;
		const totals = this.totals(range);
		const words = page.data.events.map((event, i) => {
			const sum = totals[i], waits = sum.states[1] +
			    sum.states[2];
			return `${event.name} ${page.amountOf(event,
			    sum.weight)} in ${samples(sum.samples)}` +
			    (waits ? ` (blocked ${duration(sum.states[1])}, ` +
			    `runnable ${duration(sum.states[2])})` : "");
		});
		$("lanes-text").textContent = `In view: ` +
		    `${exactSeconds(range[0])} to ` +
		    `${exactSeconds(range[1])} s: ${words.join("; ")}.` +
		    (unit > 1 ? ` To hold all samples, this page rounds ` +
		    `times to ${duration(unit)}, and the time of each wait ` +
		    `in the graph of a range; these totals are exact.` : "");
		$("lanes-chosen").textContent = slice ? `Chosen: ` +
		    `${exactSeconds(slice[0])} to ${exactSeconds(slice[1])} ` +
		    `s, as --from ${slice[0]}ns --to ${slice[1]}ns.` :
		    "Drag to choose a time range.";
	}

	/* Colors are shown only where there are waits. */
	showKey() {
		const waits = this.lanes.some(lane => lane.waits);
		const colors = STATE_COLORS[this.theme];
		const keys = (waits ? STATES.map((name, i) => [name +
		    (i ? "" : ", or a wait too short to be recorded"),
		    colors[i]]) : []).concat([["sample", this.front]]);
		if (this.gaps().length)
			keys.push(["hatched: lost or paused", this.theme ===
			    "dark" ? "#ffb4ab" : "#b3261e"]);
		$("lanes-key").replaceChildren(...keys.map(([text, color]) => {
			const span = document.createElement("span");
			span.className = "key swatch";
			span.textContent = text;
			span.style.setProperty("--swatch", color);
			return span;
		}));
	}

	show() {
		if (!this.ready) {
			$("lanes-text").textContent = "Reading the samples.";
			this.load().then(() => this.page.render());
			return;
		}
		this.draw();
		this.showKey();
		this.tell();
	}

	/* -------------------------------------------------------- input */

	rowAt(y) {
		return y < LANES_AXIS ? undefined : this.rows[Math.floor((y -
		    LANES_AXIS + this.box.scrollTop) / LANE)];
	}

	listen() {
		const {box} = this;
		const at = e => {
			const to = box.getBoundingClientRect();
			return [e.clientX - to.left, e.clientY - to.top];
		};
		box.addEventListener("scroll", () => this.ready && this.draw());
		box.addEventListener("wheel", e => {
			if (!this.ready || e.altKey)
				return;
			e.preventDefault();
			if (e.shiftKey || Math.abs(e.deltaX) >
			    Math.abs(e.deltaY))
				this.pan((e.deltaX || e.deltaY) / 1000);
			else
				this.zoom(e.deltaY < 0 ? 0.8 : 1.25,
				    this.timeAt(at(e)[0]));
		}, {passive: false});
		this.canvas.addEventListener("pointerdown", e => {
			const [x, y] = at(e);
			if (!this.ready)
				return;
			if (x < this.gutter) {
				this.fold(this.rowAt(y));
				return;
			}
			this.canvas.setPointerCapture(e.pointerId);
			this.began = this.timeAt(x);
			this.dragged = [this.began, this.began];
		});
		this.canvas.addEventListener("pointermove", e => {
			if (!this.dragged)
				return;
			const time = this.timeAt(Math.max(at(e)[0],
			    this.gutter));
			this.dragged = [Math.min(this.began, time),
				Math.max(this.began, time)];
			this.draw();
		});
		this.canvas.addEventListener("pointerup", () => {
			const range = this.dragged;
			this.dragged = null;
			if (range)
				this.choose(range[0] < range[1] ? range : null);
		});
		box.addEventListener("keydown", e => this.key(e));
	}

	keys() {
		const {slice} = this.page.state;
		const scroll = rows => () => {
			this.box.scrollTop += rows * LANE;
		};
		return {
			ArrowLeft: () => this.pan(-0.2),
			ArrowRight: () => this.pan(0.2),
			ArrowUp: scroll(-1), ArrowDown: scroll(1),
			PageUp: scroll(-15), PageDown: scroll(15),
			"+": () => this.zoom(0.5), "=": () => this.zoom(0.5),
			"-": () => this.zoom(2),
			Home: () => this.look(...this.whole),
			Enter: () => this.choose([...this.view]),
			z: () => slice && this.look(...slice),
			p: () => this.foldAll(),
			Escape: () => {
				this.view = this.whole;
				this.choose(null);
			},
		};
	}

	key(event) {
		if (!this.ready || event.ctrlKey || event.altKey ||
		    event.metaKey)
			return;
		const run = this.keys()[event.key];
		if (!run)
			return;
		event.preventDefault();
		event.stopPropagation();
		run();
	}
}
