/* SPDX-License-Identifier: ISC */
/*
 * Each thing that the page promises, clicked or typed, on the known profile
 * of make_page.c: 1000 samples in 10 s, 70% seventy (30 points of it in
 * shared), 20% twenty (10 in an inlined tiny, 10 in shared and the kernel),
 * 10% in ten, which calls again, which calls itself twice.
 */
import {assert, browse, check, click, crumbs, load, open, place, reset,
    text, tip} from "./lib.mjs";

const WORKER = ["worker", "_start", "main"];
const [known, ratio, empty, many, lines, calls] = process.argv.slice(2);

async function search(page, what) {
	await page.focus("#graph");
	await page.keyboard.press("/");
	await page.fill("#search", what);
	return text(page, "#matched");
}

/* |share - p| = z sqrt(p (1 - p) / n), solved for p by halving. */
function bound(share, n, sign) {
	let near = share, far = sign > 0 ? 1 : 0;
	for (let i = 0; i < 60; i++) {
		const p = (near + far) / 2;
		if (Math.abs(share - p) < 1.959964 * Math.sqrt(p * (1 - p) / n))
			near = p;
		else
			far = p;
	}
	return (100 * near).toFixed(2);
}

async function showing(page) {
	await check(page, "the title, and no warning of what is good",
	    async () => {
		assert.equal(await text(page, "h1"), "known --answer");
		assert.equal(await page.isVisible("#quality"), false);
		assert.match(await text(page, "#status"),
		    /^1.00 s in 1000 samples; 16 frames/);
	});
	await check(page, "what was recorded, and how often", async () => {
		await page.click("summary");
		assert.match(await text(page, "#facts"), new RegExp("command" +
		    "known --answerhostknown-hostkernel6.1.0.*cpu-clockat 999 Hz"));
		await page.click("summary");
	});
	await check(page, "a narrow frame shows a name without (), <>", async () =>
		assert.equal(await page.evaluate(() => shortName("a::" +
		    "(anonymous namespace)::B<int>::run(char const*)")),
		"a::B::run"));
	await check(page, "a tooltip has weight, samples, shares", async () => {
		const said = await tip(page, [...WORKER, "seventy"]);
		for (const line of ["seventy", "/usr/bin/known",
		    "700.00 ms, 700 samples", "77.78% of its caller",
		    "self: 400.00 ms, 40.00%", "70.00% of all (95%: " +
		    `${bound(0.7, 1000, -1)}% to ${bound(0.7, 1000, 1)}%)`])
			assert.ok(said.includes(line), `${line} in ${said}`);
		assert.match(await tip(page, [...WORKER, "twenty", "tiny"]),
		    /\(inlined\)/);
	});
	await check(page, "frames are as wide as their weight", async () => {
		const width = path => page.evaluate(n => {
			const {graph, data} = window.flame;
			const {tree} = graph.panels[0];
			const i = tree.label.findIndex(l =>
			    data.names[l] === n);
			return graph.boxOf(graph.panels[0], i).width /
			    graph.width;
		}, path);
		for (const [name, share] of [["seventy", 0.7], ["twenty", 0.2],
		    ["ten", 0.1], ["main", 0.9]])
			assert.ok(Math.abs(await width(name) - share) < 1e-9);
	});
	await check(page, "kernel, inlined and user differ in color",
	    async () => {
		const colors = await page.evaluate(() => {
			const {graph, data} = window.flame;
			const of = name => {
				const [panel] = graph.panels, {tree} = panel;
				const i = tree.label.findIndex(l =>
				    data.names[l] === name);
				const box = graph.boxOf(panel, i);
				const pixel = graph.c.getImageData((box.x +
				    box.width - 4) * graph.ratio, (box.y + 3) *
				    graph.ratio, 1, 1).data;
				return [...pixel.slice(0, 3)];
			};
			return {kernel: of("sys_read"), user: of("main"),
				inlined: of("tiny")};
		});
		assert.ok(colors.kernel[2] > colors.kernel[0]);
		assert.ok(colors.user[0] > colors.user[2]);
		assert.ok(colors.inlined[1] > colors.inlined[0]);
	});
}

