#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""modules.py [--lines] [--uses]: no module depends on one listed after it.

mk/modules lists the modules from the bottom of the program upwards.  A file
may include headers of its own module and of those listed before it, and its
object may ask only those for symbols.  The objects are those that make left
in $B/obj (build/obj): lint runs after it.  A line for each breach; exit
status 1 when there is any.

--lines prints the lines of each module, --uses what each uses.
"""
import collections
import fnmatch
import os
import re
import subprocess
import sys

LEAST_MODULES = 12
LARGEST_SHARE = 0.25

breaches = []


def breach(where, what):
    breaches.append("%s: %s" % (where, what))


class Rules:
    """mk/modules, taken apart."""

    def __init__(self, path):
        self.modules = []        # (name, patterns), the lowest first
        self.exempt = {}         # (file, module): [number, line]
        self.interfaces = set()  # (file, struct)
        self.counts = []         # (name, number, expression, patterns, line)
        for number, line in enumerate(open(path), 1):
            words = line.split()
            if not words or words[0].startswith("#"):
                continue
            where = "%s:%d" % (path, number)
            if words[0] == "module" and len(words) >= 3:
                self.modules.append((words[1], words[2:]))
            elif words[0] == "up" and len(words) >= 5:
                self.exempt[words[1], words[2]] = [int(words[3]), where]
            elif words[0] == "interface" and len(words) >= 4:
                self.interfaces.add((words[1], words[2]))
            elif words[0] == "count" and len(words) >= 5:
                self.counts.append((words[1], int(words[2]), words[3],
                                    words[4:], where))
            else:
                breach(where, "cannot be read: %s" % line.strip())
        self.rank = {name: n for n, (name, _) in enumerate(self.modules)}

    def module_of(self, path):
        for name, patterns in self.modules:
            if matches(path, patterns):
                return name
        return None


def matches(path, patterns):
    """A folder, with all below it, or a pattern of names in one folder."""
    folder, name = os.path.split(path)
    for pattern in patterns:
        if pattern.endswith("/"):
            if path.startswith(pattern):
                return True
        elif (os.path.dirname(pattern) == folder and
              fnmatch.fnmatch(name, os.path.basename(pattern))):
            return True
    return False


def sources():
    for top in ("sys", "libprof", "cmd"):
        for folder, _, names in os.walk(top):
            for name in names:
                if name.endswith((".c", ".h", ".def")):
                    yield os.path.join(folder, name)


def without_comments(text):
    # A string may hold what begins a comment: "/proc/*/maps".
    return re.sub(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\''
                  r"|/\*.*?\*/|//[^\n]*",
                  lambda m: m[0] if m[0][0] in "\"'" else
                  re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)


def includes(files, texts):
    """(file, line, file that is included)"""
    for path in files:
        for match in re.finditer(r'(?m)^#[ \t]*include[ \t]*"([^"]+)"',
                                 texts[path]):
            for folder in (os.path.dirname(path), "sys", "libprof",
                           "cmd/dtprof"):
                target = os.path.normpath(os.path.join(folder, match[1]))
                if target in texts:
                    line = texts[path].count("\n", 0, match.start()) + 1
                    yield path, line, target
                    break


def symbols(build, files):
    """(file, symbol, file that has it), by the objects."""
    objects = {}
    for path in files:
        if not path.endswith(".c") or path.startswith("sys/"):
            continue
        name = os.path.join(build, "obj", path[:-1] + "o")
        if not os.path.exists(name):
            breach(path, "there is no %s: make first" % name)
        elif os.path.getmtime(name) < os.path.getmtime(path):
            breach(path, "is newer than %s: make first" % name)
        else:
            objects[name] = path
    if not objects:
        return
    said = subprocess.run(["nm", "-A", "-g", *objects], check=True,
                          capture_output=True, text=True).stdout
    has, asks = {}, []
    for line in said.splitlines():
        name, rest = line.split(":", 1)
        words = rest.split()
        if words[-2] in "Uw":
            asks.append((objects[name], words[-1]))
        else:
            has[words[-1]] = objects[name]
    for path, symbol in asks:
        if symbol in has:
            yield path, symbol, has[symbol]


def check_edges(rules, files, texts, build):
    """Includes and symbols; returns which modules each module uses."""
    of = {path: rules.module_of(path) for path in files}
    up = collections.defaultdict(set)
    uses = collections.defaultdict(set)

    for path in files:
        if of[path] is None:
            breach(path, "belongs to no module of mk/modules")
    edges = [(path, "includes %s" % target, target, "%s:%d" % (path, line))
             for path, line, target in includes(files, texts)]
    edges += [(path, "asks for %s" % symbol, target, path)
              for path, symbol, target in symbols(build, files)]
    for path, what, target, where in edges:
        if None in (of[path], of[target]) or of[path] == of[target]:
            continue
        uses[of[path]].add(of[target])
        if rules.rank[of[target]] > rules.rank[of[path]]:
            up[path, of[target]].add((what, where))
    for (path, module), found in sorted(up.items()):
        allowed, _ = rules.exempt.get((path, module), (0, None))
        if len(found) > allowed:
            for what, where in sorted(found):
                breach(where, "%s, which is upwards, from %s to %s" %
                       (what, of[path], module))
    for (path, module), (allowed, where) in rules.exempt.items():
        found = len(up.get((path, module), ()))
        if found < allowed:
            breach(where, "%d exemptions of %s are %d by now: lower it" %
                   (allowed, path, found))
    return uses


def check_sizes(rules, files, texts):
    lines = collections.Counter({name: 0 for name, _ in rules.modules})
    for path in files:
        lines[rules.module_of(path)] += texts[path].count("\n")
    total = sum(lines.values())
    if len(rules.modules) < LEAST_MODULES:
        breach("mk/modules", "only %d modules" % len(rules.modules))
    for name, _ in rules.modules:
        if lines[name] == 0:
            breach("mk/modules", "there is nothing in %s" % name)
        if lines[name] > LARGEST_SHARE * total:
            breach("mk/modules", "%s has %.1f%% of the lines" %
                   (name, 100 * lines[name] / total))
    return lines


def tables(text):
    """Structs with function pointers: their names, "-" for none."""
    for match in re.finditer(r"(?ms)^[\t ]*(?:static |const |typedef )*struct "
                             r"?(\w*) ?\{(.*?)^[\t ]*\}", text):
        if re.search(r"\(\*\w+\)\s*\(", match[2]):
            yield match[1] or "-"


def check_tables(rules, files, texts):
    seen = set()
    for path in files:
        for name in tables(texts[path]):
            seen.add((path, name))
            if (path, name) not in rules.interfaces:
                breach(path, "struct %s has function pointers and is no "
                       "interface of mk/modules" % name)
    for path, name in sorted(rules.interfaces - seen):
        breach("mk/modules", "there is no interface %s in %s" % (name, path))


def check_counts(rules, files, texts):
    for name, allowed, expression, patterns, where in rules.counts:
        found = ["%s:%d" % (path, number) for path in files
                 if not matches(path, patterns)
                 for number, line in enumerate(texts[path].split("\n"), 1)
                 if re.search(expression, line)]
        if len(found) > allowed:
            breach(where, "%d times %s, %d allowed: %s" %
                   (len(found), name, allowed, " ".join(found)))
        elif len(found) < allowed:
            breach(where, "%s: %d by now, lower it" % (name, len(found)))


def main():
    build = os.environ.get("B", "build")
    rules = Rules("mk/modules")
    files = sorted(sources())
    texts = {path: without_comments(open(path).read()) for path in files}
    uses = check_edges(rules, files, texts, build)
    lines = check_sizes(rules, files, texts)
    check_tables(rules, files, texts)
    check_counts(rules, files, texts)
    for name, _ in rules.modules:
        if "--lines" in sys.argv:
            print("%6d %4.1f%% %s" % (lines[name], 100 * lines[name] /
                                      max(1, sum(lines.values())), name))
        if "--uses" in sys.argv:
            print("%s: %s" % (name, " ".join(
                sorted(uses[name], key=rules.rank.get))))
    print("\n".join(breaches), end="\n" if breaches else "")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
