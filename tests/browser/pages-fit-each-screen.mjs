/* SPDX-License-Identifier: ISC */
/* The pages of pages-fit-each-screen.sh, one after the other. */
import fs from "node:fs";
import {assert, browse, check, load, open, watched} from "./lib.mjs";
import {fits} from "./fits.mjs";

const [known, planted, metrics, functions, waits, range, truth] =
    process.argv.slice(2);

/* As the page opens: where a frame is, and what of the screen shows it. */
async function inSight(page, name) {
	const {frame, shown, wide} = await page.evaluate(wanted => {
		const {graph, data} = window.flame, [panel] = graph.panels;
		const {tree} = panel;
		const node = [...tree.label.keys()].filter(i =>
		    data.names[tree.label[i]] === wanted).sort((a, b) =>
		    tree.total[b] - tree.total[a])[0];
		const box = graph.boxOf(panel, node);
		const top = graph.scroller.getBoundingClientRect();
		const y = top.top + box.y - graph.scroller.scrollTop;
		return {frame: [y, y + 10], wide: box.width, shown:
		    [Math.max(0, top.top), Math.min(innerHeight, top.bottom)]};
	}, name);

	assert.ok(wide > 20 && frame[0] >= shown[0] && frame[1] <= shown[1],
	    `${name}: ${frame}, ${wide} wide, in ${shown}`);
}

/* What report counts from 0.700000001 to 1.300000003 s. */
async function totalsAgree(page) {
	const report = JSON.parse(fs.readFileSync(range));
	const events = report.quality_by_event;
	const {totals, first, graph, own, chosen} = await page.evaluate(() => ({
		totals: flame.timeline.totals(flame.state.slice),
		first: flame.data.events[0].name,
		graph: flame.main.total[0],
		own: [...flame.main.self].reduce((sums, self, i) => {
			const name = flame.data.names[flame.main.label[i]];
			if (self)
				sums[name] = (sums[name] || 0) + self;
			return sums;
		}, {}),
		chosen: flame.state.slice,
	}));

	assert.deepEqual(chosen, [700000001, 1300000003]);
	assert.deepEqual(totals.map(t => [t.weight, t.samples]),
	    events.map(e => [e.weight, e.samples]));
	assert.equal(graph, events[0].weight);
	assert.deepEqual(own, Object.fromEntries(report.functions.filter(f =>
	    f.event === first && f.self).map(f => [f.name, f.self])));
	assert.ok(totals[1].states[1] > 0 && totals[1].states[2] > 0 &&
	    totals[1].states[1] + totals[1].states[2] === events[1].weight);
}

const STATES = ["running", "blocked", "runnable"];

/* A wait ended when it did, or up to 300 ns later, when it was stored. */
async function waitsAgree(page) {
	const wanted = fs.readFileSync(truth, "utf8").trim().split("\n")
	    .map(line => line.split(" ")).map(([tid, state, ...times]) =>
	    [Number(tid), state, ...times.map(Number)])
	    .sort((a, b) => a[0] - b[0] || a[2] - b[2]);
	const read = await page.evaluate(() => {
		const {lanes, time, ended, weight, state} =
		    flame.timeline, all = [];
		for (const lane of lanes)
			for (let i = lane.first; i < lane.end; i++)
				if (state[i])
					all.push([lane.tid, STATES[state[i]],
						ended[i] - weight[i],
						ended[i], time[i]]);
		return all.sort((a, b) => a[0] - b[0] || a[2] - b[2]);
	});

	const [, , ...pause] = wanted.shift();
	assert.ok((await page.evaluate("flame.timeline.gaps()")).some(gap =>
	    gap[0] === pause[0] && gap[1] === pause[1]));
	assert.equal(read.length, wanted.length);
	read.forEach(([tid, state, begin, end, stored], i) => {
		const [, , from, to, time] = wanted[i], late = end - to;
		assert.deepEqual([tid, state], wanted[i].slice(0, 2));
		assert.equal(stored, time);
		assert.ok(late >= 0 && late <= 300 && begin - from === late,
		    `${wanted[i]}: ${begin} to ${end}`);
		assert.ok(!i || read[i - 1][0] !== tid ||
		    read[i - 1][3] <= begin, `${tid}: two waits at ${begin}`);
	});
	return read;
}

