/* SPDX-License-Identifier: ISC */
/*
 * Times of a flame graph page in a browser without a GPU: from the address
 * to the first picture, and of what one does then, each with the drawing
 * that it causes.  page.mjs ROUNDS FILE ...
 */
import {statSync} from "node:fs";
import {browse, open} from "../browser/lib.mjs";

const [rounds, ...files] = process.argv.slice(2);

/* Until the frame after the next has been handed to the screen. */
const settle = page => page.evaluate(() => new Promise(done =>
    requestAnimationFrame(() => requestAnimationFrame(done))));

async function once(browser, file) {
	const page = await open(browser, file);
	await settle(page);
	const result = {load: performance.now() - page.began};
	Object.assign(result, await page.evaluate(() => {
		const {flame} = window, [panel] = flame.graph.panels;
		const took = run => {
			const begun = performance.now();
			run();
			/* Reading a pixel waits for the drawing. */
			flame.graph.c.getImageData(0, 0, 1, 1);
			return performance.now() - begun;
		};
		const {tree} = panel, node = tree.levels[4].reduce((a, b) =>
		    tree.total[a] > tree.total[b] ? a : b);
		return {
			zoom: took(() => flame.zoomTo(panel, node)),
			out: took(() => flame.reset()),
			scroll: took(() => {
				flame.graph.scroller.scrollTop -= 400;
				flame.graph.draw();
			}),
			search: took(() => flame.go({search: "/db.*Write/"})),
			table: took(() => flame.toggle("list")),
			times: took(() => flame.go({range: [100, 200],
				search: "", list: false})),
			reverse: took(() => flame.go({view: "reverse"})),
		};
	}));
	await page.context().close();
	return result;
}

await browse(async browser => {
	for (const file of files) {
		const all = [];
		for (let i = 0; i < rounds; i++)
			all.push(await once(browser, file));
		const size = statSync(file).size / 1e6;
		console.log(`${file.replace(/.*\//, "")}: ` +
		    `${size.toFixed(2)} MB`);
		for (const name of Object.keys(all[0])) {
			const sorted = all.map(one => one[name]).sort((a, b) =>
			    a - b);
			console.log("  " + name.padEnd(10) + [sorted[0],
			    sorted[sorted.length >> 1], sorted.at(-1)].map(x =>
			    x.toFixed(1)).join(" / ") + " ms");
		}
	}
});
