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
	"$DTPROF" "$c" --help | sed -n '/^usage:/,/^$/p' | sed 1d |
	    tr -s ' \n' ' ' | sed 's/^ *//;s/ *$//;$a\'
done | grep . | sort >usage
diff manual usage || fail "the synopsis is not the usage"
ok "$(wc -l <usage) synopses"

for c in $commands; do
	"$DTPROF" "$c" --help >help
	[ "$(sed -n 3p help)" = examples: ] ||
	    fail "$c --help does not begin with examples"
	[ "$(sed '/^usage:/,/^$/d' help | wc -l)" -le 62 ] &&
	    ! grep -n '.\{81\}' help ||
	    fail "$c --help is too long or too wide"
done
ok "--help is short and begins with examples"

section()	# name of a section of the manual
{
	sed -n "/^\.Ss $1\$/,/^\.S[sh]/p" "$page" | grep -v '^\.S[sh]'
}

in_order()	# file: options, in the order of --help
{
	sort -f -c "$1" 2>/dev/null
}

option_names()	# what they are sorted by
{
	sed -n 's/^\.It Fl -\{0,1\}\([^ ]*\).*/\1/p'
}

section 'Reading options' >reading
option_names <reading >shared
[ "$(wc -l <shared)" -ge 10 ] && in_order shared ||
    fail "the shared options: $(cat shared)"

n=0
: >order
for c in $commands; do
	section "dtprof $c" >section
	option_names <section >in_manual
	: >also
	! grep -q '^\.Sx Reading options' section || cp reading also
	"$DTPROF" "$c" --help | sed -n '/^options:/,$p' |
	    sed -n 's/^ *\(-\([a-zA-Z]\), \)\{0,1\}--\([a-z-]*\).*/\2 \3/p' |
	    grep -v 'h help' >options
	while read -r letter name; do
		[ -z "$name" ] && name=$letter letter=
		grep -Eqh "^\.It Fl ${letter:+$letter , }-$name( |\$)" \
		    section also ||
		    fail "$c: -$letter --$name is not in the manual"
		echo "${letter:-$name}" >>order
		n=$((n + 1))
	done <options
	in_order order ||
	    fail "$c: --help is not in alphabetical order: $(cat order)"
	grep -xF -f in_manual order | diff - in_manual ||
	    fail "$c: the manual has another order, or what --help has not"
	cat order >>met
	: >order
done
! grep -vxF -f met shared || fail "shared options that no command has"
[ "$n" -ge 30 ] || fail "only $n options were compared"
ok "$n options are described, in order"
