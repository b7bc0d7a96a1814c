/* SPDX-License-Identifier: ISC */
/*
 * The page alive: keys, clicks and menus, tooltips, and the parts around the
 * graph.
 */
"use strict";

const KEYS = [
	["click, Enter", "enlarge a frame"],
	["Escape, 0", "reset the view"],
	["u, Back", "undo the last step"],
	["/", "search; n and N go to the next and previous match"],
	["k, x, f", "show only, hide, or fold matching frames"],
	["v, Shift and click", "show callers and callees of a function"],
	["arrows", "move from frame to frame"],
	["w a s d, Ctrl and wheel", "zoom in, move left, zoom out, move right"],
	["i", "turn the graph upside down"],
	["r", "merge recursive calls"],
	["o", "reverse the graph: hot functions at the root"],
	["t, h", "show or hide the table or the heat map"],
	["l", "switch between light and dark"],
	["g", "timeline of threads; in it + and - zoom, arrows move, Enter " +
	    "chooses the visible time, z zooms to it, p folds processes"],
	["c", "copy the name"],
];
const MAX_TIP = 400;

class FlameGraph extends Page {
	constructor(data) {
		super(data);
		this.describe();
		this.listen();
		this.setTheme(this.storedTheme());
		this.fromAddress();
	}

	/* --------------------------------------------- what stays as it is */

	describe() {
		const {data} = this;
		document.title = data.title + " - dtprof";
		$("color").options[0].hidden = !data.hasStates;
		$("title").textContent = $("title").title = data.title;
		const rates = data.events.filter(e => e.period || e.frequency)
		    .map(e => [e.name, e.period ? `every ` +
		    `${number(e.period)} ${e.unit}` : `at ${e.frequency} Hz`]);
		for (const [name, value] of data.facts.concat(rates)) {
			const dt = document.createElement("dt");
			const dd = document.createElement("dd");
			dt.textContent = name;
			dd.textContent = value;
			$("facts").append(dt, dd);
		}
		for (const [name, value] of KEYS) {
			const dt = document.createElement("dt");
			const dd = document.createElement("dd");
			dt.textContent = name;
			dd.textContent = value;
			$("key-list").append(dt, dd);
		}
		const option = (value, text) => {
			const element = document.createElement("option");
			element.value = value;
			element.textContent = text;
			$("event").append(element);
		};
		data.events.forEach((event, i) => option(i, event.name));
		const some = data.events.slice(0, 6);
		some.forEach((a, i) => some.forEach((b, k) => {
			if (i !== k)
				option(i + "/" + k, `${a.name} per ${b.name}`);
		}));
		if (data.reverse)
			$("view").options[0].textContent =
			    "reversed: hot functions at the root";
		if (data.reverse)
			$("view").options[1].textContent = "all calls";
		$("times").hidden = !this.heat;
		$("threads").hidden = !this.timeline;
		(data.latency || []).forEach((latency, i) => {
			const choice = document.createElement("option");
			choice.value = i;
			choice.textContent = "latency of " + latency.name;
			$("heat-of").append(choice);
		});
		$("heat-choice").hidden = !data.latency;
	}

	storedTheme() {
		try {
			const stored = localStorage.getItem("dtprof-theme");
			if (stored === "dark" || stored === "light")
				return stored;
		} catch {
			/* no storage for files: the system's choice it is */
		}
		return matchMedia("(prefers-color-scheme: dark)").matches ?
		    "dark" : "light";
	}

	setTheme(theme) {
		document.documentElement.dataset.theme = theme;
		this.graph.dark = theme === "dark";
		$("theme").textContent = theme === "dark" ? "Light" : "Dark";
	}

	otherTheme() {
		const theme = this.graph.dark ? "light" : "dark";
		this.setTheme(theme);
		try {
			localStorage.setItem("dtprof-theme", theme);
		} catch {
			/* then it lasts as long as the page */
		}
		this.render();
	}

	/* ------------------------------------------------ around the graph */