async function zooming(page) {
	/* How much of a pixel of main is color. */
	const strength = () => page.evaluate(() => {
		const {graph, data} = window.flame, [panel] = graph.panels;
		const box = graph.boxOf(panel, panel.tree.label.findIndex(l =>
		    data.names[l] === "main"));
		return graph.c.getImageData((box.x + 3) * graph.ratio,
		    (box.y + 3) * graph.ratio, 1, 1).data[3];
	});
	await check(page, "a click enlarges, ancestors stay, faded", async () => {
		const full = await strength();
		await click(page, [...WORKER, "twenty"]);
		assert.ok(await strength() < 0.6 * full);
		assert.equal(await crumbs(page),
		    "all > worker > _start > main > twenty");
		assert.match(await tip(page, [...WORKER, "twenty", "tiny"]),
		    /50.00% of the enlarged frame/);
		const at = await place(page, WORKER);
		assert.ok(Math.abs(at.x - 600) < 2, "main fills the width");
	});
	const link = await page.evaluate("location.href");
	await check(page, "a click on an ancestor goes out again", async () => {
		await click(page, WORKER);
		assert.equal(await crumbs(page), "all > worker > _start > main");
	});
	await check(page, "the path goes out again as well", async () => {
		await page.click("#crumbs button >> nth=1");
		assert.equal(await crumbs(page), "all > worker");
		await page.click("#crumbs button >> nth=0");
		assert.equal(await crumbs(page), "");
		await page.goBack();
		await page.goBack();
		assert.equal(await crumbs(page), "all > worker > _start > main");
	});
	await check(page, "Back and Forward", async () => {
		await page.goBack();
		assert.equal(await page.evaluate("location.href"), link);
		assert.match(await crumbs(page), /twenty$/);
		await page.goBack();
		assert.equal(await crumbs(page), "");
		await page.goForward();
		assert.match(await crumbs(page), /twenty$/);
		await page.click("#back");
		await page.waitForFunction(() => !location.hash.includes("z="));
		assert.equal(await crumbs(page), "");
	});
	await check(page, "Escape and 0 show everything", async () => {
		for (const key of ["Escape", "0"]) {
			await click(page, [...WORKER, "seventy"]);
			assert.match(await crumbs(page), /seventy$/);
			await page.focus("#graph");
			await page.keyboard.press(key);
			assert.equal(await crumbs(page), "");
			assert.equal(await page.evaluate("location.hash"), "");
		}
	});
	await check(page, "a wheel with Ctrl, and w a s d", async () => {
		const width = () => page.evaluate("flame.graph.panels[0].width");
		const all = await width();
		const at = await place(page, WORKER);
		await page.mouse.move(at.x, at.y);
		await page.keyboard.down("Control");
		await page.mouse.wheel(0, -100);
		await page.keyboard.up("Control");
		await page.waitForFunction(w => window.flame.graph.panels[0]
		    .width < w, all);
		await page.focus("#graph");
		const near = await width();
		await page.keyboard.press("w");
		assert.ok(await width() < near);
		const x = await page.evaluate("flame.graph.panels[0].x");
		await page.keyboard.press("d");
		assert.ok(await page.evaluate("flame.graph.panels[0].x") > x);
		await page.keyboard.press("a");
		for (let i = 0; i < 9; i++)
			await page.keyboard.press("s");
		assert.equal(await width(), all);
	});
	return link;
}

