/* SPDX-License-Identifier: ISC */
/*
 * What is shown: the state, which is also the link.  Every change goes
 * through go(): state, then the address, then a new picture; so Back, a link
 * and a click are the same.  What keys and clicks ask for is in flame.js.
 */
"use strict";

const $ = id => document.getElementById(id);
const number = n => String(Math.round(n));

const samples = n => number(n) + (n === 1 ? " sample" : " samples");

/* Flags, words and lists of the state, by their name in the address. */
const FLAGS = {r: "recursion", i: "flip", l: "list", h: "heat", a: "case",
	g: "threads"};
const LISTS = {k: "keep", x: "drop", y: "fold"};
const CHOICES = {
	view: ["tree", "reverse", "around"],
	order: ["name", "total", "self"],
	color: ["kind", "module", "name"],
	side: ["new", "base", "gone"],
};
/* Letters of these in the address. */
const CHOSEN = [["v", "view"], ["s", "order"], ["c", "color"], ["w", "side"]];
const MAX_FILTERS = 30;

class Page {
	constructor(data) {
		this.data = data;
		this.graph = new Graph(data, $("graph"), $("canvas"),
		    $("spacer"));
		this.list = new FunctionList(this, $("functions"), $("rows"),
		    $("functions-text"));
		if (data.cell_ns && data.ncells > 1)
			this.heat = new HeatMap(data, $("heat-map"), range =>
			    this.go({range, slice: null, zoom: "",
				focus: null}));
		if (data.timeline)
			this.timeline = new Timeline(this, data.timeline);
		this.state = this.initial();
	}

	initial() {
		return {event: 0, other: this.data.ratio ? 1 : -1, view: "tree",
			around: "", order: "total", side: "new", zoom: "",
			color: this.data.hasStates ? "state" : "kind",
			search: "", case: false, range: null, keep: [],
			drop: [], fold: [], recursion: false,
			flip: this.data.reverse, list: false, heat: false,
			threads: false, slice: null};
	}

	choices(key) {
		return key === "color" && this.data.hasStates ?
		    ["state", ...CHOICES[key]] : CHOICES[key];
	}

	/* --------------------------------------------------- the address */

	address() {
		const {state} = this, start = this.initial(), out = [];
		const put = (name, value) => out.push(name + "=" +
		    encodeURIComponent(value));
		if (state.event !== start.event || state.other !== start.other)
			put("e", state.event +
			    (state.other < 0 ? "" : "/" + state.other));
		for (const [name, key] of [...CHOSEN, ["f", "around"],
		    ["z", "zoom"], ["q", "search"]])
			if (state[key] !== start[key])
				put(name, state[key]);
		for (const name in FLAGS)
			if (state[FLAGS[name]] !== start[FLAGS[name]])
				put(name, state[FLAGS[name]] ? 1 : 0);
		for (const name in LISTS)
			for (const text of state[LISTS[name]])
				put(name, text);
		if (state.range)
			put("t", state.range.join("-"));
		if (state.slice)
			put("n", state.slice.join("-"));
		return "#" + out.join("&");
	}

	fromAddress() {
		const given = new URLSearchParams(location.hash.slice(1));
		const state = this.initial(), {data} = this;
		const word = (name, key) => {
			if (given.has(name))
				state[key] = given.get(name);
		};
		word("f", "around");
		word("z", "zoom");
		word("q", "search");
		for (const [name, key] of CHOSEN)
			if (this.choices(key).includes(given.get(name)))
				state[key] = given.get(name);
		for (const name in FLAGS)
			if (given.has(name))
				state[FLAGS[name]] = given.get(name) === "1";
		for (const name in LISTS)
			state[LISTS[name]] = given.getAll(name)
			    .slice(0, MAX_FILTERS / 2);
		const event = /^(\d+)(?:\/(\d+))?$/.exec(given.get("e") || "");
		if (event && data.events[event[1]] &&
		    (!event[2] || data.events[event[2]])) {
			state.event = Number(event[1]);
			state.other = event[2] ? Number(event[2]) : -1;
		}
		const range = /^(\d+)-(\d+)$/.exec(given.get("t") || "");
		if (range && Number(range[1]) < Number(range[2]))
			state.range = [Number(range[1]), Number(range[2])];
		const slice = /^(\d+)-(\d+)$/.exec(given.get("n") || "");
		if (this.timeline && slice && Number(slice[1]) <
		    Number(slice[2]))
			state.slice = this.timeline.snap([Number(slice[1]),
				Number(slice[2])]);
		this.state = state;
		this.render();
	}

