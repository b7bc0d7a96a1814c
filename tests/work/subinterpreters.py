# SPDX-License-Identifier: ISC
"""tokens.py in two subinterpreters and in the main one, at the same time.

usage: subinterpreters.py CALLS OUTPUT

Each makes CALLS calls, the main one in two threads, one of which made the
others.  OUTPUT gets what they say, one after the other.
"""
import os
import runpy
import sys
import threading

try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

calls, output = int(sys.argv[1]), sys.argv[2]
tokens = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tokens.py")
argv = [[tokens, str(calls), "1" if n else "2", "%s.%d" % (output, n),
         str(n * calls)] for n in range(3)]


def run(of, interpreter):
    interpreters.run_string(interpreter, """
import runpy, sys
sys.argv = %r
runpy.run_path(sys.argv[0])
""" % (argv[of],))


made = [interpreters.create() for _ in range(2)]
threads = [threading.Thread(target=run, args=(1 + n, interpreter))
           for n, interpreter in enumerate(made)]
for thread in threads:
    thread.start()
sys.argv = argv[0]
runpy.run_path(tokens)
for thread in threads:
    thread.join()
with open(output, "w", encoding="utf-8") as out:
    for one in argv:
        with open(one[3], encoding="utf-8") as part:
            out.write(part.read())
# 3.11 may hang when it ends with subinterpreters.
os._exit(0)