async function searching(page) {
	const cases = [["shared", "40.00% in 2 frames"],
	    ["/shared|tiny/", "50.00% in 3 frames"],
	    ["again", "10.00% in 3 frames"], ["SHARED", "40.00% in 2"],
	    ["kind:kernel", "10.00% in 1"], ["module:kernel", "10.00% in 1"],
	    ["kind:py", "10.00% in 3"],
	    ["nothing like it", "0.00% in 0"],
	    /* ten, twenty, and tiny below twenty */
	    ["/^t/", "30.00% in 3"]];
	await check(page, "matched shares are exact, no weight counted twice",
	    async () => {
		for (const [what, result] of cases)
			assert.ok((await search(page, what))
			    .startsWith(result), `${what}: ` +
			    await text(page, "#matched"));
	});
	await check(page, "upper and lower case on demand", async () => {
		await search(page, "SHARED");
		await page.check("#case");
		assert.match(await text(page, "#matched"), /^0.00% in 0/);
		await page.uncheck("#case");
	});
	await check(page, "a pattern that is none is said to be", async () => {
		assert.equal(await search(page, "/(/"), "not a pattern");
		assert.equal(await page.getAttribute("#search",
		    "aria-invalid"), "true");
		assert.match(await search(page, "shared"), /^40/);
		assert.equal(await page.getAttribute("#search",
		    "aria-invalid"), "false");
	});
	await check(page, "n and N, or buttons, go through the matches",
	    async () => {
		await page.focus("#graph");
		await page.keyboard.press("Control+f");
		await page.keyboard.type("shared");
		await page.focus("#graph");
		const samples = [];
		for (const key of ["n", "next", "n", "previous"]) {
			if (key === "n")
				await page.keyboard.press(key);
			else
				await page.click("#" + key);
			samples.push(/(\d+) samples/.exec(
			    await text(page, "#live"))[1]);
		}
		assert.deepEqual(samples, ["300", "100", "300", "100"]);
	});
}

/* A page whose frames are lines of source. */
async function places(page, browser) {
	await check(page, "a tooltip has the file and the line", async () => {
		assert.match(await tip(page, [...WORKER, "seventy"]),
		    /^seventy\n\/src\/known.c:7\n\/usr\/bin\/known\n/);
		assert.match(await tip(page, [...WORKER, "twenty", "tiny"]),
		    /^tiny\n\/src\/known.h:3\n.*\(inlined\)/);
		assert.match(await tip(page, WORKER),
		    /^main\n\/usr\/bin\/known\n/);
	});
	await check(page, "a line can be searched for", async () => {
		assert.match(await search(page, "known.c:21"),
		    /^10.00% in 1 /);
		assert.match(await search(page, "/KNOWN.c:2/"),
		    /^20.00% in 2 /);
		assert.match(await search(page, "twenty"), /^20.00% in 2 /);
	});
	await check(page, "lines are functions in color, themselves in links",
	    async () => {
		await search(page, "known.c:21");
		await page.focus("#graph");
		await page.keyboard.press("n");
		assert.match(await text(page, "#live"),
		    /^twenty, \/src\/known.c:21, /);
		await page.keyboard.press("Enter");
		const hash = await page.evaluate("location.hash");
		const linked = await open(browser, lines, {hash});
		const [at, ...colors] = await linked.evaluate(() => {
			const {graph, data} = window.flame;
			const [{tree, node}] = graph.panels;
			return [data.places[tree.label[node]], ...["20", "21"]
			    .map(line => graph.colorOf(data.places.indexOf(
				"/src/known.c:" + line)))];
		});
		assert.equal(at, "/src/known.c:21");
		assert.equal(colors[0], colors[1]);
		await linked.context().close();
		await reset(page);
	});
	await check(page, "the table has lines", async () => {
		await page.click("#table");
		await page.click("#rows button:text-is('tiny known.h:3')");
		assert.match(await tip(page, ["twenty"], 0),
		    /^twenty\n\/src\/known.c:20\n/);
	});
}

async function filtering(page) {
	const status = () => text(page, "#status");
	await check(page, "only, without, and taking it back", async () => {
		await search(page, "shared");
		await page.click("#drop");
		assert.match(await status(), /in 600 samples/);
		assert.match(await text(page, "#filters"), /without.*shared/);
		await page.click("#filters button");
		assert.match(await status(), /in 1000 samples/);
		await search(page, "shared");
		await page.click("#keep");
		assert.match(await status(), /in 400 samples/);
		await search(page, "kind:kernel");
		await page.focus("#graph");
		await page.keyboard.press("x");
		assert.match(await status(), /in 300 samples/);
		await page.keyboard.press("u");
		await page.waitForFunction(() => document.querySelectorAll(
		    "#filters button").length === 1);
		assert.match(await status(), /in 400 samples/);
		await reset(page);
	});
	await check(page, "folding gives weight to callers", async () => {
		await search(page, "shared");
		await page.click("#fold");
		assert.match(await tip(page, [...WORKER, "seventy"]),
		    /self: 700.00 ms, 70.00%/);
		assert.match(await tip(page, [...WORKER, "twenty", "sys_read"]),
		    /100 samples/);
		await reset(page);
	});
	await check(page, "calls of itself as one", async () => {
		await page.focus("#graph");
		await page.keyboard.press("r");
		assert.equal(await page.getAttribute("#recursion",
		    "aria-pressed"), "true");
		assert.match(await search(page, "again"), /10.00% in 1 frame$/);
		await reset(page);
	});
}

