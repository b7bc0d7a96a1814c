/* SPDX-License-Identifier: ISC */
/*
 * When the samples were: a heat map whose columns are seconds and whose rows
 * are parts of a second, so that what repeats within a second shows as a
 * pattern.  Dragging, or the two fields above it, choose a range of time.
 */
"use strict";

const AXIS = 16;	/* height of the time axis, in pixels */

class HeatMap {
	constructor(data, canvas, choose) {
		this.data = data;
		this.canvas = canvas;
		this.choose = choose;
		const cell = data.cell_ns / 1e9;
		const span = data.ncells * cell;
		/* A short recording would be but a few columns. */
		this.rows = Math.max(1, Math.round((span >= 20 ? 1 :
		    span >= 4 ? 0.2 : 0.1) / cell));
		this.columns = Math.ceil(data.ncells / this.rows);
		/* As wide as the page, within what a canvas can be. */
		const room = document.documentElement.clientWidth - 40;
		this.width = Math.max(1, Math.min(Math.floor(30000 /
		    this.columns), Math.max(8, Math.floor(room /
		    this.columns))));
		this.height = this.rows > 20 ? 3 : this.rows > 5 ? 7 : 12;
		this.dragged = null;
		canvas.addEventListener("pointerdown", e => this.begin(e));
		canvas.addEventListener("pointermove", e => this.move(e));
		canvas.addEventListener("pointerup", e => this.end(e));
	}

	/* In seconds from the start of the recording, as --from and --to. */
	seconds(cell) {
		return (this.data.begin_ns + cell * this.data.cell_ns) / 1e9;
	}

	cellAt(event) {
		const box = this.canvas.getBoundingClientRect();
		const x = Math.floor((event.clientX - box.left) / this.width);
		const y = Math.floor((event.clientY - box.top) / this.height);
		const row = this.rows - 1 - Math.min(Math.max(y, 0),
		    this.rows - 1);
		return Math.min(Math.max(x * this.rows + row, 0),
		    this.data.ncells - 1);
	}

	begin(event) {
		this.canvas.setPointerCapture(event.pointerId);
		this.dragged = [this.cellAt(event), this.cellAt(event)];
	}

	move(event) {
		if (!this.dragged)
			return;
		this.dragged[1] = this.cellAt(event);
		this.draw(this.event, this.draggedRange());
	}

	end(event) {
		if (!this.dragged)
			return;
		this.move(event);
		const range = this.draggedRange();
		this.dragged = null;
		this.choose(range);
	}

	draggedRange() {
		const [a, b] = this.dragged;
		return [Math.min(a, b), Math.max(a, b) + 1];
	}

	/* By cell: how much of an event. */
	sums(event) {
		if (this.event === event && this.sum)
			return this.sum;
		const sum = new Float64Array(this.data.ncells);
		const cells = this.data.cells;
		for (let i = 0; i < cells.n; i++)
			if (cells.event[i] === event)
				sum[cells.time[i]] += cells.weight[i];
		this.event = event;
		this.sum = sum;
		return sum;
	}

	draw(event, range) {
		const sum = this.sums(event), canvas = this.canvas;
		const ratio = Math.min(window.devicePixelRatio || 1,
		    32000 / (this.columns * this.width));
		const most = sum.reduce((a, b) => Math.max(a, b), 0) || 1;
		const dark = document.documentElement.dataset.theme === "dark";
		canvas.width = this.columns * this.width * ratio;
		canvas.height = (this.rows * this.height + AXIS) * ratio;
		canvas.style.width = this.columns * this.width + "px";
		canvas.style.height = this.rows * this.height + AXIS + "px";
		const c = canvas.getContext("2d");
		c.scale(ratio, ratio);
		for (let i = 0; i < sum.length; i++) {
			const share = Math.sqrt(sum[i] / most);
			const inside = !range || i >= range[0] && i < range[1];
			c.globalAlpha = inside ? 1 : 0.25;
			c.fillStyle = sum[i] === 0 ? dark ? "#20242c" :
			    "#eef0f3" : dark ?
			    `hsl(${55 - 40 * share},90%,${22 + 48 * share}%)` :
			    `hsl(${45 - 40 * share},95%,${88 - 48 * share}%)`;
			c.fillRect(Math.floor(i / this.rows) * this.width,
			    (this.rows - 1 - i % this.rows) * this.height,
			    this.width - (this.width > 3), this.height - 1);
		}
		this.drawAxis(c, dark);
	}

	/* Seconds below the columns, as many as there is room for. */
	drawAxis(c, dark) {
		const seconds = this.columns * this.rows *
		    this.data.cell_ns / 1e9;
		const room = seconds * 70 / (this.columns * this.width);
		const power = 10 ** Math.floor(Math.log10(room));
		const step = [1, 2, 5, 10].find(n => n * power >= room) *
		    power;
		const begin = this.seconds(0), y = this.rows * this.height;
		c.globalAlpha = 1;
		c.fillStyle = dark ? "#a2a9b6" : "#5b6270";
		c.font = "11px system-ui, sans-serif";
		c.textBaseline = "bottom";
		for (let at = Math.ceil(begin / step) * step;
		    at < begin + seconds; at += step) {
			const x = (at - begin) / seconds * this.columns *
			    this.width;
			c.fillRect(x, y, 1, 4);
			c.fillText(`${Number(at.toPrecision(12))} s`, x + 3,
			    y + AXIS);
		}
	}
}
