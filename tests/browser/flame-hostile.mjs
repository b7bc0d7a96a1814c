/* SPDX-License-Identifier: ISC */
/*
 * Names that try to be markup, script and commands, through every part of
 * the page that shows or takes a name.
 */
import {assert, browse, check, load, open, place, text} from "./lib.mjs";

const [file, svg] = process.argv.slice(2);
const NAMES = ["</script><script>window.pwned=1</script>",
	"\"><img src=x onerror=window.pwned=1>", "<!--<script>",
	"${window.pwned=1}", "__proto__", "constructor",
	"javascript:window.pwned=1", "&lt;b&gt;&amp;"];
const SHOWN = ["\\x1b[31mred\\x07\\x1b]0;title\\x07",
	"abc\\xe2\\x80\\xaegnp.exe", "\\xff\\xfe broken \\xc3",
	"two\\x0alines\\x0d\\x09tab", "zero\\xe2\\x80\\x8bwidth",
	"noncharacter \\xef\\xbf\\xbf"];

async function harmless(page) {
	assert.equal(await page.evaluate("window.pwned"), undefined);
	assert.deepEqual(await page.$$eval("img, iframe, object, embed, svg",
	    all => all.map(e => e.outerHTML)), []);
	assert.equal(await page.$$eval("script", all => all.length), 2);
}

await browse(async browser => {
	const page = await open(browser, file);
	await check(page, "title, facts and events are text",
	    async () => {
		assert.equal(await text(page, "h1"), NAMES[0]);
		await page.click("summary");
		assert.ok((await text(page, "#facts")).includes(NAMES[1]));
		assert.equal(await page.textContent("#event option"), NAMES[1]);
		await harmless(page);
	});
	await check(page, "every name is in the table, and runs nothing",
	    async () => {
		await page.click("#table");
		for (const name of [...NAMES, ...SHOWN]) {
			await page.fill("#search", name);
			assert.match(await text(page, "#matched"), /in \d+ fr/);
			const rows = await page.$$eval("#rows button", all =>
			    all.map(e => [e.textContent, e.title]));
			assert.ok(rows.some(([shown]) => shown === name), name);
			await page.click("#rows button >> nth=0");
			await page.click("#keep");
			await harmless(page);
			await page.focus("#graph");
			await page.keyboard.press("Escape");
		}
	});
	await check(page, "tooltips, what is read out, and crumbs", async () => {
		const n = await page.evaluate("flame.main.n");
		await page.focus("#graph");
		for (let i = 1; i < n; i++) {
			await page.evaluate(node => {
				const [panel] = window.flame.graph.panels;
				window.flame.setFocus({panel, node});
			}, i);
			await page.keyboard.press("Enter");
			assert.ok(await page.isVisible("#crumbs"));
		}
		await harmless(page);
		await page.keyboard.press("Escape");
	});
	await check(page, "the place of a line is text", async () => {
		await page.evaluate(() => {
			const {graph, data, main} = window.flame;
			window.flame.setFocus({panel: graph.panels[0], node:
			    main.label.findIndex(l => data.places[l])});
		});
		assert.ok((await text(page, "#tip")).includes(
		    "<img src=x onerror=window.pwned=1>:3"));
		await harmless(page);
	});
	await check(page, "10 kB of name: short to see, whole to copy",
	    async () => {
		await page.evaluate(() => {
			const {graph, data, main} = window.flame;
			const node = main.label.findIndex(l =>
			    data.names[l].startsWith("std::map<TTT"));
			window.flame.setFocus({panel: graph.panels[0], node});
		});
		const tip = await text(page, "#tip");
		assert.match(tip, /10239 characters; press c/);
		assert.ok(tip.length < 1500);
		await page.focus("#graph");
		await page.keyboard.press("c");
		await page.waitForFunction(() => document.getElementById(
		    "live").textContent === "copied");
		assert.equal((await page.evaluate(
		    "navigator.clipboard.readText()")).length, 10239);
	});
	await check(page, "the view as SVG is well-formed", async () => {
		const result = await page.evaluate(() => {
			const {graph, data} = window.flame;
			const xml = new DOMParser().parseFromString(
			    graph.svg(data.title, ["x"]), "image/svg+xml");
			return [xml.querySelectorAll("parsererror").length,
				xml.querySelectorAll("script, image").length];
		});
		assert.deepEqual(result, [0, 0]);
	});
	const linked = await open(browser, file);
	for (const name of NAMES.slice(0, 2)) {
		const hash = "#q=" + encodeURIComponent(name) + "&k=" +
		    encodeURIComponent(name) + "&z=" + encodeURIComponent(name);
		await load(linked, file, hash);
		await check(linked, "a link with " + name, async () => {
			await harmless(linked);
			assert.equal(await linked.inputValue("#search"), name);
		});
	}
	/* That nothing ran is worth something only if it would be seen. */
	const probe = await load(linked, file);
	await probe.evaluate(() => {
		const script = document.createElement("script");
		script.textContent = "window.pwned = 1";
		document.body.append(script);
		const div = document.createElement("div");
		div.innerHTML = "<img src=x onerror='window.pwned = 1'>";
		document.body.append(div);
	});
	await probe.waitForFunction(() => window.violations.length >= 2);
	assert.equal(await probe.evaluate("window.pwned"), undefined);
	console.log("ok: the policy stops a script and an image, visibly");

	const drawing = await browser.newPage();
	await drawing.goto("file://" + svg);
	assert.equal(await drawing.evaluate("window.pwned"), undefined);
	assert.ok((await drawing.textContent("svg")).includes(NAMES[0]));
	assert.equal(await drawing.evaluate(
	    "document.querySelectorAll('script, image, a').length"), 0);
	console.log("ok: the drawing runs nothing");
});