async function views(page) {
	const roots = () => page.evaluate(() => {
		const {tree} = window.flame.graph.panels[0];
		return Object.fromEntries(tree.children(0).map(i =>
		    [window.flame.data.names[tree.label[i]],
		    tree.totalSamples[i]]));
	});
	await check(page, "reversed, what is hot is at the root", async () => {
		await page.selectOption("#view", "reverse");
		assert.deepEqual(await roots(), {again: 100, seventy: 400,
			shared: 300, sys_read: 100, tiny: 100});
		assert.match(await tip(page, ["sys_read", "shared"]),
		    /100 samples/);
		await reset(page);
	});
	await check(page, "callers and callees of a function", async () => {
		await click(page, [...WORKER, "seventy", "shared"],
		    {shift: true});
		assert.equal(await page.inputValue("#view"), "around");
		assert.match(await tip(page, [], 1),
		    /400.00 ms, 400 samples\n40.00% of all/);
		assert.match(await tip(page, ["sys_read"], 1), /100 samples/);
		assert.match(await tip(page, ["seventy"], 0), /300 samples/);
		assert.match(await tip(page, ["twenty", "main"], 0),
		    /100 samples/);
		const rows = await page.evaluate(() => {
			const {graph} = window.flame, [up, down] = graph.panels;
			return [graph.rowOf(up, 1), graph.rowOf(down, 0)];
		});
		assert.equal(rows[1], rows[0] + 1);
		await reset(page);
	});
	await check(page, "around recursion each sample counts once",
	    async () => {
		await tip(page, ["helper", "_start", "ten", "again", "again"]);
		await page.focus("#graph");
		await page.keyboard.press("v");
		assert.match(await tip(page, [], 1), /100 samples/);
		assert.match(await tip(page, ["ten"], 0), /100 samples/);
		await reset(page);
	});
	await check(page, "root above or below", async () => {
		const row = () => page.evaluate("flame.graph.rowOf(" +
		    "flame.graph.panels[0], 0)");
		const last = await page.evaluate("flame.graph.rows - 1");
		assert.equal(await row(), last);
		await page.click("#flip");
		assert.equal(await row(), 0);
		await page.click("#flip");
		assert.equal(await row(), last);
	});
	await check(page, "siblings by name, or the largest first", async () => {
		await page.selectOption("#order", "total");
		assert.deepEqual(Object.keys(await roots()),
		    ["worker", "helper"]);
		await page.selectOption("#order", "self");
		/* What is left of a frame's width is its own. */
		assert.deepEqual(await page.evaluate(() => {
			const {tree} = window.flame.graph.panels[0];
			const {left, width} = tree, own = n =>
			    tree.children(n).reduce((rest, child) =>
				rest - width[child], width[n]);
			const wrong = [];
			for (let n = 0; n < width.length; n++)
				tree.children(n).sort((a, b) =>
				    left[a] - left[b]).reduce((a, b) => {
					if (own(a) < own(b))
						wrong.push([n, a, b]);
					return b;
				}, undefined);
			return wrong;
		}), []);
		await page.selectOption("#order", "name");
		assert.deepEqual(Object.keys(await roots()),
		    ["helper", "worker"]);
	});
}

