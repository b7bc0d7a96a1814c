/* SPDX-License-Identifier: ISC */
/*
 * The graph on its canvas, which is as large as what one sees and never
 * larger: scrolling draws again.  One panel holds a tree; around a function
 * there are two, callers above and callees below it.  Frames that are
 * narrower than a pixel are drawn together, and counted.
 */
"use strict";

const ROW = 19, FONT = "12px system-ui, -apple-system, 'Segoe UI', " +
    "'DejaVu Sans', sans-serif";

class Panel {
	constructor(tree, up, shared) {
		this.tree = tree;
		this.up = up;
		this.skip = shared ? 1 : 0;	/* the other draws the root */
		this.zoom(0);
	}

	zoom(node) {
		this.node = node;
		this.x = this.tree.left[node];
		this.width = this.tree.width[node] || 1;
	}

	get rows() {
		return this.tree.levels.length - this.skip;
	}
}

class Graph {
	constructor(data, scroller, canvas, spacer) {
		this.data = data;
		this.scroller = scroller;
		this.canvas = canvas;
		this.spacer = spacer;
		this.c = canvas.getContext("2d");
		this.panels = [];
		this.widths = new Map();
		this.focus = this.hover = null;
		this.match = null;
	}

	/* ------------------------------------------------------ places */

	get rows() {
		return this.panels.reduce((n, panel) => n + panel.rows, 0);
	}

	/* The row of a panel's level, from the top. */
	rowOf(panel, depth) {
		const above = panel === this.panels[0] ? 0 :
		    this.panels[0].rows;
		return above + (panel.up ? panel.tree.levels.length - 1 -
		    depth : depth - panel.skip);
	}

	find(x, y) {
		const row = Math.floor((y + this.scroller.scrollTop) / ROW);
		let first = 0;
		for (const panel of this.panels) {
			if (row >= first && row < first + panel.rows) {
				const depth = panel.up ?
				    panel.tree.levels.length - 1 -
				    (row - first) : row - first + panel.skip;
				const node = panel.tree.at(depth, panel.x +
				    x * panel.width / this.width);
				return node < 0 ? null : {panel, node};
			}
			first += panel.rows;
		}
		return null;
	}

	boxOf(panel, node) {
		const scale = this.width / panel.width, tree = panel.tree;
		const x = (tree.left[node] - panel.x) * scale;
		const end = x + tree.width[node] * scale;
		return {
			x: Math.max(x, 0),
			y: this.rowOf(panel, tree.depth[node]) * ROW,
			width: Math.min(end, this.width) - Math.max(x, 0),
		};
	}

	/* Also makes room; called when the window or the trees change. */
	resize() {
		const ratio = window.devicePixelRatio || 1;
		/* What stands below the graph is part of the page, too. */
		const graph = this.scroller.getBoundingClientRect();
		const under = document.body.getBoundingClientRect().bottom -
		    graph.bottom;
		const room = Math.max(8 * ROW, window.innerHeight -
		    graph.top - window.scrollY - under);
		const all = this.rows * ROW;
		/* What is seen at the root stays when the room changes. */
		const below = this.below || 0;
		this.height = Math.min(all, Math.floor(room));
		this.scroller.style.height = this.height + "px";
		this.width = this.scroller.clientWidth;
		this.spacer.style.height = all - this.height + "px";
		this.canvas.width = Math.round(this.width * ratio);
		this.canvas.height = Math.round(this.height * ratio);
		this.canvas.style.width = this.width + "px";
		this.canvas.style.height = this.height + "px";
		if (this.panels.length === 1 && this.panels[0].up)
			this.scroller.scrollTop = all - this.height - below;
		this.ratio = ratio;
	}

	/* Where the root is, unless a frame far from it was asked for. */
	show(panel, node) {
		const y = this.rowOf(panel, panel.tree.depth[node]) * ROW;
		const top = this.scroller.scrollTop;
		if (y < top || y + ROW > top + this.height)
			this.scroller.scrollTop = y - (panel.up ?
			    this.height - 3 * ROW : 2 * ROW);
	}

