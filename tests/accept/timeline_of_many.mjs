/* SPDX-License-Identifier: ISC */
/* The page of timeline-of-two-million-switches.sh. */
import {execFileSync} from "node:child_process";
import fs from "node:fs";
import {assert, browse, check, load, watched} from "../browser/lib.mjs";

const [file, recording, truth] = process.argv.slice(2);
/* Two by link, beside the borders of grains; and a view of a microsecond. */
const RANGES = [[7000000001, 7123456789], [0, 60000000000]];
const VIEW = [31415926535, 31415927535];
const LANES = 20, RUNS = 3, ZOOMS = 40;

function reported([from, to]) {
	const report = JSON.parse(execFileSync(process.env.DTPROF, ["report",
		"--json", "--from", from + "ns", "--to", to + "ns", recording],
	    {maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"]}));
	return report.quality_by_event.map(e => [e.weight, e.samples]);
}

const counted = totals => totals.map(t => [t.weight, t.samples]);

async function totalsAgree(page) {
	for (const range of RANGES) {
		await load(page, file, `#g=1&n=${range.join("-")}`);
		await page.waitForFunction("flame.timeline.ready");
		const {chosen, totals, rounded, graph, unit} =
		    await page.evaluate(() => {
			const {timeline, state, main} = flame;
			const exact = timeline.totals(state.slice);
			timeline.restOf = () => 0;
			return {chosen: state.slice, totals: exact,
				rounded: timeline.totals(state.slice),
				graph: main.total[0],
				unit: timeline.head.unit_ns};
		});
		const wanted = reported(chosen);
		assert.ok(chosen[0] <= range[0] && chosen[1] >= range[1]);
		assert.deepEqual(counted(totals), wanted);
		assert.notDeepEqual(counted(rounded), wanted);
		assert.ok(Math.abs(graph - wanted[0][0]) <=
		    unit * wanted[0][1]);
	}
	await load(page, file, "#g=1");
	await page.waitForFunction("flame.timeline.ready");
	const {range, totals, text} = await page.evaluate(view => {
		const {timeline} = flame;
		timeline.look(...view);
		timeline.tell();
		const snapped = timeline.snap(timeline.view);
		return {range: snapped, totals: timeline.totals(snapped),
			text: document.getElementById("lanes-text")
			    .textContent};
	}, VIEW);
	assert.deepEqual(counted(totals), reported(range));
	assert.match(text, /this page rounds times to [0-9.]+\s\S+,/);
}

/* Waits of some lanes: begin and end, of both the same unit. */
async function waitsAgree(page) {
	const wanted = new Map();
	for (const line of fs.readFileSync(truth, "utf8").split("\n")) {
		const [tid, state, from, to] = line.split(" ");
		if (tid >= 1000 && tid < 1000 + LANES)
			wanted.set(tid, [...wanted.get(tid) || [],
				[state, Number(from), Number(to)]]);
	}
	const {lanes, unit} = await page.evaluate(n => {
		const {timeline} = flame, {state, ended, weight} = timeline;
		return {unit: timeline.head.unit_ns, lanes: timeline.lanes
		    .slice(0, n).map(({tid, first, end}) => {
			const waits = [];
			for (let i = first; i < end; i++)
				if (state[i])
					waits.push([STATES[state[i]],
						ended[i] - weight[i],
						ended[i]]);
			return {tid, waits};
		})};
	}, LANES);
	for (const {tid, waits} of lanes) {
		const truths = wanted.get(String(tid));
		assert.equal(waits.length, truths.length);
		waits.forEach(([state, from, to], i) => {
			const [in_state, begin, end] = truths[i];
			assert.equal(state, in_state);
			/* What is stored 300 ns late may be drawn so. */
			assert.ok(begin - from > -300 && begin - from < unit &&
			    end - to > -300 && end - to < unit);
		});
	}
	console.log(`ok: times in units of ${unit} ns`);
}

const median = all => [...all].sort((a, b) => a - b)[all.length >> 1];

/* Milliseconds since the page began: elapsed, and of CPU time of its thread. */
async function clock(page) {
	const {metrics} = await page.cdp.send("Performance.getMetrics");
	return [performance.now(), metrics.find(({name}) => name ===
	    "TaskDuration").value * 1000];
}

async function took(page, run) {
	const before = await clock(page);
	await run();
	const after = await clock(page);
	return after.map((ms, i) => ms - before[i]);
}

/* Pictures of zooms around a time; reading a pixel waits for the picture. */
async function zooms(page) {
	const all = [];
	for (let i = 0; i < ZOOMS; i++)
		all.push(await took(page, () => page.evaluate(n => {
			const {timeline} = flame;
			timeline.zoom(n % 20 ? 0.7 : 1e6, timeline.whole[1] *
			    0.37);
			timeline.c.getImageData(0, 0, 1, 1);
		}, i)));
	return all;
}

/* For people to judge: other work takes its share, of CPU time least. */
async function measure(page, width) {
	const opened = [], folded = [], threads = [];
	await page.setViewportSize({width, height: 900});
	for (let run = 0; run < RUNS; run++) {
		opened.push(await took(page, async () => {
			await load(page, file);
			await page.evaluate(async () => {
				await flame.timeline.load();
				flame.toggle("threads");
			});
		}));
		folded.push(...await zooms(page));
		await page.evaluate("flame.timeline.foldAll()");
		threads.push(...await zooms(page));
	}
	for (const [what, all] of [["page and timeline open", opened],
	    ["zoom, processes", folded], ["zoom, threads", threads]])
		console.log(`ok: ${width} pixels: ${what}, ${all.length} ` +
		    `times: median, slowest: ` + ["elapsed", "CPU"].map(
		    (clock, i) => clock + " " + [median, of => Math.max(...of)]
		    .map(of => Math.round(of(all.map(ms => ms[i]))) + " ms")
		    .join(", ")).join("; "));
}

await browse(async browser => {
	const page = await watched(browser), {size} = fs.statSync(file);
	page.cdp = await page.context().newCDPSession(page);
	await page.cdp.send("Performance.enable", {timeDomain: "threadTicks"});
	assert.ok(size <= 10e6, `${size} bytes`);
	console.log(`ok: ${size} bytes`);
	for (const width of [1600, 1024, 390])
		await measure(page, width);
	await check(page, "totals are the report's", () => totalsAgree(page));
	await check(page, "waits are where the threads waited",
	    () => waitsAgree(page));
});