/* In the page: the frames with a color that no key has, by hue and fullness. */
function keyless() {
	const {graph, data} = window.flame, [panel] = graph.panels;
	const context = document.createElement("canvas").getContext("2d");
	const hueOf = color => {
		context.fillStyle = color;
		context.fillRect(0, 0, 1, 1);
		const [r, g, b] = context.getImageData(0, 0, 1, 1).data;
		const most = Math.max(r, g, b), least = Math.min(r, g, b);
		const full = (most - least) / (255 - Math.abs(most + least -
		    255));
		const hue = most === least ? 0 : most === r ? (g - b) /
		    (most - least) : most === g ? 2 + (b - r) /
		    (most - least) : 4 + (r - g) / (most - least);
		return [60 * hue, 100 * full];
	};
	const keys = [...document.querySelectorAll("#legend .key")].map(e =>
	    hueOf(getComputedStyle(e, "::before").backgroundColor));
	const near = (a, b) => Math.abs(a[1] - b[1]) < 7 && (b[1] < 10 ||
	    Math.abs((a[0] - b[0] + 540) % 360 - 180) < 18);

	return [...panel.tree.label.keys()].filter(i => !keys.some(key =>
	    near(hueOf(graph.fill(panel, i)), key))).map(i =>
	    data.names[panel.tree.label[i]]);
}

/* At each width: nothing cut, nothing to scroll but the graph. */
async function widths(page) {
	await check(page, "at three widths one scroller, no text cut", async () => {
		for (const width of [1600, 1024, 390]) {
			await page.setViewportSize({width, height: 900});
			/* The page hears of it with the next frame. */
			await page.evaluate(() => new Promise(drawn =>
			    requestAnimationFrame(() =>
			    requestAnimationFrame(drawn))));
			assert.deepEqual(await page.evaluate(() => {
				const html = document.documentElement;
				const cut = [...document.querySelectorAll(
				    "h1, p, span, button, label, li")].filter(e =>
				    e.offsetParent && !e.closest(".hidden") &&
				    getComputedStyle(e).overflow !== "visible" &&
				    e.scrollWidth > e.clientWidth + 1);
				return [html.scrollWidth <= innerWidth,
					html.scrollHeight - innerHeight,
					cut.map(e => e.id || e.textContent)];
			}), [true, 0, []], `${width} pixels`);
		}
	});
	await check(page, "each color has its key", async () => {
		assert.deepEqual(await page.evaluate(keyless), []);
		assert.match(await text(page, "#legend"),
		    /unresolved address.*process, thread.*narrower than a pixel/s);
		await page.fill("#search", "e");
		await page.press("#search", "Enter");
		assert.deepEqual(await page.evaluate(keyless), []);
		await page.click("#reset");
	});
	await check(page, "the match that is found first is the heaviest",
	    async () => {
		await page.fill("#search", "e");
		await page.press("#search", "Enter");
		assert.ok(await page.evaluate(() => {
			const {graph} = window.flame, {tree} = graph.focus.panel;
			const found = [...tree.label.keys()].filter(i =>
			    graph.match[tree.label[i]]);
			return found.length > 3 && found.every(i =>
			    tree.total[i] <= tree.total[graph.focus.node]);
		}));
		await page.click("#reset");
	});
}

/* Frames by the thousand, on a screen with two dots for a pixel. */
async function large(page) {
	await check(page, "a canvas no larger than what is seen, and sharp",
	    async () => {
		const is = await page.evaluate(() => {
			const {canvas, scroller, width} = window.flame.graph;
			return {wide: canvas.width / width, tall:
			    canvas.height / 2, inner: innerHeight,
			    whole: scroller.scrollHeight};
		});
		assert.equal(is.wide, 2);
		assert.ok(is.tall <= is.inner && is.tall < is.whole, is);
	});
	await check(page, "scrolling draws what comes into sight", async () => {
		const picture = () => page.evaluate(() => document
		    .getElementById("canvas").toDataURL());
		const before = await picture();
		await page.focus("#graph");
		await page.evaluate("graph.scrollTop -= 300");
		await page.waitForFunction(() => window.flame.graph.below >=
		    300);
		assert.notEqual(await picture(), before);
		await page.mouse.move(600, 401);
		const [said, there] = await page.evaluate(() => {
			const {graph, data} = window.flame, {scroller} = graph;
			const box = scroller.getBoundingClientRect();
			const {panel, node} = graph.find(600 - box.left,
			    401 - box.top);
			return [document.querySelector("#tip b").textContent,
				data.names[panel.tree.label[node]]];
		});
		assert.equal(said, there);
	});
	await check(page, "of a long table the rows in sight exist", async () => {
		await page.click("#table");
		const all = Number(/^\d+/.exec(await text(page, "caption")));
		const rows = () => page.$$eval("#rows tr:not([aria-hidden])",
		    trs => trs.map(tr => tr.ariaRowIndex - 1));
		assert.ok(all > 1000 && (await rows()).length < 100);
		assert.equal((await rows())[0], 1);
		await page.evaluate("functions.scrollTop = 1e9");
		await page.waitForFunction(n => document.querySelector(
		    `#rows tr[aria-rowindex='${n + 1}']`), all);
		assert.ok((await rows()).length < 100);
		await page.click("#table");
	});
	await check(page, "how many frames are too narrow is said", async () => {
		assert.match(await text(page, "#status"),
		    /[1-9]\d* of those in sight narrower than a pixel/);
	});
	await check(page, "on paper there is the graph, and no buttons",
	    async () => {
		await page.emulateMedia({media: "print"});
		assert.equal(await page.isVisible("nav"), false);
		assert.equal(await page.isVisible("h1"), true);
		assert.equal(await page.isVisible("#graph canvas"), true);
		await page.emulateMedia({media: "screen"});
		assert.equal(await page.isVisible("nav"), true);
	});
}