	showTools() {
		const {state, data} = this, event = data.events[state.event];
		$("quality").textContent = event ?
		    event.quality.join("\n") : "there are no samples";
		$("quality").hidden = !!event && event.quality.length === 0;
		$("quality").classList.toggle("bad", !event || event.bad);
		$("event").value = state.event +
		    (state.other < 0 ? "" : "/" + state.other);
		if ($("view").options.length > 2)
			$("view").options[2].remove();
		if (state.view === "around") {
			const label = this.graph.panels.length > 1 ?
			    this.graph.panels[1].tree.label[0] : 0;
			const option = document.createElement("option");
			option.value = "around";
			option.textContent = "around " +
			    shortName(data.names[label]).slice(0, 40);
			$("view").append(option);
		}
		$("view").value = state.view;
		$("order").value = state.order;
		$("color").value = state.color;
		$("case").checked = state.case;
		if (document.activeElement !== $("search"))
			$("search").value = state.search;
		for (const [id, key] of [["flip", "flip"],
		    ["recursion", "recursion"], ["times", "heat"],
		    ["threads", "threads"], ["table", "list"]])
			$(id).setAttribute("aria-pressed", state[key]);
		$("back").disabled = !(history.state && history.state.step);
		this.showFilters();
		this.showLegend();
	}

	showFilters() {
		const {state} = this, out = $("filters"), words = {keep:
			"only stacks with ", drop: "without stacks with ",
			fold: "folded: "};
		out.replaceChildren();
		for (const key of Object.keys(words))
			state[key].forEach((text, i) => {
				const button = document.createElement("button");
				button.textContent = words[key] + text +
				    " \u00d7";
				button.title = "remove this filter";
				button.addEventListener("click", () => this.go({
					[key]: state[key].filter((_, k) =>
					    k !== i)}));
				out.append(button);
			});
		out.hidden = !out.firstChild;
	}

	/* Kinds and texts of what the frames are colored by. */
	colorKeys() {
		const {state, data} = this;
		if (state.other >= 0)
			return [["high", "more " +
				data.events[state.event].name + " per " +
				data.events[state.other].name +
				" than on average"], ["low", "less"],
			    ["average", "as on average"]];
		if (state.color === "state")
			return [...new Set(data.hues.values())].map(hue =>
			    ["swatch", [...data.hues.keys()].filter(name =>
			    data.hues.get(name) === hue).join(", "),
			    `hsl(${hue},85%,72%)`])
			    .concat([["group", "several states"]]);
		const known = state.color === "kind" ? [["user", "user"],
		    ["kernel", "kernel"], ["inlined", "inlined"],
		    ...this.frameKeys()] :
		    [["each", "colored by " + state.color]];
		return [...known, ["unnamed", "unresolved address"],
		    ["group", "process, thread"]];
	}

	/* Those of scripts, where there are any. */
	frameKeys() {
		const {kinds} = this.data;
		return Object.keys(FRAME_HUES).filter(frame => kinds.some(
		    kind => kind >> KIND_FRAME_SHIFT === Number(frame)))
		    .map(frame => [FRAME_NAMES[frame], FRAME_NAMES[frame]]);
	}

	/* A color and what it says; after them those that all views have. */
	showKeys(keys) {
		if (this.graph.match)
			keys.push(["match", "found by the search"]);
		keys.push(["narrow", "merged frames, each narrower than a pixel"]);
		$("legend").replaceChildren(...keys.map(([kind, text, color]) => {
			const span = document.createElement("span");
			span.className = "key " + kind;
			span.textContent = text;
			if (color)
				span.style.setProperty("--swatch", color);
			return span;
		}));
	}

	showLegend() {
		this.showKeys(this.colorKeys());
	}

