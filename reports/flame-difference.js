/* SPDX-License-Identifier: ISC */
/*
 * The differential graph: a flame graph of both sides' frames, of which the
 * recorded tree has what is new as weight and the base as the other weight,
 * both of one run.  Color says what differs, where chance does not explain
 * it; everything else is grey.  What just one side has is striped.
 *
 * A frame is as wide as what is new, and paths that are gone stand in their
 * place as wide as they were; or the other way round; or only what is gone.
 */
"use strict";

const COLORS = [
	["total-cost", "change of total cost"],
	["self-cost", "change of self cost"],
	["total-share", "change of total share"],
	["self-share", "change of self share"],
	["kind", "kernel, user, inlined"],
];
const SWATCHES = [-1, -0.5, 0.5, 1];

class DifferentialGraph extends FlameGraph {
	initial() {
		const cost = this.data.difference.claims ? "cost" : "share";
		return {...super.initial(), event: 0, other: -1,
			color: "total-" + cost};
	}

	choices(key) {
		return key === "color" ? COLORS.map(c => c[0]) :
		    super.choices(key);
	}

	describe() {
		super.describe();
		const {difference} = this.data;
		$("event").parentElement.hidden = true;
		$("side").parentElement.hidden = false;
		$("color").replaceChildren(...COLORS.map(([value, text]) => {
			const option = document.createElement("option");
			option.value = value;
			option.textContent = text;
			return option;
		}));
		$("notes").replaceChildren(...difference.notes.map(note => {
			const li = document.createElement("li");
			li.textContent = note;
			return li;
		}));
		$("notes").hidden = !difference.notes.length;
		const heads = {self: "Itself", total: "In all",
			samples: "New"};
		for (const id in heads)
			document.querySelector(`[data-sort=${id}]`)
			    .textContent = heads[id];
		this.graph.change = this;
	}

	listen() {
		super.listen();
		$("side").addEventListener("change", () =>
		    this.go({side: $("side").value, zoom: ""}));
	}

	keys() {
		const sides = super.choices("side");
		return {...super.keys(), b: () => this.go({zoom: "",
			side: sides[(sides.indexOf(this.state.side) + 1) %
			    sides.length]})};
	}

	/* ----------------------------------------------------- the trees */

	/* Sums over runs to what one run has. */
	record() {
		const tree = recordedTree(this.data, 0, 1, null);
		const {runs} = this.data.difference;
		for (let i = 0; i < tree.n; i++) {
			tree.self[i] /= runs[0];
			tree.other[i] /= runs[1];
		}
		tree.sum();
		this.byLabel = new Map(functionsOf(tree,
		    this.data.names.length).map(row => [row.label, row]));
		return tree;
	}

	get part() {
		return this.state.color.startsWith("self") ? "self" : "total";
	}

	get measure() {
		return this.state.color.endsWith("share") ? "share" : "cost";
	}

	orderOf() {
		return [this.state.order, this.state.side, this.measure].join();
	}

	/* The base to be seen beside what is new. */
	get scale() {
		return this.measure === "share" ? this.recorded.total[0] /
		    this.recorded.totalOther[0] : 1;
	}

	layOut(tree) {
		const width = new Float64Array(tree.n), {side} = this.state;
		for (let i = 0; i < tree.n; i++) {
			const only = this.only(tree, i);
			const base = tree.other[i] * this.scale;
			width[i] = side === "new" ? tree.self[i] +
			    (only === "base" ? base : 0) : side === "base" ?
			    base + (only === "new" ? tree.self[i] : 0) :
			    only === "base" ? base : 0;
		}
		for (let i = tree.n - 1; i > 0; i--)
			width[tree.parent[i]] += width[i];
		return tree.layOut(this.state.order, width);
	}

	/* The side that alone has a frame, or null. */
	only(tree, node) {
		return tree.total[node] && tree.totalOther[node] ? null :
		    tree.total[node] ? "new" : tree.totalOther[node] ?
		    "base" : null;
	}

