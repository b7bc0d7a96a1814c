/* SPDX-License-Identifier: ISC */
/*
 * Threads in time: a lane a thread, below its process.  Bars are states, ticks
 * are samples; what was lost is hatched.  Dragging, or the keys, choose a
 * range of time, to the nanosecond, and the graph and the table show it.
 */
"use strict";

const LANE = 16, LANES_AXIS = 18, LANES_HEIGHT = 340, COARSE = 8192;
const STATE_COLORS = {
	light: ["#4caf7d", "#c9c3dd", "#f0a63a"],
	dark: ["#3d9367", "#5d5780", "#b97a1c"],
};

/* Whole numbers of nanoseconds, as seconds. */
function exactSeconds(ns) {
	const text = String(Math.round(ns)).padStart(10, "0");
	return `${text.slice(0, -9)}.${text.slice(-9)}`;
}

class Timeline extends ThreadSamples {
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
		const ratio = window.devicePixelRatio || 1;
		box.style.height = height + "px";
		$("lanes-room").style.height = all - height + "px";
		canvas.width = this.width * ratio;
		canvas.height = height * ratio;
		canvas.style.width = this.width + "px";
		canvas.style.height = height + "px";
		this.theme = document.documentElement.dataset.theme === "dark" ?
		    "dark" : "light";
		const c = this.c = canvas.getContext("2d");
		c.scale(ratio, ratio);
		c.font = "11px system-ui, sans-serif";
		c.textBaseline = "middle";
		const first = Math.floor(box.scrollTop / LANE);
		const rows = this.rows.slice(first, first +
		    Math.ceil(height / LANE) + 1);
		rows.forEach((row, i) => this.drawRow(row, LANES_AXIS +
		    (first + i) * LANE - box.scrollTop));
		this.drawOver(height);
		this.drawAxis();
		this.took = performance.now() - began;
	}

	get front() {
		return this.theme === "dark" ? "#e8eaed" : "#1b1e24";
	}

	drawRow(row, y) {
		const {c} = this;
		c.save();
		c.beginPath();
		c.rect(this.gutter, y, this.width - this.gutter, LANE - 1);
		c.clip();
		c.fillStyle = this.theme === "dark" ? "#20242c" : "#f4f5f7";
		c.fillRect(this.gutter, y, this.width, LANE - 1);
		if (row.lane)
			this.drawLane(row.lane, y);
		else
			this.drawGroup(row, y);
		c.restore();
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

	/* Narrow bars of one state that touch are drawn as one. */
	drawLane(lane, y) {
		const {c, time, ended, weight, state} = this;
		const colors = STATE_COLORS[this.theme], [from, to] = this.view;
		const ticks = [];
		let last = -1;
		if (lane.waits) {
			c.fillStyle = colors[0];
			c.fillRect(this.x(lane.from), y + 2, this.x(lane.to) -
			    this.x(lane.from), LANE - 5);
		}
		for (let i = this.firstAt(lane, from); i < lane.end; i++) {
			const begin = state[i] ? ended[i] - weight[i] : time[i];
			/* A wait that is in view may have ended later. */
			if (begin >= to && (state[i] || !lane.waits))
				break;
			const x = this.x(begin);
			if (!state[i]) {
				if (begin < to && Math.floor(x) !== last)
					ticks.push(last = Math.floor(x));
				continue;
			}
			c.fillStyle = colors[state[i]];
			c.fillRect(x, y + 2, Math.max(this.x(ended[i]) - x,
			    0.5), LANE - 5);
		}
		c.fillStyle = this.front;
		for (const x of ticks)
			c.fillRect(x, y + (lane.waits ? LANE / 2 : 3), 1,
			    lane.waits ? LANE / 2 - 2 : LANE - 7);
	}

	/*
	 * How many threads of a process are in which state, by pixel.  All
	 * times are summed once, in COARSE parts: a view of many samples is
	 * drawn from these.
	 */
	sumsOf(row, wide) {
		const [from, to] = this.view, [first, last] = this.whole;
		const part = (last - first) / COARSE, pixel = (to - from) /
		    wide;
		if (pixel < part)
			return this.sum(row.lanes, this.view, wide);
		if (!row.lanes.coarse)
			row.lanes.coarse = this.sum(row.lanes, this.whole,
			    COARSE);
		const {levels, counts} = row.lanes.coarse;
		const at = x => Math.min(COARSE, Math.floor((from + x * pixel -
		    first) / part));
		const resample = (values, each) => {
			const by = new Float64Array(wide);
			for (let x = 0; x < wide; x++) {
				const begin = at(x), end = at(x + 1);
				for (let i = begin; i < end; i++)
					by[x] += values[i];
				by[x] /= each ? Math.max(1, end - begin) : 1;
			}
			return by;
		};
		return {levels: levels.map(level => resample(level, true)),
			counts: resample(counts, false)};
	}

	sum(lanes, range, wide) {
		const levels = STATES.map(() => new Float64Array(wide + 1));
		const counts = new Float64Array(wide);
		for (const lane of lanes)
			this.addLane(lane, {levels, counts, range, wide});
		for (const level of levels)
			for (let x = 1; x < wide; x++)
				level[x] += level[x - 1];
		return {levels, counts};
	}

	drawGroup(row, y) {
		const wide = Math.max(1, Math.floor(this.width - this.gutter));
		const {levels, counts} = this.sumsOf(row, wide);
		const {c} = this, colors = STATE_COLORS[this.theme];
		const most = counts.reduce((a, b) => Math.max(a, b), 0) || 1;
		const high = LANE - 3, bottom = y + 1 + high;
		/* All of them, then those that are not blocked, then running. */
		const area = (state, of) => {
			c.fillStyle = colors[state];
			c.beginPath();
			c.moveTo(this.gutter, bottom);
			for (let x = 0; x < wide; x++)
				c.lineTo(this.gutter + x, bottom - of(x) /
				    row.lanes.length * high);
			c.lineTo(this.gutter + wide, bottom);
			c.fill();
		};
		area(1, x => levels[0][x]);
		area(2, x => levels[0][x] - levels[1][x]);
		area(0, x => Math.max(0, levels[0][x] - levels[1][x] -
		    levels[2][x]));
		c.fillStyle = this.front;
		c.beginPath();
		for (let x = 0; x < wide; x++) {
			const tick = counts[x] && Math.max(1, counts[x] /
			    most * high / 2);
			if (tick)
				c.rect(this.gutter + x, bottom - tick, 1, tick);
		}
		c.fill();
	}

	/*
	 * By part of a range, differences: of how many threads there are, are
	 * blocked, are runnable; and samples.
	 */
	addLane(lane, {levels, counts, range, wide}) {
		const {time, ended, weight, state} = this;
		const [from, to] = range, scale = wide / (to - from);
		const add = (sum, begin, end) => {
			const a = Math.max(0, (begin - from) * scale);
			const b = Math.min(wide, (end - from) * scale);
			if (a >= b)
				return;
			/* Partly in the first part, and in the last. */
			const i = Math.floor(a), k = Math.floor(b);
			sum[i] += i + 1 - a;
			sum[i + 1] += a - i;
			if (k < wide) {
				sum[k] -= k + 1 - b;
				sum[k + 1] -= b - k;
			}
		};
		if (lane.waits)
			add(levels[0], lane.from, lane.to);
		for (let i = this.firstAt(lane, from); i < lane.end; i++) {
			if (!state[i]) {
				if (time[i] < to)
					counts[Math.floor((time[i] - from) *
					    scale)]++;
				else if (!lane.waits)
					break;
				continue;
			}
			const begin = ended[i] - weight[i];
			if (begin >= to)
				break;
			add(levels[state[i]], begin, ended[i]);
		}
	}

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