async function table(page) {
	const rows = () => page.$$eval("#rows tr:not([aria-hidden])", all =>
	    all.map(tr => [...tr.cells].map(td => td.textContent)
	    .join(" | ")));
	await check(page, "the table: self, total, recursion once", async () => {
		await page.click("#table");
		const all = await rows();
		assert.equal(all[0], "40.00% | 70.00% | 700 | seventy");
		assert.equal(all[1], "30.00% | 40.00% | 400 | shared");
		assert.ok(all.includes("10.00% | 10.00% | 100 | again"));
		assert.ok(all.includes("0.00% | 100.00% | 1000 | _start"));
		await page.click("[data-sort=total]");
		assert.match((await rows())[0], /_start$/);
		await page.click("[data-sort=name]");
		assert.match((await rows())[0], /_start$/);
		await search(page, "t");
		assert.match(await text(page, "caption"), /5 functions that/);
	});
	await check(page, "a row of it leads to callers and callees",
	    async () => {
		await page.click("#rows button:text('tiny')");
		assert.equal(await page.inputValue("#view"), "around");
		await reset(page);
		await page.click("#table");
	});
}

async function keyboard(page) {
	const live = () => text(page, "#live");
	await check(page, "arrows, Enter, and what is read out", async () => {
		await page.focus("#graph");
		const names = [];
		for (const key of ["ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp",
		    "ArrowUp", "ArrowRight", "ArrowDown"]) {
			await page.keyboard.press(key);
			names.push((await live()).split(",")[0]);
		}
		assert.deepEqual(names, ["all", "worker", "_start", "main",
			"seventy", "twenty", "main"]);
		await page.keyboard.press("ArrowUp");
		assert.match(await live(), /^seventy, .*700 samples/);
		await page.keyboard.press("Enter");
		assert.match(await crumbs(page), /seventy$/);
		await reset(page);
	});
	await check(page, "c copies the name", async () => {
		await tip(page, [...WORKER, "twenty", "tiny"]);
		await page.focus("#graph");
		await page.keyboard.press("c");
		await page.waitForFunction(() => document.getElementById(
		    "live").textContent === "copied");
		assert.equal(await page.evaluate(
		    "navigator.clipboard.readText()"), "tiny");
	});
	await check(page, "? lists the keys", async () => {
		await page.keyboard.press("?");
		assert.ok(await page.isVisible("#keys"));
		assert.match(await text(page, "#key-list"), /search; n and N/);
		await page.keyboard.press("Escape");
		assert.ok(!await page.isVisible("#keys"));
	});
	await check(page, "everything can be reached and has a name",
	    async () => {
		const nameless = await page.$$eval("button, select, input, " +
		    "[tabindex]", all => all.filter(e => !(e.textContent.trim() ||
		    e.getAttribute("aria-label") || e.labels?.length ||
		    e.querySelector("canvas[aria-label]"))).map(e => e.id));
		assert.deepEqual(nameless, []);
		assert.equal(await page.getAttribute("#live", "aria-live"),
		    "polite");
		assert.equal(await page.$$eval("th[scope=col]", e => e.length),
		    4);
	});
}