/* Colors beside the ends of waits that running followed, not drawn over. */
async function waitsDrawn(page, read) {
	const ends = read.filter(([tid, , , end], i) => tid === 1000 &&
	    read[i + 1][0] === tid && read[i + 1][2] - end > 1e6);
	const drawn = await page.evaluate(all => {
		const {timeline} = flame, {c} = timeline;
		const ratio = window.devicePixelRatio || 1;
		const row = timeline.rows.findIndex(row => row.lane &&
		    row.lane.tid === 1000);
		const y = LANES_AXIS + row * LANE + 4;
		const at = x => "#" + [...c.getImageData(
		    x * ratio, y * ratio, 1, 1).data]
		    .slice(0, 3).map(n => n.toString(16).padStart(2, "0"))
		    .join("");
		const over = [...timeline.gaps(), flame.state.slice];
		return all.filter(([, , , end]) => over.every(([from, to]) =>
		    end + 5e5 < from || end - 5e5 > to))
		    .map(([, state, , end]) => {
			timeline.look(end - 5e5, end + 5e5);
			const colors = STATE_COLORS[timeline.theme];
			const x = timeline.x(end);
			return [at(x - 3), at(x + 3),
				colors[STATES.indexOf(state)], colors[0]];
		});
	}, ends);

	assert.ok(drawn.length > 0);
	for (const [before, after, state, running] of drawn)
		assert.deepEqual([before, after], [state, running]);
}

/*
 * By pixel, what the waits themselves say: of a thread the state that takes
 * most of it, of a process how long its threads are in each, drawn from sums
 * of all time (the first view) or of the view.
 */
async function pixelsAgree(page, read) {
	for (const zoom of [1, 400]) {
		const {from, length, lane, states, levels} = await
		    page.evaluate(by => {
			const {timeline} = flame, wide = 500;
			const [first, last] = timeline.whole;
			const from = first + (last - first) * 0.3 * (by > 1);
			const view = [from, from + (last - first) / by];
			const {lanes} = timeline.rows.find(row => row.lanes);
			return {from, length: (view[1] - view[0]) / wide,
				lane: {...lanes[0], sums: null,
				    process: null},
				states: [...timeline.partsOfLane(lanes[0],
				    view, wide).states],
				levels: timeline.partsOfProcess(lanes, view,
				    wide).levels.map(level => [...level]
				    .slice(0, wide).reduce((a, b) => a + b))};
		}, zoom);
		const within = (begin, end, x, parts = 1) => Math.max(0,
		    Math.min(end, from + (x + parts) * length) -
		    Math.max(begin, from + x * length));
		const own = read.filter(([tid]) => tid === lane.tid);
		let seen = 0;
		states.forEach((state, x) => {
			const took = STATES.map(name => own.reduce((sum,
			    [, of, begin, end]) => sum + (of === name ?
			    within(begin, end, x) : 0), 0));
			took[0] = within(lane.from, lane.to, x) - took[1] -
			    took[2];
			const most = Math.max(...took);
			assert.ok(state < 0 ? most < 1e-3 : took[state] >=
			    most - 1e-3, `${zoom}, ${x}: ${state}, ${took}`);
			seen |= 1 << state + 1;
		});
		assert.ok(seen & 4 && (zoom > 1 || seen & 2));
		for (const state of [1, 2]) {
			const took = read.reduce((sum, [tid, of, begin, end]) =>
			    sum + (tid < lane.tid + 100 && of === STATES[state]
			    ? within(begin, end, 0, states.length) : 0), 0);
			/* The first view's pixels are of 8 or 9 parts. */
			assert.ok(Math.abs(levels[state] * length - took) <=
			    took * (zoom > 1 ? 1e-6 : 0.01) + 1,
			    `${levels[state] * length}, ${took}`);
		}
	}
}

