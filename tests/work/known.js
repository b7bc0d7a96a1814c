// SPDX-License-Identifier: ISC
//
// Writes a program of random functions by a seed, runs it for about a second
// of CPU time, and prints what each function took, by the kernel's own clock
// of the thread: name, tab, its own nanoseconds, tab, those with callees.
//
// The line without a name is what measuring took.
//
// usage: node known.js SEED FILE	FILE: where the program goes
'use strict';
const fs = require('fs');
const path = require('path');

let state = BigInt(process.argv[2]) * 2n + 1n;
function random(n) {
	state = BigInt.asUintN(64, state * 6364136223846793005n +
		1442695040888963407n);
	return Number(state >> 33n) % n;
}

// One call of a callee, in one of the ways there are.
function call(to) {
	switch (random(7)) {
	case 0: return `[1].forEach(() => ${to}(a));`;
	case 1: return `[${to}].map((f) => f(a));`;
	case 2: return `x += Reflect.apply(${to}, null, [a]);`;
	case 3: return `try { x += ${to}(a); } finally { x++; }`;
	case 4: return `JSON.stringify([1], () => { ${to}(a); });`;
	case 5: return `for (const v of once()) x += ${to}(v);`;
	}
	return `x += ${to}(a);`;
}

// Each function works, and calls some with a higher number; all are called,
// and all calls together are few, so that each is long beside the clock.
function program(n) {
	let calls = 1;
	const lines = ["'use strict';", 'let x = 0;', 'function* once() {',
		'	yield 1;', '}'];
	for (let of = 0; of < n; of++) {
		const callees = of + 1 < n ? [of + 1] : [];
		while (random(3) === 0 && of + 2 < n && calls < 16) {
			callees.push(of + 2 + random(n - of - 2));
			calls *= 2;
		}
		lines.push(`function f${of}(a) {`, `	clock.enter(${of});`,
			`	for (let i = 0; i < ${1 + random(9)}000000 * scale; i++)`,
			'		x += (i * a) % 7;',
			...callees.map((to) => `	clock.pause(${of}); ` +
			call('f' + to) + ' clock.resume();'),
			`	clock.leave(${of});`, '	return x;', '}');
	}
	lines.push('let clock, scale;',
		'module.exports = (of, by) => { clock = of; scale = by; f0(3); };');
	return lines.join('\n') + '\n';
}

const cpu = fs.openSync('/proc/thread-self/schedstat');
const text = Buffer.alloc(64);
// The kernel brings it up to date when one asks for the usage of the process.
function now() {
	process.cpuUsage();
	return Number(text.latin1Slice(0, fs.readSync(cpu, text, 0, 64, 0)).
		split(' ')[0]);
}

const count = 4 + random(9);
const own = new Array(count).fill(0), total = new Array(count).fill(0);
const stack = [];
let since = 0;
const clock = {
	enter(of) {
		stack.push(of);
		since = now();
	},
	pause(of) {
		const ns = now() - since;
		own[of] += ns;
		for (const each of stack)
			total[each] += ns;
	},
	resume() {
		since = now();
	},
	leave(of) {
		clock.pause(of);
		stack.pop();
	},
};

fs.writeFileSync(process.argv[3], program(count));
const run = require(path.resolve(process.argv[3]));
setTimeout(() => {
	const begin = now();
	let scale = 1, whole = 0;
	for (let n = 0, at; (at = now()) - begin < 1.2e9; n++) {
		run(clock, scale);
		whole += now() - at;
		if (n === 0)
			scale = Math.max(1, Math.round(2e8 / (now() - begin)));
	}
	for (let of = 0; of < count; of++)
		console.log(`f${of}\t${own[of]}\t${total[of]}`);
	console.log(`\t${own.reduce((sum, ns) => sum - ns, whole)}\t0`);
	setTimeout(() => {}, 500);
}, 1000);