async function looks(page, browser) {
	await check(page, "the colors of all kinds are those of their keys",
	    async () => assert.deepEqual(await page.evaluate(keyless), []));
	const back = p => p.evaluate(
	    "getComputedStyle(document.body).backgroundColor");
	await check(page, "light, dark by the system, and by choice",
	    async () => {
		assert.equal(await back(page), "rgb(255, 255, 255)");
		const dark = await open(browser, known, {colorScheme: "dark"});
		assert.equal(await back(dark), "rgb(20, 23, 28)");
		await dark.click("#theme");
		assert.equal(await back(dark), "rgb(255, 255, 255)");
		await dark.context().close();
		await page.focus("#graph");
		await page.keyboard.press("l");
		assert.equal(await back(page), "rgb(20, 23, 28)");
		await page.reload();
		await page.waitForSelector("html[data-ready]");
		assert.equal(await back(page), "rgb(20, 23, 28)");
		await page.click("#theme");
	});
	await check(page, "a narrow window needs no scrolling aside",
	    async () => {
		await page.setViewportSize({width: 360, height: 700});
		await page.waitForFunction(() => window.flame.graph.width < 360);
		assert.ok(await page.evaluate(
		    "document.documentElement.scrollWidth") <= 360);
		assert.match(await tip(page, [...WORKER, "seventy"]), /70.00%/);
		await page.setViewportSize({width: 1200, height: 900});
		await page.waitForFunction(() => window.flame.graph.width > 900);
	});
	await check(page, "the view as SVG", async () => {
		const [file] = await Promise.all([
			page.waitForEvent("download"), page.click("#save")]);
		const chunks = [];
		for await (const chunk of await file.createReadStream())
			chunks.push(chunk);
		const svg = Buffer.concat(chunks).toString();
		const found = await page.evaluate(source => {
			const xml = new DOMParser().parseFromString(source,
			    "image/svg+xml");
			return [xml.querySelectorAll("parsererror").length,
				xml.querySelectorAll("g > rect").length];
		}, svg);
		assert.deepEqual(found, [0, 16]);
		assert.match(svg, />cpu-clock</);
	});
}

async function times(page) {
	const status = () => text(page, "#status");
	await check(page, "the heat map's cells sum to the samples",
	    async () => {
		await page.click("#times");
		assert.equal(await page.evaluate(
		    "flame.heat.sums(0).reduce((a, b) => a + b)"), 1e9);
	});
	await check(page, "dragging over it chooses a range", async () => {
		const box = await (await page.$("#heat-map")).boundingBox();
		const y = box.y + box.height - 2, top = box.y + 2;
		await page.mouse.move(box.x + box.width * 0.705, y);
		await page.mouse.down();
		await page.mouse.move(box.x + box.width * 0.8, y);
		await page.mouse.move(box.x + box.width * 0.895, top);
		await page.mouse.up();
		assert.match(await status(), /in 200 samples/);
		assert.equal(await page.inputValue("#from"), "7.000");
		assert.equal(await page.inputValue("#to"), "9.000");
		assert.match(await tip(page, [...WORKER, "twenty"]),
		    /100.00% of all/);
	});
	const link = await page.evaluate("location.hash");
	await check(page, "a range can be typed", async () => {
		await page.fill("#from", "9");
		await page.fill("#to", "10");
		await page.keyboard.press("Tab");
		assert.match(await status(), /in 100 samples/);
		await page.click("#all-times");
		assert.match(await status(), /in 1000 samples/);
		await page.click("#times");
	});
	return link;
}