	/* ------------------------------------------------------ color */

	/* Hue, fullness and lightness of a label. */
	colorOf(label) {
		const {data} = this, kind = data.kinds[label];
		const hash = data.hashes[label];
		const isFunction = (kind & 7) === KIND_FUNCTION ||
		    (kind & 7) === KIND_LINE;
		let hue = 22 + hash % 30, full = 88;
		const frame = FRAME_NAMES[kind >> KIND_FRAME_SHIFT];
		if (!isFunction || kind & KIND_UNNAMED || frame === "boundary")
			full = isFunction && kind & KIND_UNNAMED ? 20 : 5;
		else if (this.color === "module")
			hue = hashText(data.modules[data.moduleOf[label]]) %
			    36 * 10;
		else if (this.color === "name")
			hue = hash % 360;
		else if (frame)
			hue = FRAME_HUES[kind >> KIND_FRAME_SHIFT] + hash % 24;
		else if (kind & KIND_KERNEL)
			hue = 200 + hash % 24;
		else if (kind & KIND_INLINED)
			hue = 130 + hash % 30;
		if (this.color !== "kind" && full > 20)
			full = 62;
		const light = (this.dark ? 58 : 70) + (hash >>> 9) % 9;
		return `hsl(${hue},${full}%,${light}%)`;
	}

	/* States and reasons that all of a frame's samples have. */
	statesOf(tree, node) {
		const {data} = this, names = [];
		for (; node >= 0; node = tree.parent[node])
			if (data.kinds[tree.label[node]] & KIND_STATE)
				names.unshift(data.names[tree.label[node]]);
		return names;
	}

	/* By the last of them that has a hue; grey: there are several. */
	stateColor(tree, node) {
		const {data} = this, hash = data.hashes[tree.label[node]];
		const light = (this.dark ? 58 : 70) + (hash >>> 9) % 9;
		const hue = this.statesOf(tree, node).map(name =>
		    data.hues.get(name)).filter(known => known).pop();
		return `hsl(${hue || 0},${hue ? 85 : 0}%,${light}%)`;
	}

	/* Red above the ratio of everything, blue below, grey around it. */
	ratioColor(tree, node) {
		const other = tree.totalOther[node];
		const all = this.whole.total / (this.whole.other || 1);
		let way = other ? Math.log2(tree.total[node] / other / all) /
		    2 : 1;
		way = Math.max(-1, Math.min(1, way));
		const hue = way > 0 ? 12 : 214, most = Math.abs(way);
		const light = this.dark ? 66 : 86 - 22 * most;
		return `hsl(${hue},${Math.round(90 * most)}%,` +
		    `${Math.round(light)}%)`;
	}

	fill(panel, node) {
		const label = panel.tree.label[node];
		if (this.isMatch(panel.tree, node))
			return "#d63ad6";
		if (this.isRatio)
			return this.ratioColor(panel.tree, node);
		if (this.color === "state")
			return this.stateColor(panel.tree, node);
		const changed = this.change &&
		    this.change.color(panel.tree, node);
		return changed || this.palette[label] ||
		    (this.palette[label] = this.colorOf(label));
	}

	/* ------------------------------------------------------ drawing */

	/* Calls put(panel, node, x, y, width, frames) for each box in sight. */
	boxes(top, bottom, put) {
		const result = {drawn: 0, narrow: 0};
		for (const panel of this.panels)
			for (let d = panel.skip; d < panel.tree.levels.length;
			    d++) {
				const y = this.rowOf(panel, d) * ROW;
				if (y + ROW > top && y < bottom)
					this.levelBoxes(panel, d, y, put,
					    result);
			}
		return result;
	}

