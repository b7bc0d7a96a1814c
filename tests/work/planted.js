// SPDX-License-Identifier: ISC
//
// A function that takes 12 % of the CPU time of a real program, asked for by a
// function of that program.  At exit it writes into the file PLANTED_TO what
// it took and what the process did, in microseconds.
'use strict';
const fs = require('fs');

const share = Number(process.env.PLANTED_SHARE || 0.12);
let took = 0, x = 1, until = 0;

function used() {
	const { user, system } = process.cpuUsage();
	return user + system;
}

// Nothing in here calls, so that its time is its own.
exports.plantedHot = function plantedHot(n) {
	let s = x;
	for (let i = 0; i < n; i++)
		s = (s * 31 + i) % 1000003;
	x = s;
	return s;
};

// The rest is what it does for callers, so that they call it themselves.
exports.isDue = () => share > 0 && used() * share > took;
exports.used = used;
exports.took = (from) => {
	took += used() - from;
};

process.on('exit', () => fs.writeFileSync(process.env.PLANTED_TO,
	`${took} ${used()}\n`));