	/* A step that Back takes back; the last search replaces the one before. */
	go(change, replace) {
		Object.assign(this.state, change);
		const address = this.address();
		try {
			const {step = 0} = history.state || {};
			if (replace)
				history.replaceState({step}, "", address);
			else if (address !== (location.hash || "#"))
				history.pushState({step: step + 1}, "", address);
		} catch {
			location.hash = address;	/* renders once more */
		}
		this.render();
	}

	/* ------------------------------------------------------- trees */

	/* By label, whether it matches; null: the pattern cannot be read. */
	labelsOf(text) {
		const {data} = this, sensitive = this.state.case;
		const scoped = /^(module|kind):(.*)$/.exec(text);
		const of = scoped ? scoped[2] : text;
		let test = name => name.includes(of);
		if (/^\/.+\/$/.test(of)) {
			let regex;
			try {
				regex = new RegExp(of.slice(1, -1),
				    sensitive ? "" : "i");
			} catch {
				return null;
			}
			test = name => regex.test(name);
		} else if (!sensitive) {
			const lower = of.toLowerCase();
			test = name => name.toLowerCase().includes(lower);
		}
		if (!scoped)
			return Uint8Array.from(data.names, (name, i) =>
			    test(name) || data.places[i] &&
			    test(data.places[i]) ? 1 : 0);
		if (scoped[1] === "kind")
			return Uint8Array.from(data.kinds, kind =>
			    test(kindName(kind)) ? 1 : 0);
		const modules = data.modules.map(test);
		return Uint8Array.from(data.moduleOf, m => modules[m] ? 1 : 0);
	}

	/* What is made of what; each only when its ground has changed. */
	build() {
		const {state, data} = this;
		const masks = list => list.map(text => this.labelsOf(text))
		    .filter(labels => labels);
		const base = JSON.stringify([state.event, state.other,
			state.range, state.slice, this.isSliced(), state.keep, state.drop, state.fold,
			state.recursion, state.case]);
		if (base !== this.base) {
			this.base = base;
			this.recorded = this.record();
			this.main = foldedTree(filteredTree(this.recorded,
			    masks(state.keep), masks(state.drop)),
			    masks(state.fold), state.recursion);
			this.order = this.functions = this.shape = null;
		}
		if (this.order !== this.orderOf()) {
			this.order = this.orderOf();
			this.layOut(this.main);
			this.shape = null;
		}
		const shape = state.view + " " + state.around + " " + state.flip;
		if (shape === this.shape)
			return;
		this.shape = shape;
		this.graph.panels = this.makePanels();
		this.graph.focus = this.graph.hover = this.place = null;
		this.moved = true;
	}

	/* A range of nanoseconds, once the samples are read. */
	isSliced() {
		const {state, timeline} = this;
		if (state.slice && !timeline.ready)
			timeline.load().then(() => this.render());
		return state.slice !== null && timeline.ready;
	}

	record() {
		const {state} = this;
		if (this.isSliced())
			return slicedTree(this.data, this.timeline, state.event,
			    state.other, state.slice);
		return recordedTree(this.data, state.event, state.other,
		    state.range);
	}

	/* What places depend on. */
	orderOf() {
		return this.state.order;
	}

	layOut(tree) {
		return tree.layOut(this.state.order);
	}

	makePanels() {
		const {state, main} = this;
		const label = state.view === "around" ?
		    this.data.ids.findIndex(id => id.toString(36) ===
		    state.around) : -1;
		if (label >= 0) {
			const trees = aroundTrees(main, label);
			return [new Panel(this.layOut(trees.callers), true,
			    true), new Panel(this.layOut(trees.callees),
			    false, false)];
		}
		const tree = state.view === "reverse" ?
		    this.layOut(reversedTree(main)) : main;
		return [new Panel(tree, (state.view === "reverse") ===
		    state.flip, false)];
	}

	/* ------------------------------------------------------ picture */

	render() {
		const {state, graph} = this, began = performance.now();
		this.build();
		const {total, other} = {total: this.main.total[0],
			other: this.main.totalOther[0]};
		graph.whole = {total, other};
		graph.isRatio = state.other >= 0;
		graph.color = state.color;
		graph.palette = [];
		this.applyZoom();
		this.applySearch();
		this.showTools();
		this.showCrumbs();
		this.showHeat();
		this.showTimeline();
		this.makeRoom();
		graph.resize();
		if (this.moved || this.zoomed) {
			const panel = graph.panels.find(p => p.node) ||
			    graph.panels[graph.panels.length - 1];
			if (this.moved)
				graph.scroller.scrollTop = graph.panels.length >
				    1 ? graph.panels[0].rows * ROW -
				    graph.height / 2 : panel.up ? 1e9 : 0;
			graph.show(panel, panel.node);
			this.moved = this.zoomed = false;
		}
		graph.draw();
		this.showList();
		this.showStatus();
		/* What is said below the graph may have become longer. */
		if (document.documentElement.scrollHeight > innerHeight) {
			graph.resize();
			graph.draw();
		}
		this.took = performance.now() - began;
	}