	showHeat() {
		const {state, heat} = this;
		$("heat").hidden = !state.heat || !heat;
		if ($("heat").hidden)
			return;
		heat.draw(state.event, state.range);
		const [from, to] = state.range || [0, this.data.ncells];
		$("from").value = heat.seconds(from).toFixed(3);
		$("to").value = heat.seconds(to).toFixed(3);
		const column = heat.column_ns / 1e9, {latency} = heat;
		$("heat-more").textContent = !latency ? "more samples" :
		    latency.name.startsWith("span:") ? "more spans" :
		    latency.name.startsWith("off-cpu") ? "more waits" :
		    "more calls";
		$("heat-text").textContent = (state.range ? "Chosen: " +
		    this.amount(this.recorded.total[0]) + " in " +
		    samples(this.recorded.totalSamples[0]) + "." :
		    "Drag to choose a time range.") + " A column is " +
		    `${column} s, ` + (latency ? `durations upwards: ` +
		    `${number(latency.count)}, ${number(latency.lost)} lost.` :
		    "upwards.");
	}

	showTimeline() {
		const {state, timeline} = this;
		$("timeline").hidden = !state.threads || !timeline;
		$("lanes-to").disabled = !state.slice;
		if (!$("timeline").hidden)
			timeline.show();
	}

	/* Beside the graph or below it, before the graph takes its place. */
	makeRoom() {
		$("functions").hidden = !this.state.list;
		document.body.classList.toggle("with-list", this.state.list);
	}

	showList() {
		const {state, main} = this;
		if (!state.list)
			return;
		if (!this.functions)
			this.functions = functionsOf(main,
			    this.data.names.length);
		$("functions").style.maxHeight = Math.max(this.graph.height,
		    300) + "px";
		this.list.show(this.functions, this.graph.match);
	}

	showCrumbs() {
		const out = $("crumbs"), {panels} = this.graph;
		const panel = panels.find(p => p.node) || panels[0];
		const path = panel.node ? panel.tree.path(panel.node) : [];
		const shown = path.length > 9 ? [path[0], ...path.slice(-8)] :
		    path;
		out.replaceChildren(...shown.map(node => {
			const li = document.createElement("li");
			const button = document.createElement("button");
			const label = panel.tree.label[node];
			button.textContent = shortName(
			    this.data.names[label]).slice(0, 60);
			button.addEventListener("click", () =>
			    this.zoomTo(panel, node));
			li.append(button);
			return li;
		}));
		out.hidden = shown.length === 0;
	}

	showStatus() {
		const {main} = this, {last} = this.graph;
		$("status").textContent = main.total[0] ?
		    `${this.amount(main.total[0])} in ` +
		    `${samples(main.totalSamples[0])}; ` +
		    `${number(main.n)} frames, ${last.narrow ?
		    number(last.narrow) + " of those" : "none"} in sight ` +
		    "narrower than a pixel" :
		    "There are no samples here.";
	}

	/* --------------------------------------------------------- frames */

	/*
	 * this.place is the frame that was pointed at last, by mouse or keys:
	 * what copying and looking around are about.
	 */

	zoomTo(panel, node) {
		this.go({zoom: this.zoomOf(panel, node)});
	}

	/* A larger or smaller part, around a place from 0 to 1. */
	magnify(panel, factor, at) {
		const all = panel.tree.width[0];
		const width = Math.min(all, panel.width * factor);
		panel.x = Math.max(0, Math.min(all - width, panel.x +
		    (panel.width - width) * at));
		panel.width = width;
		this.graph.draw();
	}

	pan(panel, by) {
		panel.x = Math.max(0, Math.min(panel.tree.width[0] -
		    panel.width, panel.x + by * panel.width));
		this.graph.draw();
	}

	lines(place) {
		const {data, main} = this, {tree, node: shown} = place.panel;
		const i = place.node, label = tree.label[i], out = [];
		const up = tree.parent[i];
		out.push(data.places[label], this.moduleOf(label) +
		    (data.kinds[label] & KIND_INLINED ? " (inlined)" : ""));
		out.push(this.graph.statesOf(tree, up).join(": "));
		out.push(`${this.amount(tree.total[i])}, ` +
		    samples(tree.totalSamples[i]));
		out.push(`${this.share(tree.total[i])} of all (95%: ` +
		    `${this.interval(tree.total[i])})`);
		if (up > 0)
			out.push(this.percent(tree.total[i], tree.total[up]) +
			    " of its caller");
		if (shown)
			out.push(this.percent(tree.total[i],
			    tree.total[shown]) + " of the enlarged frame");
		out.push(`self: ${this.amount(tree.self[i])}, ` +
		    this.share(tree.self[i]));
		if (this.graph.isRatio)
			out.push(`${(tree.total[i] / (tree.totalOther[i] ||
			    NaN)).toPrecision(3)} per ` +
			    `${data.events[this.state.other].name}; overall ` +
			    (main.total[0] / main.totalOther[0])
			    .toPrecision(3));
		return out.filter(line => line);
	}

