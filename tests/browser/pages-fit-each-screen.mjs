/* SPDX-License-Identifier: ISC */
/* The pages of pages-fit-each-screen.sh, one after the other. */
import {assert, browse, check, load, open, watched} from "./lib.mjs";
import {fits} from "./fits.mjs";

const [known, planted, metrics, functions] = process.argv.slice(2);

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

await browse(async browser => {
	const page = await open(browser, known);
	await fits(page, "flame", () => inSight(page, "seventy"));
	await page.click("#times");
	await page.fill("#search", "seventy");
	await fits(page, "flame-times-search");
	await load(page, known);
	await page.click("#table");
	await fits(page, "flame-table");
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
