/* SPDX-License-Identifier: ISC */
/*
 * The fixtures of make_difference.c as a browser shows them: colors are read
 * from the canvas, figures from what the page says; the expected ones follow
 * from the tables of make_difference.c.
 */
import {assert, browse, check, load, open, place, text, tip}
    from "./lib.mjs";

const [parents, vanished, noise, one, rates, planted, totals] =
    process.argv.slice(2);

/* "red", "blue", "grey", ...: what is seen near the end of a frame. */
async function color(page, path) {
	await place(page, ["main", ...path]);
	const [r, g, b] = await page.evaluate(names => {
		const {graph, data} = window.flame, [panel] = graph.panels;
		let node = 0;
		for (const name of names)
			node = panel.tree.children(node).find(i =>
			    data.names[panel.tree.label[i]] === name);
		const box = graph.boxOf(panel, node);
		const all = graph.c.getImageData((box.x + box.width - 12) *
		    graph.ratio, (box.y - graph.scroller.scrollTop + 3) *
		    graph.ratio, 10, 1).data;
		/* Stripes lie over some: the fullest color of ten. */
		let best = [0, 0, 0], most = -1;
		for (let i = 0; i < all.length; i += 4) {
			const of = [...all.slice(i, i + 3)];
			const full = Math.max(...of) - Math.min(...of);
			if (full > most)
				[best, most] = [of, full];
		}
		return best;
	}, ["main", ...path]);
	const most = Math.max(r, g, b), full = most - Math.min(r, g, b);
	if (full < 20)
		return "grey";
	const hue = most === r ? 60 * (g - b) / full : most === g ?
	    120 + 60 * (b - r) / full : 240 + 60 * (r - g) / full;
	return hue > 250 ? "violet" : hue > 190 ? "blue" : hue > 25 ?
	    "yellow" : "red";
}

async function colors(page, wanted) {
	for (const [path, expected] of wanted)
		assert.equal(await color(page, path.split(" ")), expected,
		    path);
}

const choose = (page, what) => page.selectOption("#color", what);

async function callers(page) {
	await check(page, "callers have the color of what they call",
	    async () => {
		await colors(page, [["read", "red"], ["read decode", "red"],
			["read decode inflate", "red"], ["write", "blue"]]);
		assert.match(await tip(page, ["main", "read"]),
		    /total: 1.00 s → 4.00 s a run \(\+3.00 s\), 10.00% → 40.00% \(\+30.00 points\)/);
	});
	await check(page, "by own change just who grew itself", async () => {
		await choose(page, "self-share");
		await colors(page, [["read", "grey"],
			["read decode", "grey"],
			["read decode inflate", "red"], ["write", "blue"]]);
		assert.match(page.url(), /c=self-share/);
	});
	await check(page, "the scale is in points and in time", async () =>
		assert.match(await text(page, "#legend"),
		    /−30.00 points, −3.00 s a run.*\+30.00 points, \+3.00 s/));
	await check(page, "one run a side is not tested", async () => {
		assert.match(await text(page, "#quality"), /not tested: one run/);
		assert.ok(await page.$("#quality.bad"));
		assert.match(await tip(page, ["main", "write"]),
		    /not tested; the difference exceeds/);
	});
}