	tip(place, x, y) {
		const tip = $("tip");
		tip.hidden = !place;
		if (!place)
			return;
		const name = this.data.names[place.panel.tree.label[place.node]];
		const title = document.createElement("b");
		title.textContent = name.length <= MAX_TIP ? name :
		    `${name.slice(0, MAX_TIP)}\u2026 (${name.length} ` +
		    `characters; press c to copy the name)`;
		tip.replaceChildren(title, ...this.lines(place).map(line => {
			const div = document.createElement("div");
			div.textContent = line;
			return div;
		}));
		const box = tip.getBoundingClientRect();
		tip.style.left = Math.max(4, Math.min(x + 12,
		    innerWidth - box.width - 8)) + "px";
		tip.style.top = Math.max(4, y + 18 + box.height > innerHeight ?
		    y - box.height - 10 : y + 18) + "px";
	}

	setFocus(place) {
		const {graph} = this;
		graph.focus = this.place = place;
		graph.show(place.panel, place.node);
		graph.draw();
		const name = this.data.names[place.panel.tree.label[place.node]];
		$("live").textContent = [name.slice(0, MAX_TIP),
			...this.lines(place)].join(", ");
		const box = graph.boxOf(place.panel, place.node);
		const at = graph.scroller.getBoundingClientRect();
		this.tip(place, at.left + box.x + Math.min(box.width / 2, 80),
		    at.top + box.y - graph.scroller.scrollTop);
	}

	/* To caller, callee or sibling; outwards is away from the root. */
	step(key) {
		const {graph} = this;
		const place = graph.focus;
		if (!place) {
			const panel = graph.panels[graph.panels.length - 1];
			this.setFocus({panel, node: panel.node});
			return;
		}
		const {panel, node} = place, {tree} = panel;
		let next = -1;
		if (key === "ArrowLeft" || key === "ArrowRight") {
			const level = tree.levels[tree.depth[node]];
			const k = level.indexOf(node) +
			    (key === "ArrowLeft" ? -1 : 1);
			next = k >= 0 && k < level.length ? level[k] : -1;
		} else if ((key === "ArrowUp") === panel.up) {
			next = tree.children(node).reduce((a, b) => a < 0 ||
			    tree.width[b] > tree.width[a] ? b : a, -1);
		} else {
			next = tree.parent[node];
		}
		if (next >= 0)
			this.setFocus({panel, node: next});
	}

	/* The next frame that matches, from the heaviest to the lightest. */
	nextMatch(by) {
		const {graph} = this, {match} = graph;
		if (!match)
			return;
		const places = [];
		for (const panel of graph.panels)
			for (const level of panel.tree.levels)
				for (const node of level)
					if (match[panel.tree.label[node]])
						places.push({panel, node});
		if (!places.length)
			return;
		const weight = place => place.panel.tree.total[place.node];
		places.sort((a, b) => weight(b) - weight(a));
		const focus = graph.focus ? places.findIndex(p =>
		    p.panel === graph.focus.panel &&
		    p.node === graph.focus.node) : -1;
		const now = focus < 0 && by < 0 ? 0 : focus;
		this.setFocus(places[(now + by + places.length) %
		    places.length]);
	}

	copy() {
		const {place} = this;
		if (!place)
			return;
		const text = this.data.names[place.panel.tree.label[place.node]];
		const done = () => {
			$("live").textContent = "copied";
			$("status").textContent = "copied: " +
			    text.slice(0, 200);
		};
		if (navigator.clipboard)
			navigator.clipboard.writeText(text).then(done, () => {
				$("status").textContent = "the browser " +
				    "forbids copying";
			});
	}