	levelBoxes(panel, depth, y, put, result) {
		const {tree} = panel, {left} = tree;
		const level = tree.levels[depth];
		const scale = this.width / panel.width;
		const end = panel.x + panel.width;
		let filled = 0, run = -1, from = 0;
		const finish = () => {
			if (run >= 0)
				put(panel, run, from, y, filled - from, true);
			run = -1;
		};
		for (let k = tree.firstAfter(depth, panel.x); k < level.length;
		    k++) {
			const i = level[k];
			if (left[i] >= end)
				break;
			const width = tree.width[i] * scale;
			const x = Math.max((left[i] - panel.x) * scale, filled);
			if (width >= 1) {
				finish();
				filled = Math.max(x + 1, Math.min(this.width,
				    (left[i] + tree.width[i] - panel.x) * scale));
				put(panel, i, x, y, filled - x, false);
				result.drawn++;
				continue;
			}
			if (run >= 0 && (x > filled + 0.5 ||
			    this.isMatch(tree, run) !== this.isMatch(tree, i)))
				finish();
			if (run < 0) {
				run = i;
				from = x;
			}
			filled = x + 1;
			const next = this.skip(tree, level, k,
			    panel.x + filled / scale);
			result.narrow += next - k;
			k = next - 1;
		}
		finish();
	}

	isMatch(tree, node) {
		return this.match ? this.match[tree.label[node]] : 0;
	}

	/* The first after k that ends to the right of x, which is near. */
	skip(tree, level, k, x) {
		const {left, width} = tree;
		const isLeft = at => left[level[at]] + width[level[at]] <= x;
		let low = k + 1, step = 1;
		while (low + step < level.length && isLeft(low + step)) {
			low += step;
			step *= 2;
		}
		let high = Math.min(low + step, level.length);
		while (low < high) {
			const middle = (low + high) >> 1;
			if (isLeft(middle))
				low = middle + 1;
			else
				high = middle;
		}
		return low;
	}

	draw() {
		const {c} = this, top = this.scroller.scrollTop;
		this.below = this.rows * ROW - this.height - top;
		if (!this.height || !this.panels.length)
			return;
		c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
		c.clearRect(0, 0, this.width, this.height);
		c.translate(0, -top);
		c.font = FONT;
		c.textBaseline = "middle";
		this.last = this.boxes(top, top + this.height,
		    (panel, node, x, y, width, narrow) => {
			const above = this.isAbove(panel, node);
			c.globalAlpha = above ? 0.45 : 1;
			c.fillStyle = !narrow ? this.fill(panel, node) :
			    this.isMatch(panel.tree, node) ? "#d63ad6" :
			    this.dark ? "#5b616e" : "#b9bec8";
			c.fillRect(x, y, width > 2 ? width - 0.6 : width,
			    ROW - 1);
			c.globalAlpha = 1;
			if (this.change && !narrow && this.change.only(
			    panel.tree, node))
				this.hatch(x, y, width);
			if (width > 24 && !narrow)
				this.caption(panel, node, x, y, width, above);
		});
		if (this.hover)
			this.outline(this.hover, this.dark ? "#fff" : "#333");
		if (this.focus)
			this.outline(this.focus, "#0b57d0");
	}

	/* Stripes over what just one side has. */
	hatch(x, y, width) {
		const {c} = this;
		c.save();
		c.beginPath();
		c.rect(x, y, width, ROW - 1);
		c.clip();
		c.strokeStyle = this.dark ? "#0006" : "#fff9";
		c.lineWidth = 2;
		c.beginPath();
		for (let at = x - x % 8 - ROW; at < x + width; at += 8) {
			c.moveTo(at, y + ROW);
			c.lineTo(at + ROW, y);
		}
		c.stroke();
		c.restore();
	}

	isAbove(panel, node) {
		return panel.tree.depth[node] < panel.tree.depth[panel.node];
	}

	caption(panel, node, x, y, width, above) {
		const {c} = this, label = panel.tree.label[node];
		const text = this.fit(this.data.names[label], width - 8);
		c.fillStyle = above && this.dark ? "#ddd" :
		    this.match && this.match[label] ? "#fff" : "#111";
		c.fillText(text, x + 4, y + ROW / 2);
	}

