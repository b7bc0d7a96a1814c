/* SPDX-License-Identifier: ISC */
/*
 * Reads a pprof file by pprof-format and a speedscope file by speedscope in
 * a browser, and writes the stacks that these have: READER.EVENT.json, pairs
 * of a stack from the root and its value.  READER-off-by-one is of files with
 * one weight that is other by one.  Called by exports-in-their-viewers.
 */
import {createRequire} from "node:module";
import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import zlib from "node:zlib";
import {assert, browse, PATIENCE} from "./lib.mjs";

const dir = process.argv[2];
const modules = process.env.B + "/browser/node_modules";
const {Profile} = createRequire(process.env.B + "/browser/")("pprof-format");

function write(reader, event, stacks) {
	fs.writeFileSync(`${dir}/${reader}.${event}.json`,
	    JSON.stringify(stacks.filter(stack => stack[1] !== 0)));
}

/* ------------------------------------------------------------- pprof */

function readPprof(bytes, reader) {
	const profile = Profile.decode(bytes);
	const string = n => profile.stringTable.strings[Number(n)];
	const names = new Map(profile.function.map(f =>
	    [f.id, string(f.name)]));
	/* Innermost first, both the locations and the lines in one. */
	const frames = new Map(profile.location.map(l =>
	    [l.id, l.line.map(line => names.get(line.functionId))]));

	profile.sampleType.forEach((type, n) => write(reader,
	    string(type.type), profile.sample.map(sample =>
		[sample.locationId.flatMap(id => frames.get(id)).reverse(),
		    Number(sample.value[n])])));
	return profile;
}

function pprof() {
	const bytes = zlib.gunzipSync(fs.readFileSync(dir + "/x.pb.gz"));
	const profile = readPprof(bytes, "pprof");
	const sample = profile.sample.find(s => Number(s.value[1]) > 0);

	sample.value[1] = Number(sample.value[1]) + 1;
	readPprof(profile.encode(), "pprof-off-by-one");
	console.log(`ok: pprof-format reads ${profile.sample.length} stacks`);
}

/* -------------------------------------------------------- speedscope */

/* The built page of the package, and the files to look at. */
function serve() {
	const roots = [modules + "/speedscope/dist/release", dir];
	const types = {".html": "text/html", ".js": "text/javascript",
		".css": "text/css", ".json": "application/json"};
	const server = http.createServer((request, response) => {
		const name = path.basename(request.url.split(/[?#]/)[0]) ||
		    "index.html";
		const file = roots.map(root => path.join(root, name)).find(
		    candidate => fs.existsSync(candidate));

		response.writeHead(file ? 200 : 404, {"content-type":
		    types[path.extname(name)] || "font/woff2"});
		response.end(file && fs.readFileSync(file));
	});
	return new Promise(resolve => server.listen(0, "127.0.0.1", () =>
	    resolve(server)));
}

/* What it writes when asked to save is what it has read. */
async function saved(page) {
	const waiting = page.waitForEvent("download");

	await page.keyboard.press("Control+s");
	return JSON.parse(fs.readFileSync(await (await waiting).path()));
}

function stacksOf(file, profile) {
	const name = n => file.shared.frames[n].name;

	if (profile.type === "sampled")
		return profile.samples.map((stack, n) =>
		    [stack.slice(1).map(name), profile.weights[n]]);
	const stacks = [], path = [];
	let last = profile.startValue;
	for (const event of profile.events) {
		if (event.at > last)
			stacks.push([path.slice(1).map(name),
			    event.at - last]);
		last = event.at;
		if (event.type === "O")
			path.push(event.frame);
		else
			assert.equal(path.pop(), event.frame);
	}
	return stacks;
}

/* The same text for a weight as in its table of functions. */
function shown(unit, weight) {
	if (unit !== "nanoseconds")
		return weight.toLocaleString("en-US");
	return weight >= 1e9 ? (weight / 1e9).toFixed(2) + "s" :
	    weight >= 1e6 ? (weight / 1e6).toFixed(2) + "ms" :
	    weight >= 1e3 ? (weight / 1e3).toFixed(2) + "µs" :
	    weight.toFixed(2) + "ns";
}

/* The rows of its table, against the stacks that it has. */
async function checkTable(page, file, profile) {
	const stacks = stacksOf(file, profile);
	/* Of those of this profile; each has frames of its own. */
	const used = new Set(profile.type === "sampled" ?
	    profile.samples.flat() : profile.events.map(e => e.frame));
	const once = name => [...used].filter(n =>
	    file.shared.frames[n].name === name).length === 1;
	const own = new Map(), total = new Map();
	const add = (map, name, value) =>
	    map.set(name, (map.get(name) || 0) + value);

	for (const [frames, value] of stacks) {
		if (frames.length > 0)
			add(own, frames[frames.length - 1], value);
		for (const name of new Set(frames))
			add(total, name, value);
	}
	await page.getByText("Sandwich").click();
	await page.getByText("Symbol Name").waitFor();
	const rows = (await page.$$eval("table tr", all => all.map(row =>
	    Array.from(row.cells, cell => cell.textContent)))).filter(
	    row => row.length === 3 && total.has(row[2]) && once(row[2]));
	assert.ok(rows.length > 1 && rows.length >= Math.min(10,
	    [...total.keys()].filter(once).length), `${rows.length} rows`);
	for (const row of rows) {
		const name = row[2];

		for (const [n, map] of [[0, total], [1, own]]) {
			const text = shown(profile.unit, map.get(name) || 0);
			assert.ok(row[n].startsWith(text + " ("),
			    `${name}: ${row[n]}, not ${text}`);
		}
	}
	return rows.length;
}

async function readScope(browser, port, file, reader) {
	const context = await browser.newContext({acceptDownloads: true});
	context.setDefaultTimeout(PATIENCE);
	const page = await context.newPage(), wrong = [];

	page.on("pageerror", error => wrong.push(error.stack));
	page.on("dialog", dialog => {
		wrong.push(dialog.message());
		dialog.dismiss();
	});
	await page.goto(`http://127.0.0.1:${port}/#profileURL=` +
	    encodeURIComponent(`http://127.0.0.1:${port}/${file}`));
	await page.getByText("Sandwich").waitFor();
	const whole = await saved(page);
	for (const profile of whole.profiles)
		write(reader, profile.name, stacksOf(whole, profile));
	const profile = whole.profiles[whole.activeProfileIndex || 0];
	const rows = await checkTable(page, whole, profile);
	assert.deepEqual(wrong, []);
	console.log(`ok: speedscope shows ${rows} rows of ${file}`);
	await context.close();
}

pprof();
const server = await serve(), {port} = server.address();
const other = JSON.parse(fs.readFileSync(dir + "/x.json"));
other.profiles[0].weights[0]++;
other.profiles[0].endValue++;
fs.writeFileSync(dir + "/other.json", JSON.stringify(other));
await browse(async browser => {
	await readScope(browser, port, "x.json", "speedscope");
	await readScope(browser, port, "other.json",
	    "speedscope-off-by-one");
});