async function goneAndNew(page) {
	const width = name => page.evaluate(n => {
		const {graph, data} = window.flame, [panel] = graph.panels;
		const i = panel.tree.label.findIndex(l => data.names[l] === n);
		return graph.boxOf(panel, i).width / graph.width;
	}, name);
	await check(page, "what is gone stands in its place", async () => {
		await colors(page, [["old", "violet"], ["old copy", "violet"],
			["fresh", "yellow"], ["same", "grey"],
			["fresh move", "yellow"]]);
		assert.ok(Math.abs(await width("old") - 0.3) < 0.01);
		assert.ok(Math.abs(await width("fresh") - 0.1) < 0.01);
		assert.match(await tip(page, ["main", "old", "copy"]),
		    /gone: only the base has this frame\ntotal: 3.0\d s → 0 a run/);
	});
	await check(page, "the base's view has what is new in place",
	    async () => {
		await page.selectOption("#side", "base");
		await colors(page, [["old copy", "violet"],
			["fresh move", "yellow"]]);
	});
	await check(page, "what is gone alone, also by key", async () => {
		await page.focus("#graph");
		await page.keyboard.press("b");
		assert.match(page.url(), /w=gone/);
		assert.equal(await width("copy"), 1);
		assert.equal(await width("same"), 0);
	});
	await check(page, "the drawing of the view has the stripes",
	    async () => assert.match(await page.evaluate(
		"window.flame.graph.svg('t', [])"), /url\(#only\)/));
}

async function quiet(page, what) {
	await check(page, what, async () => {
		for (const measure of ["total-share", "self-share"]) {
			await choose(page, measure);
			assert.match(await text(page, "#status"),
			    /, 0 in color/);
			const seen = await page.evaluate(() => {
				const {graph} = window.flame, of = new Set();
				for (const level of graph.panels[0].tree.levels)
					for (const i of level)
						of.add(graph.fill(
						    graph.panels[0], i));
				return [...of];
			});
			assert.deepEqual(seen, ["#d3d6db"]);
		}
	});
}

async function otherRates(page) {
	await quiet(page, "another rate for half of the time is no change");
	await check(page, "and both are said", async () => {
		assert.match(await tip(page, ["main", "hot"]),
		    /7.00 s → 3.50 s a run \(−3.50 s\), 70.00% → 70.00% \(\+0.00 points\)/);
		assert.match(await text(page, "#notes"), /different rates/);
		await page.click("summary");
		assert.match(await text(page, "#facts"),
		    /base: command.*known.old.*command.*known.new/);
	});
}

async function realChange(page) {
	const figures = [["parse number", "red"], ["parse", "red"]];
	await check(page, "by cost just the one that grew", () =>
		colors(page, [...figures, ["sort", "grey"],
			["parse string", "grey"]]));
	await check(page, "by share the others fall", async () => {
		await choose(page, "total-share");
		await colors(page, [...figures, ["sort", "blue"],
			["parse string", "blue"]]);
		await choose(page, "total-cost");
	});
	await check(page, "reversed, a function keeps its verdict", async () => {
		await page.selectOption("#view", "reverse");
		assert.deepEqual(await page.evaluate(() => {
			const {graph, data} = window.flame;
			const [panel] = graph.panels;
			return panel.tree.children(0).map(i => [data.names[
			    panel.tree.label[i]], graph.fill(panel, i) ===
			    "#d3d6db"]).sort();
		}), [["number", false], ["sort", true], ["string", true]]);
		await page.selectOption("#view", "tree");
	});
	await check(page, "filtered, what was not tested is grey", async () => {
		await page.fill("#search", "number");
		assert.match(await text(page, "#matched"),
		    /^2[45].\d+% → (39|40).\d+% in 1 frame$/);
		await page.click("#drop");
		await colors(page, [["parse", "grey"], ["parse string",
			"grey"]]);
		await page.click("#reset");
	});
	await check(page, "the table is in order of change", async () => {
		await page.click("#table");
		assert.match(await text(page, "#rows tr:nth-child(2)"),
		    /^\* \+2\d.\d\d\* \+2\d.\d\d.*number$/);
		assert.match(await text(page, "#rows tr:nth-child(3)"),
		    /^[+−]\d/);
	});
	await check(page, "runs enough are no warning", async () =>
		assert.ok(!await page.$("#quality.bad")));
}

async function otherTotals(page) {
	await check(page, "all that costs more is red by cost", () =>
		colors(page, [["hot", "red"], ["hot inner", "red"],
			["warm", "red"]]));
	await quiet(page, "another total is no change of shares");
}

await browse(async browser => {
	const page = await open(browser, parents);
	await callers(page);
	await goneAndNew(await load(page, vanished));
	await quiet(await load(page, noise), "noise has no color");
	await quiet(await load(page, one), "nor has what sampling explains");
	await otherRates(await load(page, rates));
	await realChange(await load(page, planted));
	await otherTotals(await load(page, totals));
});
