# SPDX-License-Identifier: ISC
"""Functions that all differ: each of tops calls 23 others below it,
and the last one a leaf that works.  Programs that are measured begin so."""
FUNCTIONS = """
def leaf(a):
    return sum(x * a % 7 for x in range(40))
calls = [leaf]
for n in range(200):
    scope = {"inner": calls[-1]}
    exec("def f%d(a):\\n    b = a + 1\\n    return inner(b) + a" % n, scope)
    calls.append(leaf if n % 24 == 23 else scope["f%d" % n])
tops = calls[23::24]
"""

JAVASCRIPT = """
function leaf(a) {
	let sum = 0;
	for (let x = 0; x < 2000; x++)
		sum += x * a % 7;
	return sum;
}
let text = '';
for (let n = 0; n < 200; n++)
	text += `function f${n}(a) { const b = a + 1; return ` +
		(n % 24 ? `f${n - 1}` : 'leaf') + '(b) + a; }\\n';
const tops = eval(`(() => { ${text} return [f23, f47, f71, f95, f119, f143,
	f167, f191]; })()`);
"""