	/* -------------------------------------------------- what differs */

	/* New and base of a frame. */
	sides(tree, node, part) {
		return part === "self" ? [tree.self[node], tree.other[node]] :
		    [tree.total[node], tree.totalOther[node]];
	}

	/* How much more, as a share of everything. */
	change([now, was], measure) {
		const {total, totalOther} = this.recorded;
		return measure === "cost" ? (now - was) / totalOther[0] :
		    now / total[0] - was / totalOther[0];
	}

	/*
	 * What the tests said of a frame, or of a function over all its
	 * frames: only where it still is what was tested.
	 */
	chance(tree, node, part, measure) {
		const {difference} = this.data, origin = originOf(tree, node);
		const sides = this.sides(tree, node, part);
		const near = (a, b) => Math.abs(a - b) <= 1e-9 *
		    Math.abs(a + b);
		const same = other => near(sides[0], other[0]) &&
		    near(sides[1], other[1]);
		if (origin >= 0 && same(this.sides(this.recorded, origin,
		    part)))
			return difference.node[measure][part][origin];
		return this.chanceOf(tree.label[node], same, measure);
	}

	chanceOf(label, same, measure) {
		const of = this.data.difference.label[measure];
		const row = this.byLabel.get(label);
		return !row ? NaN : same([row.total, row.totalOther]) ?
		    of.total[label] : same([row.self, row.other]) ?
		    of.self[label] : NaN;
	}

	/* Of what readChances gives. */
	differs(chance) {
		return chance % 2 === 1;
	}

	/* The largest change that colors show. */
	get most() {
		const key = [this.base, this.part, this.measure].join();
		if (this.mostOf === key)
			return this.largest;
		const {main, part, measure} = this;
		this.mostOf = key;
		this.largest = 0;
		for (let i = 0; i < main.n; i++) {
			const change = this.change(this.sides(main, i, part),
			    measure);
			if (Math.abs(change) > this.largest && this.differs(
			    this.chance(main, i, part, measure)))
				this.largest = Math.abs(change);
		}
		return this.largest;
	}

	/* ------------------------------------------------------- colors */

	/* From blue at -1 to red at 1. */
	shade(way, only) {
		const {dark} = this.graph, much = Math.min(Math.abs(way), 1);
		const hue = only === "new" ? 42 : only === "base" ? 268 :
		    way > 0 ? 8 : 214;
		return `hsl(${hue},${Math.round(35 + 55 * much)}%,` +
		    `${Math.round(only === "base" ? 76 : dark ? 70 - 8 * much :
		    86 - 22 * much)}%)`;
	}

	grey() {
		return this.graph.dark ? "#8b919c" : "#d3d6db";
	}

	/* Of a frame; null: by its kind. */
	color(tree, node) {
		const {part, measure, most} = this;
		if (this.state.color === "kind")
			return null;
		const change = this.change(this.sides(tree, node, part),
		    measure);
		if (!this.differs(this.chance(tree, node, part, measure)))
			return this.grey();
		return this.shade(most ? change / most : 0, this.only(tree,
		    node));
	}

	showLegend() {
		if (this.state.color === "kind") {
			super.showLegend();
			return;
		}
		const {most} = this, {claims} = this.data.difference;
		const all = this.measure === "cost" ?
		    this.recorded.totalOther[0] : this.recorded.total[0];
		const items = (most ? SWATCHES : []).map(way => ["swatch",
			this.points(way * most) + ", " +
			this.signed(way * most * all) + " a run",
			this.shade(way)]);
		items.splice(most ? 2 : 0, 0, ["swatch", claims ?
		    "not significant" : "the difference is within sampling noise",
		    this.grey()]);
		this.showKeys([...items,
		    ["only", "only new", this.shade(1, "new")],
		    ["only", "gone", this.shade(1, "base")]]);
	}

