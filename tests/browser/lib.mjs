/* SPDX-License-Identifier: ISC */
/*
 * One browser for many checks.  A page that asks the network for something,
 * breaks its own policy, throws or opens a dialog fails the check that runs;
 * a check that holds prints a line, the first that does not ends the test.
 */
import {createRequire} from "node:module";
import assert from "node:assert/strict";

/* In ms.  A busy machine is slow: a test's own limit comes soon after. */
export const PATIENCE = 200000;

const {chromium} = createRequire(process.env.B + "/browser/")(
    "playwright-core");

export {assert};

export async function browse(run) {
	const browser = await chromium.launch({
		executablePath: "/usr/bin/chromium", timeout: PATIENCE,
		args: ["--no-sandbox", "--disable-gpu"],
	});
	try {
		await run(browser);
	} catch (error) {
		console.log("FAIL: " + error.stack);
		process.exitCode = 1;
	}
	/*
	 * On a machine short of memory Chromium was seen to hang while it
	 * closes.  At our end playwright kills it.
	 */
	await Promise.race([browser.close(),
	    new Promise(late => setTimeout(late, 10000))]);
	process.exit();
}

/*
 * Another page in the window of an earlier one, emptied in between: a window
 * of its own, with its process, takes five times as long.
 */
export async function load(page, file, hash = "") {
	await page.goto("about:blank");
	page.began = performance.now();
	await page.goto("file://" + file + hash);
	await page.waitForSelector("html[data-ready]");
	await clean(page);
	assert.equal(await page.evaluate("document.documentElement." +
	    "dataset.ready"), "yes", await text(page, "#quality"));
	return page;
}

/* An empty window; page.wrong lists what a page must not have done. */
export async function watched(browser, options = {}) {
	const context = await browser.newContext({
		viewport: {width: 1200, height: 900}, colorScheme: "light",
		permissions: ["clipboard-read", "clipboard-write"],
		...options,
	});
	context.setDefaultTimeout(PATIENCE);
	const page = await context.newPage(), wrong = page.wrong = [];
	page.on("pageerror", error => wrong.push("threw " + error.stack));
	page.on("dialog", dialog => {
		wrong.push("dialog " + dialog.message());
		dialog.dismiss();
	});
	page.on("request", request => {
		if (!/^(file|blob):/.test(request.url()))
			wrong.push("asked for " + request.url().slice(0, 80));
	});
	page.on("console", message => {
		if (message.type() === "error")
			wrong.push("said " + message.text());
	});
	await page.addInitScript(() => {
		window.violations = [];
		document.addEventListener("securitypolicyviolation", event =>
		    window.violations.push(event.violatedDirective));
	});
	return page;
}

/* A page that is ready. */
export async function open(browser, file, options = {}) {
	const {hash = "", ...rest} = options;
	return load(await watched(browser, rest), file, hash);
}

export async function clean(page) {
	assert.deepEqual(page.wrong, []);
	assert.deepEqual(await page.evaluate("window.violations"), []);
}

let checks = 0;

export async function check(page, what, run) {
	try {
		await run();
		await clean(page);
	} catch (error) {
		error.message = what + ": " + error.message;
		throw error;
	}
	checks++;
	console.log("ok: " + what);
}

/* Numbers stand a narrow space before their units. */
const spaced = text => text.replace(/\u202f/g, " ");

export const text = async (page, selector) =>
    spaced(await page.textContent(selector));

/* Back to the beginning, by the keyboard. */
export async function reset(page) {
	await page.focus("#graph");
	await page.keyboard.press("Escape");
}

/* The middle of a frame on the screen, by the names on its path. */
export async function place(page, path, panel = 0) {
	const at = await page.evaluate(([names, index]) => {
		const {graph, data} = window.flame;
		const of = graph.panels[index], {tree} = of;
		let node = 0;
		for (const name of names) {
			node = tree.children(node).find(i =>
			    data.names[tree.label[i]] === name);
			if (node === undefined)
				return null;
		}
		graph.show(of, node);
		const box = graph.boxOf(of, node);
		const top = graph.scroller.getBoundingClientRect();
		return {x: top.left + box.x + box.width / 2,
			y: top.top + box.y - graph.scroller.scrollTop + 8};
	}, [path, panel]);
	assert.ok(at, "no frame " + path.join(" > "));
	return at;
}

/* What the tooltip over a frame says. */
export async function tip(page, path, panel = 0) {
	const at = await place(page, path, panel);
	await page.mouse.move(at.x, at.y);
	return spaced((await page.$$eval("#tip > *", all => all.map(e =>
	    e.textContent))).join("\n"));
}

export async function click(page, path, options = {}) {
	const at = await place(page, path, options.panel || 0);
	if (options.shift)
		await page.keyboard.down("Shift");
	await page.mouse.click(at.x, at.y);
	if (options.shift)
		await page.keyboard.up("Shift");
}

export const crumbs = page => page.$$eval("#crumbs button", all =>
    all.map(e => e.textContent).join(" > "));