	save() {
		const event = this.data.events[this.state.event];
		const text = this.graph.svg(this.data.title, [event.name,
			...event.quality]);
		const link = document.createElement("a");
		link.href = URL.createObjectURL(new Blob([text],
		    {type: "image/svg+xml"}));
		link.download = "flame.svg";
		link.click();
		setTimeout(() => URL.revokeObjectURL(link.href), 1000);
	}

	/* ------------------------------------------------------- commands */

	addFilter(key) {
		const {state} = this;
		if (!this.graph.match || state[key].length >= MAX_FILTERS / 2)
			return;
		this.go({[key]: state[key].concat(state.search), search: "",
			zoom: ""});
	}

	aroundFrame() {
		const {place} = this;
		if (place && place.panel.tree.label[place.node])
			this.around(place.panel.tree.label[place.node]);
	}

	reset() {
		$("search").value = "";
		this.graph.focus = this.place = null;
		this.go({...this.initial(), event: this.state.event,
			other: this.state.other, color: this.state.color,
			list: this.state.list, heat: this.state.heat,
			threads: this.state.threads});
		this.tip(null);
	}

	typeRange() {
		const {data} = this, cell = text => Math.round((Number(text) *
		    1e9 - data.begin_ns) / data.cell_ns);
		const from = Math.max(0, cell($("from").value));
		const to = Math.min(data.ncells, cell($("to").value));
		if (from < to)
			this.go({range: from === 0 && to === data.ncells ? null :
			    [from, to], slice: null, zoom: ""});
	}

	toggle(key) {
		this.go({[key]: !this.state[key], ...key === "recursion" ?
		    {zoom: ""} : {}});
	}

	/* ---------------------------------------------------------- input */

	listen() {
		const click = (id, run) => $(id).addEventListener("click", run);
		click("reset", () => this.reset());
		click("back", () => history.back());
		click("flip", () => this.toggle("flip"));
		click("recursion", () => this.toggle("recursion"));
		click("times", () => this.toggle("heat"));
		click("table", () => this.toggle("list"));
		click("threads", () => this.toggle("threads"));
		this.listenToTimeline();
		click("theme", () => this.otherTheme());
		click("save", () => this.save());
		click("help", () => $("keys").showModal());
		click("next", () => this.nextMatch(1));
		click("previous", () => this.nextMatch(-1));
		click("keep", () => this.addFilter("keep"));
		click("drop", () => this.addFilter("drop"));
		click("fold", () => this.addFilter("fold"));
		click("all-times", () => this.go({range: null,
			slice: null, zoom: ""}));
		const change = (id, run) => $(id).addEventListener("change",
		    () => run($(id)));
		change("heat-of", e => {
			this.heat.show(e.value < 0 ? null :
			    this.data.latency[e.value]);
			this.showHeat();
		});
		change("event", e => {
			const [event, other] = e.value.split("/").map(Number);
			this.go({event, other: other === undefined ? -1 :
			    other});
		});
		change("view", e => this.go({view: e.value, zoom: ""}));
		change("order", e => this.go({order: e.value}));
		change("color", e => this.go({color: e.value}));
		change("case", e => this.go({case: e.checked}));
		change("from", () => this.typeRange());
		change("to", () => this.typeRange());
		$("search").addEventListener("input", () =>
		    this.go({search: $("search").value}, true));
		this.listenToGraph();
		addEventListener("popstate", () => this.fromAddress());
		addEventListener("resize", () => this.render());
		addEventListener("keydown", e => this.key(e));
		matchMedia("(prefers-color-scheme: dark)").addEventListener(
		    "change", () => {
			this.setTheme(this.storedTheme());
			this.render();
		});
	}

	/* What buttons do, keys do, too. */
	listenToTimeline() {
		for (const [id, key] of [["use", "Enter"], ["to", "z"],
		    ["in", "+"], ["out", "-"], ["fold", "p"],
		    ["all", "Escape"]])
			$("lanes-" + id).addEventListener("click", () =>
			    this.timeline.ready && this.timeline.keys()[key]());
	}

