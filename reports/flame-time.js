/* SPDX-License-Identifier: ISC */
/*
 * When the samples were: a heat map whose columns are seconds and whose rows
 * are parts of a second, so that what repeats within a second shows as a
 * pattern; or when calls or spans ended, whose rows are how long they took.
 * Dragging, or the two fields above it, choose a range of time.
 */
"use strict";

const AXIS = 16;	/* height of the time axis, in pixels */

class HeatMap {
	constructor(data, canvas, choose) {
		this.data = data;
		this.canvas = canvas;
		this.choose = choose;
		this.dragged = null;
		this.show(null);
		canvas.addEventListener("pointerdown", e => this.begin(e));
		canvas.addEventListener("pointermove", e => this.move(e));
		canvas.addEventListener("pointerup", e => this.end(e));
	}

	/* Of a part of data.latency; null: samples. */
	show(latency) {
		const {data} = this;
		const cell = data.cell_ns / 1e9;
		const span = data.ncells * cell;
		this.latency = latency;
		/* A short recording would be but a few columns. */
		this.rows = latency ? latency.rows_ns.length - 1 : Math.max(1,
		    Math.round((span >= 20 ? 1 : span >= 4 ? 0.2 : 0.1) /
		    cell));
		this.columns = latency ? latency.columns :
		    Math.ceil(data.ncells / this.rows);
		/* Where the first column begins, and how long one is. */
		this.begin_ns = (latency || data).begin_ns;
		this.column_ns = latency ? latency.cell_ns :
		    this.rows * data.cell_ns;
		/* As wide as the page, within what a canvas can be. */
		const room = document.documentElement.clientWidth - 40;
		this.width = Math.max(1, Math.min(Math.floor(30000 /
		    this.columns), Math.max(latency ? 1 : 8,
		    Math.floor(room / this.columns))));
		this.height = this.rows > 20 ? latency ? 5 : 3 :
		    this.rows > 5 ? 7 : 12;
		this.sum = null;
	}

	/* In seconds from the start of the recording, as --from and --to. */
	seconds(cell) {
		return (this.data.begin_ns + cell * this.data.cell_ns) / 1e9;
	}

	/* Column, and row from below. */
	placeAt(event) {
		const box = this.canvas.getBoundingClientRect();
		const x = Math.floor((event.clientX - box.left) / this.width);
		const y = Math.floor((event.clientY - box.top) / this.height);
		return [Math.min(Math.max(x, 0), this.columns - 1),
			this.rows - 1 - Math.min(Math.max(y, 0),
			    this.rows - 1)];
	}

	/* The first and last cell of samples there. */
	cellsAt(event) {
		const [x, row] = this.placeAt(event), {data} = this;
		const within = cell => Math.min(Math.max(cell, 0),
		    data.ncells - 1);
		if (!this.latency)
			return [within(x * this.rows + row),
				within(x * this.rows + row)];
		const cell = column => (this.begin_ns + column *
		    this.column_ns - data.begin_ns) / data.cell_ns;
		return [within(Math.floor(cell(x))),
			within(Math.ceil(cell(x + 1)) - 1)];
	}

	begin(event) {
		this.canvas.setPointerCapture(event.pointerId);
		this.dragged = [this.cellsAt(event), this.cellsAt(event)];
	}

	move(event) {
		this.tell(event);
		if (!this.dragged)
			return;
		this.dragged[1] = this.cellsAt(event);
		this.draw(this.event, this.draggedRange());
	}

	/* How many took how long, where the mouse is. */
	tell(event) {
		const {latency} = this;
		this.canvas.title = "";
		if (!latency)
			return;
		const [x, row] = this.placeAt(event);
		const count = this.sums(this.event)[x * this.rows + row];
		this.canvas.title = `${count} of ${latency.name} took ` +
		    `${duration(latency.rows_ns[row])} to ` +
		    duration(latency.rows_ns[row + 1]);
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
		return [Math.min(a[0], b[0]), Math.max(a[1], b[1]) + 1];
	}

	/* By cell: how much of an event. */
	sums(event) {
		if (this.event === event && this.sum)
			return this.sum;
		const {latency} = this, cells = this.data.cells;
		const sum = new Float64Array(latency ? this.columns *
		    this.rows : this.data.ncells);
		for (let i = 0; !latency && i < cells.n; i++)
			if (cells.event[i] === event)
				sum[cells.time[i]] += cells.weight[i];
		for (let i = 0; latency && i < latency.cells.length; i += 3)
			sum[latency.cells[i] * this.rows +
			    latency.cells[i + 1]] += latency.cells[i + 2];
		this.event = event;
		this.sum = sum;
		return sum;
	}

	/* Is a cell within the cells of samples that are chosen? */
	isChosen(i, range) {
		if (!range)
			return true;
		if (!this.latency)
			return i >= range[0] && i < range[1];
		const from = this.begin_ns + Math.floor(i / this.rows) *
		    this.column_ns;
		return from + this.column_ns > this.seconds(range[0]) * 1e9 &&
		    from < this.seconds(range[1]) * 1e9;
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
		const empty = dark ? "#20242c" : "#eef0f3";
		/* Most cells of durations are empty. */
		c.fillStyle = empty;
		for (let x = 0; this.latency && x < this.columns; x++) {
			c.globalAlpha = this.isChosen(x * this.rows, range) ?
			    1 : 0.25;
			c.fillRect(x * this.width, 0, this.width -
			    (this.width > 3), this.rows * this.height);
		}
		for (let i = 0; i < sum.length; i++) {
			if (this.latency && sum[i] === 0)
				continue;
			const share = Math.sqrt(sum[i] / most);
			c.globalAlpha = this.isChosen(i, range) ? 1 : 0.25;
			c.fillStyle = sum[i] === 0 ? empty : dark ?
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
		const seconds = this.columns * this.column_ns / 1e9;
		const room = seconds * 70 / (this.columns * this.width);
		const power = 10 ** Math.floor(Math.log10(room));
		const step = [1, 2, 5, 10].find(n => n * power >= room) *
		    power;
		const begin = this.begin_ns / 1e9, y = this.rows * this.height;
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
		const every = Math.ceil(28 / this.height);
		for (let row = 0; this.latency && row < this.rows;
		    row += every)
			c.fillText(duration(this.latency.rows_ns[row]), 2,
			    (this.rows - row) * this.height);
	}
}
