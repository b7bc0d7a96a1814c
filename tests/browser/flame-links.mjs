/* SPDX-License-Identifier: ISC */
/*
 * Views made by clicks and keys, and what a link to each shows in another
 * window: all that can be seen of them.  flame-links.mjs KNOWN STATES
 */
import {assert, browse, check, click, load, open, reset, text}
    from "./lib.mjs";

const WORKER = ["worker", "_start", "main"];
const [known, states] = process.argv.slice(2);

/* What a reader of the page can tell from it. */
async function seen(page) {
	const of = {};
	for (const id of ["status", "matched", "quality", "legend",
	    "functions-text", "heat-text"])
		of[id] = await page.isVisible("#" + id) &&
		    await text(page, "#" + id);
	of.crumbs = await text(page, "#crumbs");
	of.filters = await text(page, "#filters");
	of.values = await page.$$eval("nav select, nav input, " +
	    "#heat:not([hidden]) input", all => all.map(e => [e.id, e.type === "checkbox" ? e.checked :
	    e.value]));
	of.pressed = await page.$$eval("[aria-pressed]", all => all.map(e =>
	    [e.id, e.getAttribute("aria-pressed")]));
	of.shown = await page.$$eval("section, #filters, #found", all =>
	    all.map(e => [e.id, e.hidden]));
	of.rows = await page.isVisible("#rows") &&
	    await page.$$eval("#rows tr", all => all.map(e => e.textContent));
	of.boxes = await page.evaluate(() => {
		const {graph, data} = window.flame, boxes = [];
		graph.boxes(0, 1e9, (panel, node, x, y, width) =>
		    boxes.push([data.names[panel.tree.label[node]],
			Math.round(x), y, Math.round(width),
			graph.fill(panel, node)]));
		return boxes;
	});
	return of;
}

const search = async (page, what) => {
	await page.fill("#search", what);
	await page.focus("#graph");
};

/* Each begins where everything is shown. */
const views = {
	"enlarged": page => click(page, [...WORKER, "twenty"]),
	"another event": page => page.selectOption("#event", "1"),
	"a ratio": page => page.selectOption("#event", "0/1"),
	"reversed": page => page.selectOption("#view", "reverse"),
	"reversed and enlarged": async page => {
		await page.keyboard.press("o");
		await click(page, ["shared"]);
	},
	"around a function": page => click(page, [...WORKER, "seventy",
		"shared"], {shift: true}),
	"around, the callers enlarged": async page => {
		await click(page, [...WORKER, "seventy", "shared"],
		    {shift: true});
		await click(page, ["twenty"], {panel: 0});
	},
	"around, the callees enlarged": async page => {
		await click(page, [...WORKER, "seventy", "shared"],
		    {shift: true});
		await click(page, ["sys_read"], {panel: 1});
	},
	"largest first, by module": async page => {
		await page.selectOption("#order", "total");
		await page.selectOption("#color", "module");
	},
	"by self, by name": async page => {
		await page.selectOption("#order", "self");
		await page.selectOption("#color", "name");
	},
	"the root above": page => page.keyboard.press("i"),
	"recursion merged": page => page.keyboard.press("r"),
	"a search in its case": async page => {
		await page.check("#case");
		await search(page, "/^T|^t/");
	},
	"filters": async page => {
		for (const [what, key] of [["shared", "k"], ["kind:kernel",
		    "x"], ["main & \"<%25>\"|^main", "f"]]) {
			await search(page, what);
			await page.keyboard.press(key);
		}
	},
	"the table": page => page.keyboard.press("t"),
	"times": page => page.keyboard.press("h"),
	"a range of time": async page => {
		await page.click("#times");
		await page.fill("#from", "7.5");
		await page.fill("#to", "9");
		await page.keyboard.press("Tab");
	},
};

await browse(async browser => {
	const page = await open(browser, known), all = new Set();
	const link = await open(browser, known);
	const start = await seen(page);
	for (const [what, make] of Object.entries(views))
		await check(page, "a link to: " + what, async () => {
			await make(page);
			const here = await seen(page);
			assert.notDeepEqual(here, start);
			await load(link, known, new URL(await page.evaluate(
			    "location.href")).hash);
			assert.deepEqual(await seen(link), here);
			all.add(JSON.stringify(here));
			/* The table, the times and the event stay. */
			await page.goto("file://" + known + "#");
			await page.waitForFunction(() => !location.hash);
			await reset(page);
			assert.deepEqual(await seen(page), start);
		});
	assert.equal(all.size, Object.keys(views).length);
	await check(page, "modules and names by color", async () => {
		const of = async how => {
			await page.selectOption("#color", how);
			assert.ok((await page.textContent("#legend"))
			    .startsWith(`colored by ${how}`));
			return page.evaluate(() => Object.fromEntries(["main",
				"seventy", "twenty", "sys_read"].map(name =>
				[name, parseInt(window.flame.graph.colorOf(
				window.flame.data.names.indexOf(name))
				.slice(4), 10)])));
		};
		const module = await of("module"), name = await of("name");
		assert.equal(module.main, module.seventy);
		assert.equal(module.main, module.twenty);
		assert.notEqual(module.main, module.sys_read);
		assert.equal(new Set(Object.values(name)).size, 4);
	});
	await load(page, states);
	await check(page, "states of threads by color", async () => {
		/* Of each frame, the states that its samples have; its color. */
		const colors = () => page.evaluate(() => {
			const {graph, data} = window.flame, boxes = [];
			graph.boxes(0, 1e9, (panel, node) => {
				const {tree} = panel, path = [];
				for (let i = node; i >= 0; i = tree.parent[i])
					path.push(data.names[tree.label[i]]);
				boxes.push([path, parseInt(graph.fill(panel,
				    node).slice(4), 10)]);
			});
			return boxes;
		});
		const hues = {running: 12, runnable: 50, blocked: 214,
			futex: 285, read: 110};
		const check = boxes => boxes.forEach(([path, hue]) =>
		    assert.equal(hue, hues[path.find(name => hues[name])] || 0,
			path));
		assert.equal(await page.inputValue("#color"), "state");
		assert.match(await page.textContent("#legend"),
		    /running.*runnable.*blocked.*futex.*read.*several states/s);
		const boxes = await colors();
		assert.equal(boxes.length, 16);
		check(boxes);
		await page.selectOption("#view", "reverse");
		const reversed = await colors();
		assert.ok(reversed.some(([, hue]) => hue === 214));
		check(reversed);
		await page.selectOption("#color", "kind");
		assert.ok((await page.textContent("#legend"))
		    .startsWith("user"));
	});
});
