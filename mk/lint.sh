#!/bin/sh
# SPDX-License-Identifier: ISC
#
# lint.sh [-q]: the rules of doc/STYLE.md that a program can check.  One line
# for each breach, file:line: what; exit status 1 when there is any.  Looks
# only at files that are under version control or about to be.  Quickly (-q) is
# without clang's analyzer, which takes minutes.
#
# clang-tidy needs the headers that make writes; B says where they are.  What
# was clean is not looked at again before a file or a checker has changed.
#
# A function longer than 60 lines needs a line "lint: long, because ..." in
# the comment above it, and even then ends at 100.

cd "$(dirname "$0")/.." || exit 1
: "${B:=build}"
export B
left_out=
[ "$1" = -q ] && left_out='-clang-analyzer-*'
breaches=$(mktemp) || exit 1
names=$(mktemp) || exit 1
trap 'rm -f "$breaches" "$names"' EXIT

files()		# pattern ...
{
	git ls-files -co --exclude-standard -- "$@" | grep -v /corpus/ | sort |
	while read -r file; do
		[ -f "$file" ] && echo "$file"
	done
}

need()		# command
{
	command -v "$1" >/dev/null && return 0
	echo "lint: $1 is not installed (make deps)" >>"$breaches"
	return 1
}

# All that the verdict depends on.
key=$({
	files | tr '\n' '\0' | xargs -0 sha256sum
	for checker in shellcheck cppcheck clang-tidy mandoc; do
		command -v "$checker" | xargs -r sha256sum
	done
	echo "$left_out"
} | sha256sum)
if [ "$(cat "$B/lint.clean" 2>/dev/null)" = "$key" ]; then
	echo 'lint: clean as before, nothing has changed'
	exit 0
fi

c_files=$(files '*.c' '*.h')
sh_files=$(files '*.sh' '*.bash' .ci/run)
man_pages=$(files 'cmd/dtprof/*.[1-8]' 'doc/*.[1-8]')
if [ -z "$c_files" ]; then
	echo 'lint: no sources found: needs git and a work tree' >&2
	exit 1
fi

# Width, with tabs of 8, and blanks at the end of lines.
# shellcheck disable=SC2046,SC2086 # lists of names
awk '
function width(line,	n, w, parts, i) {
	n = split(line, parts, "\t")
	for (i = 1; i < n; i++)
		w += length(parts[i]) + 8 - (w + length(parts[i])) % 8
	return (w + length(parts[n]))
}
width($0) > 80 { print FILENAME ":" FNR ": wider than 80 columns" }
/[ \t]$/ { print FILENAME ":" FNR ": blank at the end of the line" }' \
    $c_files $sh_files $(files '*.mk' GNUmakefile '*.def' '*.map') \
    >>"$breaches"