	listenToGraph() {
		const {graph} = this, {scroller} = graph;
		const place = e => {
			const box = scroller.getBoundingClientRect();
			return graph.find(e.clientX - box.left,
			    e.clientY - box.top);
		};
		scroller.addEventListener("scroll", () => graph.draw());
		scroller.addEventListener("pointermove", e => {
			graph.hover = place(e);
			this.place = graph.hover || graph.focus;
			graph.draw();
			this.tip(graph.hover, e.clientX, e.clientY);
		});
		scroller.addEventListener("pointerleave", () => {
			graph.hover = null;
			this.place = graph.focus;
			graph.draw();
			this.tip(null);
		});
		scroller.addEventListener("click", e => {
			const hit = place(e);
			if (!hit)
				return;
			this.tip(null);
			if (e.shiftKey && hit.panel.tree.label[hit.node])
				this.around(hit.panel.tree.label[hit.node]);
			else
				this.zoomTo(hit.panel, hit.node);
			graph.focus = graph.panels.includes(hit.panel) ? hit :
			    null;
			graph.draw();
		});
		scroller.addEventListener("wheel", e => {
			if (!e.ctrlKey)
				return;
			e.preventDefault();
			const box = scroller.getBoundingClientRect();
			const hit = place(e);
			this.magnify(hit ? hit.panel : graph.panels[0],
			    e.deltaY < 0 ? 0.8 : 1.25,
			    (e.clientX - box.left) / graph.width);
		}, {passive: false});
	}

	key(event) {
		if ($("keys").open || event.altKey || event.metaKey)
			return;
		if (event.key === "/" && event.target !== $("search") ||
		    event.ctrlKey && event.key === "f") {
			$("search").focus();
			$("search").select();
			event.preventDefault();
			return;
		}
		if (event.ctrlKey)
			return;
		if (/^(INPUT|SELECT)$/.test(event.target.tagName)) {
			this.keyInField(event);
			return;
		}
		if (event.key === "Enter" && event.target !== $("graph"))
			return;
		const run = this.keys()[event.key];
		if (!run)
			return;
		event.preventDefault();
		run();
	}

	keyInField(event) {
		if (event.target === $("search") && event.key === "Enter") {
			this.nextMatch(event.shiftKey ? -1 : 1);
		} else if (event.key === "Escape") {
			if (event.target === $("search")) {
				$("search").value = "";
				this.go({search: ""}, true);
			}
			$("graph").focus();
			event.preventDefault();
		}
	}

	keys() {
		const {graph, state} = this;
		const panel = graph.focus ? graph.focus.panel : graph.panels[
		    graph.panels.length - 1];
		const arrow = key => () => this.step(key);
		return {
			ArrowUp: arrow("ArrowUp"), ArrowDown: arrow("ArrowDown"),
			ArrowLeft: arrow("ArrowLeft"),
			ArrowRight: arrow("ArrowRight"),
			Enter: () => graph.focus && this.zoomTo(
			    graph.focus.panel, graph.focus.node),
			Escape: () => this.reset(), 0: () => this.reset(),
			u: () => history.back(), n: () => this.nextMatch(1),
			N: () => this.nextMatch(-1),
			k: () => this.addFilter("keep"),
			x: () => this.addFilter("drop"),
			f: () => this.addFilter("fold"),
			v: () => this.aroundFrame(), c: () => this.copy(),
			w: () => this.magnify(panel, 0.8, 0.5),
			s: () => this.magnify(panel, 1.25, 0.5),
			a: () => this.pan(panel, -0.2),
			d: () => this.pan(panel, 0.2),
			i: () => this.toggle("flip"),
			r: () => this.toggle("recursion"),
			o: () => this.go({zoom: "", view: state.view ===
			    "reverse" ? "tree" : "reverse"}),
			t: () => this.toggle("list"),
			h: () => this.heat && this.toggle("heat"),
			g: () => this.timeline && this.toggle("threads"),
			l: () => this.otherTheme(),
			"?": () => $("keys").showModal(),
		};
	}
}
