#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""words.py: what users read, and the phrases that are not used in it.

words.py                check: a line for each breach; exit status 1 if any
words.py --list         print every sentence as file:line: text
words.py --seed N [--count 100]
                        print sentences drawn at random, to be judged by eye:
                        of help, errors, pages, man pages, README.md, and
                        how it works, without scripts and tables

Sentences are string literals of cmd/ and libprof/ that contain a space, those
of the pages in reports/, and the text of man pages, README.md, NEWS,
doc/ and tests/.  mk/phrases has the phrases, from the glossary in
doc/STYLE.md: a regular expression, what to say instead, a sentence that has
the phrase and one that has not, with tabs between them.  Run in the top
directory of the sources; mk/lint.sh does.
"""
import glob
import random
import re
import sys

TOKEN = re.compile(
    r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\''
    r'|\n|[ \t]+|[A-Za-z_0-9]+|.', re.S)
QUOTED = re.compile(r'"((?:\\.|[^"\\\n])*)"|`((?:\\.|[^`\\])*)`')
SOURCES = ("cmd/**/*.[ch]", "libprof/**/*.[ch]", "libprof/**/*.def")
PAGES = ("cmd/dtprof/*.[1-8]", "doc/*.[1-8]")
DRAWN = re.compile(r"(?!cmd/dtprof/completion/)(cmd/|libprof/|reports/"
                   r"|README\.md$|doc/(ARCHITECTURE|RECORDING|READING)\.md$"
                   r"|doc/.*\.[1-8]$)")
# Strings that no user reads: SQL, formats of sscanf, lists of perf's options.
UNREAD = re.compile(
    r"\b(SELECT|FROM|WHERE|GROUP BY|ENGINE|toUInt32|a_idle)\b|^ ?AND \w"
    r"|^# .* :|^cpu 0 0|^event, comm|^table, sum")
OPTIONS = re.compile(
    r"(?!.*\b(use|leave|run|not|dtprof|see|count|find|start|give|choose)\b)")
# What mdoc(7) writes for these macros, so that a drawn sentence reads as it
# does in the manual.
MACROS = [(re.compile(pattern), say) for pattern, say in (
    (r"-(tag|bullet|compact|width \S+|offset \S+) ?", ""),
    (r" : Ns ", ":"), (r"\bFl ", "-"),
    (r"\bQl (\S+)", r"'\1'"), (r"\bXr (\S+) (\d)", r"\1(\2)"),
    (r"\b(Ar|Cm|Pa|Er|Em|Sy|Fn|Ev|Ic|Dv|Va|Vt|Li|Sx|Nm|Op) ", ""),
    (r" Ns ", ""), (r"\\\(dq", '"'), (r"(?<=\() | (?=[.,;:)]+( |$))", ""))]


def c_strings(text):
    """Literals of C, adjacent ones as one: (line, text)."""
    line, start, found = 1, 0, None
    for match in TOKEN.finditer(text):
        token = match.group(0)
        if token.startswith('"'):
            if found is None:
                start, found = line, ""
            found += token[1:-1]
        elif found is not None and re.match(r"[A-Z][A-Z_0-9]+$|PRI\w+$",
                                            token):
            found += "u" if token.startswith("PRI") else "1"
        elif not token.isspace() and not token.startswith(("/*", "\\")):
            if found is not None:
                yield start, found
            found = None
        line += token.count("\n")
    if found is not None:
        yield start, found


def plain(text):
    text = (text.replace("\\n", "\n").replace('\\"', '"')
            .replace("\\t", " ").replace("%%", "\0"))
    text = re.sub(r"(?<![a-z])%[-+0-9.*#]*s", "...", text)
    text = re.sub(r"(?<=[a-z])%s", "", text)
    text = re.sub(r"%[-+0-9.*#]*(?:ll|z|l|h)?[a-zA-Z]", "0", text)
    return text.replace("\0", "%")


def page_strings(path, text):
    """Literals of a script, or the text and titles of a page."""
    for number, line in enumerate(text.split("\n"), 1):
        if path.endswith(".html"):
            if "application/json" in line or '"columns"' in line:
                continue
            for part in re.findall(r'(?:title|label)="([^"]*)"|>([^<>]+)<',
                                   line):
                yield number, "".join(part)
        else:
            for match in QUOTED.finditer(line):
                yield number, match.group(1) or match.group(2) or ""


def prose(path, text):
    """Sentences of a man page or of Markdown, examples left out."""
    words, start, fence = [], 1, False
    for number, line in enumerate(text.split("\n") + [""], 1):
        if line.startswith(("```", ".Bd", ".Ed")):
            fence = not fence
        if line.startswith(".It") and words:
            yield start, " ".join(words)
            words = []
        skip = fence or line.startswith(("    ", "\t", "|", "#", "```", "!"))
        if re.search(r"\.[1-8]$", path):
            skip = skip or line.startswith(('.\\"', ".Dl", ".Sh", ".Ss"))
            skip = skip or line.startswith((".Dd", ".Dt", ".Os"))
            line = re.sub(r"^\.Nm(?=$| [.,;:)])", path.split("/")[-1][:-2],
                          line)
            line = re.sub(r"^\.Pq Ql (.*?)((?: [.,;:])*)$", r"('\1')\2",
                          line)
            line = re.sub(r"^\.[QS][lq] (.*?)(?=$| [.,;:)])", r"'\1'", line)
            if line.startswith("."):
                line = re.sub(r" No (?=\S)", " ", line)
            if re.match(r"\.(It )?Fl ", line):
                line = re.sub(r"(?<= , )(?=-|[a-zA-Z]( |$))", "-", line)
            line = re.sub(r"^\.Pq (.*?)((?: [.,;:])*)$", r"(\1)\2", line)
            line = re.sub(r"^\.P([oc])", lambda m: "()"[m[1] == "c"], line)
            line = re.sub(r"^\.(?=(Fl|Xr) )|^\.[A-Z][a-z]? ?", "", line)
            line = line.replace("\\&", "").replace("\\-", "-")
        if skip or not line.strip():
            if words:
                yield start, " ".join(words)
            words = []
            continue
        start = start if words else number
        words.append(line.strip())
        if re.search(r"[.:]$", line):
            yield start, " ".join(words)
            words = []


def files(*patterns):
    return sorted(f for p in patterns for f in glob.glob(p, recursive=True))


def sentences():
    for path in files(*SOURCES):
        with open(path, encoding="utf-8") as file:
            for line, text in c_strings(file.read()):
                text = plain(text)
                if " " in text.strip() and re.search("[a-z]{2}", text):
                    yield path, line, text
    for path in files("reports/*.js", "reports/*.html"):
        with open(path, encoding="utf-8") as file:
            for line, text in page_strings(path, file.read()):
                if " " in text.strip() and re.search("[a-z]{2}", text):
                    yield path, line, text
    for path in files(*PAGES, "NEWS", "README.md", "doc/*.md",
                      "tests/*.md"):
        with open(path, encoding="utf-8") as file:
            for line, text in prose(path, file.read()):
                yield path, line, text


def phrases(path="mk/phrases"):
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                pattern, say, bad, good = line.rstrip("\n").split("\t")
                yield re.compile(pattern), say, bad, good


def check():
    table, breaches = list(phrases()), 0
    for path, line, text in sentences():
        for pattern, say, _, _ in table:
            match = pattern.search(re.sub(r"\s+", " ", text))
            if match:
                print('%s:%d: "%s": %s' % (path, line, match.group(0), say))
                breaches += 1
    return 1 if breaches else 0


def drawable():
    """Single sentences as they are read, each once: (file, line, text)."""
    drawn = set()
    for path, line, text in sentences():
        if not DRAWN.match(path) or re.search(
                r"^\{ |</|/>|<\w+ \w|\$\{|\bTa\b|-column|(\bFl .*){4}", text):
            continue
        if UNREAD.search(text) or path.endswith("/habits.c") and \
                OPTIONS.match(text):
            continue
        if re.search(r"\.[1-8]$", path):
            for pattern, say in MACROS:
                text = pattern.sub(say, text)
        if path.endswith(".md"):
            parts = re.split(r"(?<=[^.\d][.])\s+(?=[A-Z`*])", text)
        else:
            parts = [text]
        for part in parts:
            if len(part.split()) >= 4 and part not in drawn:
                drawn.add(part)
                yield path, line, part


def show(chosen):
    for path, line, text in chosen:
        print("%s:%d: %s" % (path, line, re.sub(r"\s+", " ", text).strip()))
    return 0


def main(argv):
    if not argv:
        return check()
    if argv == ["--list"]:
        return show(sentences())
    options = dict(zip(argv[::2], argv[1::2]))
    if "--seed" not in options or set(options) - {"--seed", "--count"}:
        sys.exit(__doc__)
    return show(sorted(random.Random(int(options["--seed"])).sample(
        list(drawable()), int(options.get("--count", 100)))))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