	/* --------------------------------------------------------- words */

	amount(weight) {
		return weight ? super.amount(weight) : "0";
	}

	signed(weight) {
		return (weight < 0 ? "\u2212" : "+") +
		    this.amount(Math.abs(weight));
	}

	points(change) {
		const much = Math.abs(100 * change);
		return (change < 0 ? "\u2212" : "+") + much.toFixed(much &&
		    much < 0.1 ? 3 : 2) + " points";
	}

	shareOf(weight, side) {
		return this.percent(weight, side ? this.recorded.totalOther[0] :
		    this.recorded.total[0]);
	}

	/* "1.00 s -> 1.20 s a run: +0.20 s", and the same as shares. */
	both([now, was]) {
		return `${this.amount(was)} \u2192 ${this.amount(now)} a run` +
		    ` (${this.signed(now - was)}), ${this.shareOf(was, 1)} ` +
		    `\u2192 ${this.shareOf(now, 0)} (` +
		    `${this.points(this.change([now, was], "share"))})`;
	}

	verdict(chance) {
		const p = Math.floor(chance / 2) / 10000;
		if (Number.isNaN(chance))
			return "not tested";
		if (!this.data.difference.claims)
			return "not tested; " + (this.differs(chance) ?
			    "the difference exceeds sampling noise" :
			    "the difference is within sampling noise");
		return (this.differs(chance) ? "differs" :
		    "not significant") + (p < 0.0001 ?
		    ", p < 0.0001" : ", p = " + p.toFixed(4));
	}

	lines(place) {
		const {data} = this, {tree} = place.panel, i = place.node;
		const label = tree.label[i], only = this.only(tree, i);
		const out = [this.moduleOf(label) + (data.kinds[label] &
		    KIND_INLINED ? " (inlined)" : "")];
		if (only)
			out.push(only === "new" ?
			    "new: this frame is not in the base" :
			    "gone: only the base has this frame");
		for (const part of ["total", "self"]) {
			const sides = this.sides(tree, i, part);
			if (!sides[0] && !sides[1])
				continue;
			out.push((part === "self" ? "self: " : "total: ") +
			    this.both(sides));
			for (const measure of ["cost", "share"])
				out.push(`\u2003by ${measure}: ` +
				    this.verdict(this.chance(tree, i, part,
				    measure)));
		}
		return out.filter(line => line);
	}

	foundShare(found) {
		return `${this.shareOf(found.other, 1)} \u2192 ` +
		    this.shareOf(found.weight, 0);
	}

	showTools() {
		super.showTools();
		$("side").value = this.state.side;
	}

	showStatus() {
		const {main, measure, part} = this, {last} = this.graph;
		let differing = 0;
		for (let i = 0; i < main.n; i++)
			differing += this.differs(this.chance(main, i, part,
			    measure));
		$("status").textContent = `in all: ` +
		    `${this.both([main.total[0], main.totalOther[0]])}; ` +
		    `${number(main.n)} frames, ${number(differing)} ` +
		    `in color; functions with ${this.data.difference.share / 100}% or ` +
		    `more were tested; ${number(last.narrow)} frames are ` +
		    `narrower than a pixel`;
	}

	/* --------------------------------------------------------- table */

	rank(row, key) {
		const {measure} = this;
		return key === "samples" ? row.total : Math.abs(this.change(
		    key === "self" ? [row.self, row.other] : [row.total,
		    row.totalOther], measure));
	}

	cellsOf(row) {
		const {measure} = this;
		const cell = sides => {
			const change = this.change(sides, measure);
			const same = other => other[0] === sides[0] &&
			    other[1] === sides[1];
			return (this.differs(this.chanceOf(row.label, same,
			    measure)) ? "* " : "") +
			    this.points(change).replace(" points", "");
		};
		return [cell([row.self, row.other]), cell([row.total,
			row.totalOther]), this.shareOf(row.total, 0)];
	}
}