/* By mouse and keyboard: zoom, move, choose, fold. */
async function timelineWorks(page) {
	const view = () => page.evaluate("flame.timeline.view");
	const slice = () => page.evaluate("flame.state.slice");
	const long = async () => (await view())[1] - (await view())[0];

	await page.click("#lanes-all");
	assert.equal(await slice(), null);
	const whole = await long();
	await page.locator("#lanes").scrollIntoViewIfNeeded();
	const box = await page.locator("#lanes").boundingBox();
	const x = box.x + box.width * 0.7, y = box.y + 60;
	await page.mouse.move(x, y);
	await page.mouse.wheel(0, -100);
	await page.waitForFunction(all => flame.timeline.view[1] -
	    flame.timeline.view[0] < all, whole);
	await page.click("#lanes-in");
	assert.ok(await long() < whole / 2);
	await page.mouse.move(x, y);
	await page.mouse.down();
	await page.mouse.move(x + 40, y);
	await page.mouse.up();
	const dragged = await slice();
	assert.ok(dragged[0] < dragged[1]);
	await page.click("#lanes-to");
	assert.deepEqual(await view(), dragged);
	await page.focus("#lanes");
	for (let i = 0; i < 20; i++)
		await page.keyboard.press("+");
	assert.ok(await long() < 1000, `${await long()} ns in view`);
	await page.keyboard.press("Home");
	assert.equal(await long(), whole);
	await page.keyboard.press("-");
	await page.keyboard.press("+");
	await page.keyboard.press("ArrowRight");
	await page.keyboard.press("Enter");
	assert.deepEqual(await slice(), await view());
	const rows = () => page.evaluate("flame.timeline.rows.length");
	const folded = await rows();
	await page.click("#lanes-fold");
	const unfolded = await rows();
	assert.ok(Math.abs(unfolded - folded) === 250);
	/* What stands above it may be longer now. */
	const now = await page.locator("#lanes").boundingBox();
	await page.mouse.click(now.x + 20, now.y + 26);
	assert.ok(Math.abs(unfolded - await rows()) === 100);
	await page.keyboard.press("p");
	assert.ok(Math.abs(unfolded - await rows()) % 50 === 0);
	assert.match(await page.textContent("#lanes-chosen"),
	    /--from [0-9]+ns --to [0-9]+ns/);
	assert.match(await page.textContent("#lanes-key"), /hatched: lost/);
}

await browse(async browser => {
	const page = await open(browser, known);
	await fits(page, "flame", () => inSight(page, "seventy"));
	await page.click("#times");
	await page.fill("#search", "seventy");
	await fits(page, "flame-times-search");
	await load(page, known);
	await page.click("#table");
	await fits(page, "flame-table");
	await load(page, waits, "#g=1&n=700000001-1300000003");
	await page.waitForFunction("flame.timeline.ready && flame.timeline.rows");
	await check(page, "the timeline's totals are the report's",
	    () => totalsAgree(page));
	await check(page, "waits are where the threads waited", async () => {
		const read = await waitsAgree(page);
		await page.click("#lanes-fold");
		await waitsDrawn(page, read);
		await page.click("#lanes-fold");
	});
	await check(page, "pixels have the state that takes most of them",
	    async () => pixelsAgree(page, await waitsAgree(page)));
	await fits(page, "flame-timeline", () => timelineWorks(page));
	await load(page, planted);
	await fits(page, "flame-difference");
	const still = await watched(browser);
	await still.goto("file://" + metrics);
	await fits(still, "compare-metrics");
	await still.goto("file://" + functions);
	await fits(still, "compare-functions");
	await check(still, "a text that is cut is noticed", async () => {
		await still.$eval("svg text.name", e => {
			e.textContent = "W".repeat(40);
		});
		await assert.rejects(fits(still, "cut"), /WWWW: -/);
	});
	await check(still, "what axe-core finds is noticed", async () => {
		await still.reload();
		await still.$eval("svg", e => e.removeAttribute("aria-label"));
		await still.$eval("p", e => {
			e.style.color = "#808080";
		});
		for (const rule of [/svg-img-alt: /, /color-contrast: /])
			await assert.rejects(fits(still, "bad"), rule);
	});
});