/* 13 calls that ended in five columns of 2 s. */
async function latency(page) {
	await check(page, "a map of latency has each call once", async () => {
		await page.click("#times");
		await page.selectOption("#heat-of", {label:
			"latency of syscall:read"});
		assert.deepEqual(await page.evaluate(
		    "Array.from(flame.heat.sums(0))"),
		    [5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 1, 0]);
		assert.match(await text(page, "#heat-text"),
		    /A column is 2 s, durations upwards: 13, 2 lost/);
	});
	await check(page, "it says how many took how long, and chooses a range",
	    async () => {
		const box = await (await page.$("#heat-map")).boundingBox();
		const x = box.x + box.width * 0.7;
		await page.mouse.move(x, box.y + 2);
		assert.match(await page.getAttribute("#heat-map", "title"),
		    /^7 of syscall:read took 4.00.ms to 8.00.ms$/);
		await page.mouse.down();
		await page.mouse.up();
		assert.match(await text(page, "#status"), /in 200 samples/);
		assert.equal(await page.inputValue("#from"), "6.000");
		assert.equal(await page.inputValue("#to"), "8.000");
		await page.selectOption("#heat-of", "-1");
		assert.equal(await page.evaluate(
		    "flame.heat.sums(0).reduce((a, b) => a + b)"), 1e9);
	});
}

async function events(page) {
	await check(page, "another event, with its own quality", async () => {
		await page.selectOption("#event", "1");
		assert.match(await text(page, "#status"),
		    /^100000 events in 200 samples/);
		assert.equal(await text(page, "#quality"),
		    "12.0% of samples lost\nonly 200 samples");
		assert.equal(await page.isVisible("#quality"), true);
		assert.ok(await page.$("#quality.bad"));
		assert.match(await tip(page, ["helper", "_start", "ten"]),
		    /50000 events, 50 samples/);
	});
	const checkRatio = async p => {
		assert.match(await tip(p, [...WORKER, "seventy"]),
		    /7.00e\+4 per cycles; overall 1.00e\+4/);
		const hues = await p.evaluate(() => {
			const {graph, data} = window.flame;
			const [{tree}] = graph.panels;
			return ["seventy", "ten"].map(name => graph.ratioColor(
			    tree, tree.label.findIndex(l =>
			    data.names[l] === name)).slice(0, 7));
		});
		assert.deepEqual(hues, ["hsl(12,", "hsl(214"]);
		assert.match(await text(p, "#legend"), /per cycles/);
	};
	await check(page, "one event for another, as color", async () => {
		await page.selectOption("#event", "0/1");
		await checkRatio(page);
		await page.selectOption("#event", "0");
	});
	return checkRatio;
}

await browse(async browser => {
	const page = await open(browser, known);
	await showing(page);
	const link = await zooming(page);
	await searching(page);
	await reset(page);
	await filtering(page);
	await views(page);
	await table(page);
	await keyboard(page);
	await looks(page, browser);
	const range = await times(page);
	const checkRatio = await events(page);

	const deep = await open(browser, known, {hash: new URL(link).hash +
	    "&q=tiny&" + range.slice(1)});
	await check(deep, "a link brings back zoom, search and range",
	    async () => {
		assert.match(await crumbs(deep), /main > twenty$/);
		assert.equal(await deep.inputValue("#search"), "tiny");
		assert.match(await text(deep, "#matched"), /^50.00%/);
		assert.match(await text(deep, "#status"), /in 200 samples/);
	});
	await widths(await load(deep, many));
	await deep.setViewportSize({width: 1200, height: 900});
	const odd = await load(deep, known,
	    "#z=1.2.3~&e=9/9&t=9-1&q=%2F(%2F&v=none&f=x&k=%2F(%2F");
	await check(odd, "a link that is none does no harm", async () => {
		assert.match(await text(odd, "#status"), /in 1000 samples/);
	});
	const two = await load(odd, ratio);
	await check(two, "--ratio opens as a ratio", () => checkRatio(two));
	await large(await open(browser, many, {deviceScaleFactor: 2,
		viewport: {width: 1200, height: 500}}));
	await places(await open(browser, lines), browser);
	await latency(await open(browser, calls));
	const none = await load(two, empty);
	await check(none, "no samples: it says so", async () => {
		assert.match(await text(none, "#quality"), /no samples/);
	});
	const sample = await load(none, process.env.SRC +
	    "/reports/flame.html");
	await check(sample, "the template opens by itself", async () => {
		assert.match(await text(sample, "#status"), /samples/);
	});
});