# Length of functions and files, and marks that must not stay.
# shellcheck disable=SC2086 # a list of names
awk '
function say(what) { print FILENAME ":" FNR ": " what }
FNR == 1 { lines = 0; excuse = -9; start = 0; licence = 0; long_ = 0 }
FNR <= 14 && /SPDX-License-Identifier: ISC/ { licence = 1 }
FNR == 15 && !licence { say("no SPDX line at the top") }
FNR <= 30 && /lint: long file, because/ { long_ = 1 }
FNR == 701 && !long_ { say("file longer than 700 lines") }
/lint: long, because/ { excuse = FNR }
/^\{$/ { start = FNR }
/^\}$/ && start {
	length_ = FNR - start - 1
	limit = start - excuse < 12 ? 100 : 60
	if (length_ > limit)
		say("function of " length_ " lines, " limit " allowed")
	start = 0
}
/(TODO|FIXME|XXX)/ && !/XXXXXX/ && !/(TODO|FIXME|XXX) *\(?#[0-9]/ {
	say("TODO without the number of an issue")
}
/^typedef struct/ || /^\} *[a-z_]+_t;/ { say("typedef of a struct") }
/^[ \t]+return [^(;]/ { say("return without parentheses") }
# A word alone is found in every folder: add, take, show.  Not the names
# of C that a library has to have.
FILENAME ~ /^(cmd|libprof|sys)\// && FILENAME !~ /^sys\/preload\// &&
    /^[a-z0-9]+\(/ && !/^main/ {
	say("function whose name is one word, not noun_verb")
}
' $c_files >>"$breaches"

# The letter of a shared member must be in the legend above it.
# shellcheck disable=SC2086 # a list of names
awk '
FNR == 1 { split("", legend) }
/^ \* / {
	# "[x] what it means" or "x: what it means, y: ..."
	words = split($0, word, " ")
	for (i = 2; i <= words; i++)
		if (word[i] ~ /^(\[[A-Za-z]\]|[A-Za-z]:)$/)
			legend[substr(word[i], 1 + (word[i] ~ /^\[/), 1)] = 1
}
match($0, /;[ \t]*\/\* \[[A-Za-z]\] /) {
	letter = substr($0, RSTART + RLENGTH - 3, 1)
	if (!(letter in legend))
		print FILENAME ":" FNR ": [" letter "] is not in the legend"
}' $c_files >>"$breaches"

# Tests say what they show.
for file in $(files 'tests/*/*.c' 'tests/*/*.sh'); do
	case $file in
	tests/work/* | tests/bench/* | */lib*.sh | tests/replay/*.c | \
	tests/interop/*.c | tests/browser/*.c | tests/mutants/*.c)
		continue ;;
	esac
	head -n 6 "$file" | grep -q 'ASSERTION:' ||
	    echo "$file:1: no line ASSERTION: at the top"
done >>"$breaches"

# Documents are true to the tree: what they name in backquotes like a file,
# a directory or a test is one.
documents=$(files '*.md')
git ls-files -co --exclude-standard >"$names"
# shellcheck disable=SC2086 # a list of names
grep -no '`[A-Za-z_.][][A-Za-z0-9_.*/-]*`' $documents | tr -d '`' |
awk -F: -v names="$names" '
BEGIN { while ((getline line <names) > 0) all[++n] = "/" line "/" }
# Capitals stand for any name; build/ is no part of the tree, nor is what has
# neither a / nor an ending of ours.
$3 ~ /[A-Z][A-Z][A-Z]+[.]|^(build|share)\// { next }
$3 !~ /\// && $3 !~ /\.(c|h|sh|py|mk|md|js|mjs|def|map|[1-8])$/ { next }
{
	name = $3
	sub(/\/$/, "", name)
	gsub(/\./, "[.]", name)
	gsub(/\*/, "[^/]*", name)
	for (i = 1; i <= n; i++)
		if (all[i] ~ "/" name "([.](sh|c))?/")
			next
	print $1 ":" $2 ": there is no " $3
}' >>"$breaches"

if need shellcheck; then
	# A test may begin with its assertion; it is a script of sh then.
	for file in $sh_files; do
		shell="sh"
		head -n 2 "$file" | grep -q bash && shell="bash"
		echo "$shell $file"
	done | sort >"$names"
	for shell in sh bash; do
		sed -n "s/^$shell //p" "$names" | xargs -r -n 40 \
		    -P "$(nproc)" shellcheck -s $shell -f gcc -S warning
	done >>"$breaches"
fi
if [ -n "$man_pages" ] && need mandoc; then
	# shellcheck disable=SC2086 # a list of names
	# Which other pages are installed says nothing about ours.
	mandoc -T lint -W style $man_pages 2>&1 |
	    grep -v -e 'manual not found: Xr' -e 'outdated mandoc.db' \
	    >>"$breaches"
fi
# What users read has none of the phrases of mk/phrases.
if need python3; then
	python3 mk/words.py >>"$breaches"
	# Modules depend on those above them in mk/modules alone.
	if need nm; then
		python3 mk/modules.py >>"$breaches"
	fi
fi
# --help is no wider than a terminal.
if [ -x "$B/dtprof" ]; then
	for command in $("$B/dtprof" help |
	    sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
		"$B/dtprof" "$command" --help | awk -v command="$command" '
		length > 80 { print command " --help:" NR ": wider than 80" }'
	done >>"$breaches"
fi
if need cppcheck; then
	# shellcheck disable=SC2046 # a list of names
	cppcheck -q -j "$(nproc)" --std=c11 --error-exitcode=0 -Isys -Ilibprof \
	    --enable=warning,performance,portability --inline-suppr \
	    --suppress=missingInclude --suppress=unknownMacro \
	    -D__x86_64__ --template='{file}:{line}: {id}: {message}' \
	    $(files 'libprof/*.c' 'cmd/*.c') 2>>"$breaches"
fi
if need clang-tidy; then
	files 'libprof/*.c' 'cmd/*.c' | xargs -r -n 8 -P "$(nproc)" sh -c '
	    clang-tidy -quiet -checks="$0" "$@" -- -std=gnu11 \
	    -D_GNU_SOURCE= -DDTPROF_VERSION=\"\" -Isys -Ilibprof \
	    -I"$B" -I"$B/sys" 2>/dev/null ||
	    echo "$1: error: clang-tidy ended with $?"' "$left_out" |
	    sed -n "s,^$PWD/,,; /[.]skel[.]h:/d; /: \(warning\|error\): /p" \
	    >>"$breaches"
fi

cat "$breaches"
count=$(grep -c . "$breaches")
echo "lint: $count breaches in $(echo "$c_files" | grep -c .) C files," \
    "$(echo "$sh_files" | grep -c .) scripts"
[ "$count" -eq 0 ] || exit 1
[ ! -d "$B" ] || echo "$key" >"$B/lint.clean"
