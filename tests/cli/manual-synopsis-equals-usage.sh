#!/bin/sh
# ASSERTION: the SYNOPSIS of dtprof(1) is, word by word, the usage that each
# command prints, every option of --help is described in the command's own
# section, both stand in alphabetical order, and --help begins with examples
# and is no longer than two looks at a terminal.  Easy to get wrong with
# every option that is added.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd mandoc
tmpdir
page=$SRC/cmd/dtprof/dtprof.1
mandoc -Tascii "$page" | col -b | expand >page.txt
mandoc -T lint -W warning "$page" 2>/dev/null | grep . &&
    fail "mandoc finds fault with the page"

# "dtprof help" lists all; version and help are commands like others.
commands=$("$DTPROF" help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
[ "$(echo "$commands" | wc -l)" -ge 6 ] || fail "commands: $commands"

sed -n '/^SYNOPSIS/,/^DESCRIPTION/p' page.txt | sed '1d;$d' | tr -s ' \n' ' ' |
    sed 's/ dtprof /\ndtprof /g' | sed 's/ *$//' | grep . | sort >manual
for c in $commands; do
	"$DTPROF" "$c" --help |
	    sed -n '/^usage:/{n;s/^ *//;s/ *$//;p;}'
done | sort >usage
diff manual usage || fail "the synopsis is not the usage"
ok "$(wc -l <usage) synopses"

for c in $commands; do
	"$DTPROF" "$c" --help >help
	[ "$(sed -n 3p help)" = examples: ] ||
	    fail "$c --help does not begin with examples"
	[ "$(wc -l <help)" -le 48 ] && ! sed '/^usage:/,/^$/d' help |
	    grep -n '.\{80\}' || fail "$c --help is too long or too wide"
done
ok "--help is short and begins with examples"

n=0
for c in $commands; do
	sed -n "/^\.Ss dtprof $c\$/,/^\.S[sh]/p" "$page" |
	    grep -v "^\.Ss dtprof $c\$" >section
	"$DTPROF" "$c" --help | sed -n '/^options:/,$p' |
	    sed -n 's/^ *\(-\([a-zA-Z]\), \)\{0,1\}--\([a-z-]*\).*/\2 \3/p' |
	    grep -v 'h help' >options
	while read -r letter name; do
		[ -z "$name" ] && name=$letter letter=
		grep -Eq "^\.It Fl ${letter:+$letter , }-$name( |\$)" section ||
		    fail "$c: -$letter --$name is not in the manual"
		echo "${letter:-$name}" >>order
		n=$((n + 1))
	done <options
	sort -f -c order 2>/dev/null ||
	    fail "$c: --help is not in alphabetical order: $(cat order)"
	sed -n 's/^\.It Fl -\{0,1\}\([^ ]*\).*/\1/p' section >in_manual
	[ ! -s order ] || diff order in_manual ||
	    fail "$c: the manual has another order"
	: >order
done
[ "$n" -ge 30 ] || fail "only $n options were compared"
ok "$n options are described, in order"
