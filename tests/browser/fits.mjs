/* SPDX-License-Identifier: ISC */
/*
 * What holds for each page on a desk, a laptop and a phone, light and dark:
 * nothing to scroll aside, each text wholly within the window, its picture
 * and its box, and nothing serious found by axe-core.  What was seen is kept
 * in the build directory, browser/seen/.
 */
import {createRequire} from "node:module";
import fs from "node:fs";
import {assert, check} from "./lib.mjs";

const axe = fs.readFileSync(createRequire(process.env.B + "/browser/")
    .resolve("axe-core/axe.min.js"), "utf8");
const seen = process.env.B + "/browser/seen";

/* The page hears of a new size with the next frame. */
const settled = page => page.evaluate(() => new Promise(drawn =>
    requestAnimationFrame(() => requestAnimationFrame(drawn))));

/* In the page: the texts of which a part cannot be seen. */
function cutTexts() {
	const texts = document.createTreeWalker(document.body,
	    NodeFilter.SHOW_TEXT), range = document.createRange(), cut = [];
	const clips = e => e instanceof SVGSVGElement ||
	    getComputedStyle(e).overflowX !== "visible";

	while (texts.nextNode()) {
		const text = texts.currentNode, own = text.parentElement;
		if (!text.data.trim() || !own.checkVisibility() ||
		    own.closest("script, style, svg title, option, .hidden"))
			continue;
		let left = 0, right = document.documentElement.clientWidth;
		for (let e = own; e !== document.body; e = e.parentElement) {
			const box = e.getBoundingClientRect();
			if (clips(e)) {
				left = Math.max(left, box.left);
				right = Math.min(right, box.right);
			}
		}
		range.selectNodeContents(text);
		const box = range.getBoundingClientRect();
		/* An ellipsis hides what the box of the text does not tell. */
		if (box.left < left - 1 || box.right > right + 1 ||
		    (clips(own) && own.scrollWidth > own.clientWidth + 1))
			cut.push(`${text.data.trim()}: ${box.left} to ` +
			    `${box.right}, not ${left} to ${right}`);
	}
	for (const select of document.querySelectorAll("select")) {
		const whole = select.cloneNode(false);

		if (!select.checkVisibility())
			continue;
		whole.append(select.selectedOptions[0].cloneNode(true));
		whole.style.cssText = "position: absolute; max-width: none";
		select.parentElement.append(whole);
		if (whole.offsetWidth > select.offsetWidth + 1)
			cut.push(`${whole.textContent}: ` +
			    `${whole.offsetWidth}, not ${select.offsetWidth}`);
		whole.remove();
	}
	return cut;
}

async function serious(page) {
	const found = await page.evaluate(
	    "axe.run({resultTypes: ['violations'], preload: false})");

	assert.ok(found.passes.length > 5, "axe-core looked at nothing");
	return found.violations.filter(rule =>
	    ["serious", "critical"].includes(rule.impact)).map(rule =>
	    `${rule.id}: ${rule.nodes.map(node => node.html).join(" ")}`);
}

/* also: what else has to hold at each size, on this page alone. */
export async function fits(page, name, also = () => {}) {
	fs.mkdirSync(seen, {recursive: true});
	await page.evaluate(axe);
	for (const colorScheme of ["light", "dark"])
		for (const width of [1600, 1024, 390])
			await check(page, `${name}, ${width} pixels, ` +
			    colorScheme, async () => {
				await page.emulateMedia({colorScheme});
				await page.setViewportSize({width,
					height: 900});
				await settled(page);
				await page.screenshot({path: `${seen}/` +
				    `${name}-${width}-${colorScheme}.png`});
				assert.ok(await page.evaluate("document." +
				    "documentElement.scrollWidth") <= width,
				"something is to be scrolled aside");
				assert.deepEqual(await page.evaluate(cutTexts),
				    []);
				assert.deepEqual(await serious(page), []);
				await also();
			});
}
