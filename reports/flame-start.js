/* SPDX-License-Identifier: ISC */
/*
 * Starts the page when its data is unpacked, and says so by data-ready on the
 * document, which tests wait for.
 */
"use strict";

readData(JSON.parse($("data").textContent)).then(data => {
	window.flame = data.difference ? new DifferentialGraph(data) :
	    new FlameGraph(data);
	document.documentElement.dataset.ready = "yes";
}).catch(error => {
	$("quality").textContent = "Invalid data in this page: " +
	    error.message;
	$("quality").classList.add("bad");
	document.documentElement.dataset.ready = "no";
});