	nodeName(tree, node) {
		return this.data.ids[tree.label[node]].toString(36);
	}

	/* The place of a frame by the names on its path. */
	zoomOf(panel, node) {
		const index = this.graph.panels.indexOf(panel);
		return node === 0 ? "" : (index ? index + "~" : "") +
		    panel.tree.path(node).slice(1).map(i =>
		    this.nodeName(panel.tree, i)).join(".");
	}

	applyZoom() {
		const {graph, state} = this;
		if (state.zoom === this.zoomedTo && !this.moved)
			return;
		this.zoomedTo = state.zoom;
		this.zoomed = true;
		graph.panels.forEach(panel => panel.zoom(0));
		if (!state.zoom)
			return;
		const [, index, names] = /^(?:(\d)~)?(.*)$/.exec(state.zoom);
		const panel = graph.panels[Number(index || 0)];
		let node = 0;
		for (const name of panel ? names.split(".") : []) {
			const next = panel.tree.children(node).find(i =>
			    this.nodeName(panel.tree, i) === name);
			if (next === undefined)
				break;
			node = next;
		}
		if (panel)
			panel.zoom(node);
	}

	applySearch() {
		const {state, main, graph} = this, out = $("matched");
		const labels = state.search ? this.labelsOf(state.search) : null;
		const isBad = state.search !== "" && !labels;
		$("search").setAttribute("aria-invalid", isBad);
		graph.match = labels;
		$("found").hidden = !labels;
		if (!labels) {
			out.textContent = isBad ? "not a pattern" : "";
			return;
		}
		const found = matchedOf(main, labels);
		this.found = found;
		out.textContent = `${this.foundShare(found)} in ` +
		    `${number(found.frames)} frame${found.frames === 1 ? "" : "s"}`;
	}

	foundShare(found) {
		return this.share(found.weight);
	}

	percent(part, all) {
		const share = all ? 100 * part / all : 0;
		return share.toFixed(share && share < 0.1 ? 3 : 2) + "%";
	}

	share(weight) {
		return this.percent(weight, this.main.total[0]);
	}

	/* A row of the table of functions: what it says, and its rank. */
	cellsOf(row) {
		return [this.share(row.self), this.share(row.total),
			number(row.samples)];
	}

	rank(row, key) {
		return row[key];
	}

	moduleOf(label) {
		return this.data.modules[this.data.moduleOf[label]];
	}

	/* A weight in the unit of the event. */
	amount(weight) {
		return this.amountOf(this.data.events[this.state.event],
		    weight);
	}

	amountOf({unit}, weight) {
		const part = /^(0[.]0*1) (.*)$/.exec(unit);
		if (part !== null)
			return +(weight * part[1]).toFixed(part[1].length -
			    2) + " " + part[2];
		return unit === "ns" ? duration(weight) :
		    number(weight) + " " + unit;
	}

	/* Where a share lies, at 95% (Wilson), by the samples behind it. */
	interval(part) {
		const event = this.data.events[this.state.event];
		const all = this.main.total[0], share = part / all;
		const n = event.effective * this.main.totalSamples[0] /
		    event.samples, z = 1.959964;
		if (!(n > 0))
			return "";
		const middle = (share + z * z / (2 * n)) / (1 + z * z / n);
		const half = z / (1 + z * z / n) * Math.sqrt(share *
		    (1 - share) / n + z * z / (4 * n * n));
		return this.percent(Math.max(0, middle - half), 1) + " to " +
		    this.percent(Math.min(1, middle + half), 1);
	}

	around(label) {
		this.go({view: "around", zoom: "",
			around: this.data.ids[label].toString(36)});
	}
}

function duration(ns) {
	const much = Math.abs(ns);
	const [scale, name] = much >= 1e9 ? [1e9, "s"] :
	    much >= 1e6 ? [1e6, "ms"] : [1e3, "\u00b5s"];
	return (ns / scale).toFixed(2) + "\u202f" + name;
}

function kindName(kind) {
	if (kind & KIND_STATE)
		return "state";
	const names = ["all", "", "thread", "pid", "tid", "cpu", "cut", ""];
	if ((kind & 7) !== KIND_FUNCTION && (kind & 7) !== KIND_LINE)
		return names[kind & 7];
	return kind & KIND_UNNAMED ? "unnamed" :
	    FRAME_NAMES[kind >> KIND_FRAME_SHIFT] ||
	    (kind & KIND_KERNEL ? "kernel" :
	    kind & KIND_INLINED ? "inlined" : "user");
}