	outline(place, color) {
		const {c} = this, box = this.boxOf(place.panel, place.node);
		if (box.width <= 0)
			return;
		c.strokeStyle = color;
		c.lineWidth = 2;
		c.strokeRect(box.x + 1, box.y + 1, Math.max(box.width - 2, 1),
		    ROW - 3);
	}

	/* As much of a name as fits: C++ without what is in <> and () first. */
	fit(name, room) {
		if (this.measure(name) <= room)
			return name;
		const short = shortName(name);
		if (this.measure(short) <= room)
			return short;
		let n = Math.max(1, Math.floor(room / 6.2));
		while (n > 1 && this.measure(short.slice(0, n)) + 10 > room)
			n -= Math.max(1, n >> 4);
		return short.slice(0, n) + "\u2026";
	}

	measure(text) {
		if (text.length > 400)
			return 1e6;
		let width = this.widths.get(text);
		if (width === undefined) {
			width = this.c.measureText(text).width;
			if (this.widths.size > 20000)
				this.widths.clear();
			this.widths.set(text, width);
		}
		return width;
	}

	/* --------------------------------------------------------- SVG */

	/* The view as it is, all rows. */
	svg(title, lines) {
		const stripes = this.change ? `<defs><pattern id="only" ` +
		    `width="8" height="8" patternUnits="userSpaceOnUse" ` +
		    `patternTransform="rotate(45)"><rect width="2" ` +
		    `height="8" fill="#fff" fill-opacity="0.6"/></pattern>` +
		    `</defs>\n` : "";
		const height = this.rows * ROW, out = [];
		const head = 24 + 16 * lines.length;
		out.push(`<svg xmlns="http://www.w3.org/2000/svg" width="` +
		    `${this.width}" height="${height + head}" ` +
		    `font-family="sans-serif" font-size="12">\n<title>` +
		    `${escapeXml(title)}</title>\n<rect width="100%" ` +
		    `height="100%" fill="${this.dark ? "#14171c" : "#fff"}"/>${stripes}`);
		[title, ...lines].forEach((line, i) => out.push(`<text x="4" ` +
		    `y="${16 + 16 * i}" fill="${this.dark ? "#eee" : "#111"}"` +
		    `>${escapeXml(line)}</text>`));
		this.boxes(0, height, (panel, node, x, y, width, narrow) => {
			const label = panel.tree.label[node];
			const name = narrow ? "frames narrower than a pixel" :
			    this.data.names[label];
			const fill = narrow ? "#b9bec8" :
			    this.fill(panel, node);
			out.push(`<g><title>${escapeXml(name.slice(0, 300))}` +
			    `</title><rect x="${x.toFixed(1)}" ` +
			    `y="${y + head}" width="${width.toFixed(1)}" ` +
			    `height="${ROW - 1}" fill="${fill}"/>` +
			    (narrow || !this.change || !this.change.only(
			    panel.tree, node) ? "" : `<rect x="` +
			    `${x.toFixed(1)}" y="${y + head}" width="` +
			    `${width.toFixed(1)}" height="${ROW - 1}" ` +
			    `fill="url(#only)"/>`) +
			    (width <= 24 || narrow ? "" : `<text x="${(x + 4).toFixed(1)}"` +
			    ` y="${y + head + 13}">` +
			    escapeXml(this.fit(name, width - 8)) +
			    `</text>`) + `</g>`);
		});
		return out.join("\n") + "\n</svg>\n";
	}
}

/* A name without template arguments, parameters and unnamed namespaces. */
function shortName(name) {
	let depth = 0, text = "";
	for (const c of name.slice(0, 4000)
	    .replaceAll("(anonymous namespace)::", "")) {
		if (c === "<" || c === "(")
			depth++;
		else if ((c === ">" || c === ")") && depth > 0)
			depth--;
		else if (depth === 0)
			text += c;
	}
	return text.trim() || name.slice(0, 400);
}

function escapeXml(text) {
	return text.replace(/[&<>"']/g, c => `&#${c.charCodeAt(0)};`)
	    .replace(/[\u0000-\u001f\u007f-\u009f\ufffe\uffff]/g, "\ufffd");
}
