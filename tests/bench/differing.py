# SPDX-License-Identifier: ISC
"""Functions in Python that all differ: each of tops calls 23 others below it,
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
