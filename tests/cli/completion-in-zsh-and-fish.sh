#!/bin/sh
# ASSERTION: the scripts of "dtprof completion zsh" and "... fish" complete
# commands, words, lists and events, offer every option of --help and no other,
# and never execute a name that comes from the kernel.  Easy to get wrong: zsh
# gives a meaning to brackets and colons in the help, fish to $ in names.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd zsh fish python3
tmpdir
mkdir -p bin home .dtprof/main
HOME=$tmp/home
export HOME
touch 'a file.dtp' other.txt
cat >bin/dtprof <<'END'
#!/bin/sh
case $* in
completion*)	exec "$DTPROF" "$@" ;;
'list -v')
	echo 'static:sched::sched_switch'
	printf '\tperf'"'"'s name: sched:sched_switch\n\tswitch of tasks\n'
	echo 'static:evil::$(touch$IFS./planted)'
	echo 'pmc:::cycles  unavailable: no counter'
	printf '\tperf'"'"'s name: cycles\n'
	exit ;;
esac
printf '<%s>' "$@"
echo
END
chmod +x bin/dtprof
PATH=$tmp/bin:$PATH
export PATH

cat >lines <<'END'
dtprof recor^ => <record>
dtprof record --call-gr^dw^ => <record><--call-graph=dwarf>
dtprof report --by function,mod^ => <report><--by><function,module>
dtprof record -e sched:sched_sw^ => <record><-e><sched:sched_switch>
dtprof export --format pp^ => <export><--format><pprof>
dtprof help compl^ => <help><completion>
dtprof compare --against ma^ => <compare><--against><main>
dtprof report oth^ => <report><other.txt>
dtprof list 'static:ev^ => <list><static:evil::$(touch$IFS./planted)>
END
python3 "$SRC/tests/cli/type.py" zsh <lines || fail "zsh completes otherwise"
ok "zsh: $(wc -l <lines) lines typed on a terminal"

fish_offers()	# line
{
	fish -c 'dtprof completion fish | source; complete -C $argv[1]' "$1"
}

offered()	# line word
{
	fish_offers "$1" | cut -f 1 | grep -Fqx -e "$2" ||
	    fail "fish: '$1' does not offer '$2'"
}
offered 'dtprof recor' record
offered 'dtprof record --call-graph dw' dwarf
offered 'dtprof bench --bisect ma' main
offered 'dtprof report --by function,mod' function,module
offered 'dtprof report --by=function,mod' --by=function,module
offered 'dtprof record -e sched:sched_sw' sched:sched_switch
offered 'dtprof record -e a,sched:sched_sw' a,sched:sched_switch
offered 'dtprof export --format pp' pprof
offered 'dtprof help compl' completion
offered 'dtprof report oth' other.txt
offered 'dtprof record gre' grep
offered 'dtprof record -- ./oth' ./other.txt
# shellcheck disable=SC2016 # a name, not ours to expand
offered 'dtprof list static:ev' 'static:evil::$(touch$IFS./planted)'
ok "fish: words, lists, events, files"
[ ! -e planted ] || fail "a name from the kernel was executed"

n=0
for c in $("$DTPROF" help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
do
	"$DTPROF" "$c" --help | sed -n '/^options:/,$p' |
	    sed -n 's/^ \{2,6\}\(-[a-zA-Z], \)\{0,1\}\(--[a-z-]*\).*/\2/p' |
	    sort >help
	fish_offers "dtprof $c --" | cut -f 1 | grep -e '^--' | sort -u >fish
	diff help fish || fail "fish: $c: other options than --help has"
	"$DTPROF" completion zsh | sed -n "/^		$c)/,/;;/p" |
	    grep -oE "('\*'|'|,)--[a-z-]+" | sed "s/.*--/--/" | sort -u >zsh
	diff help zsh || fail "zsh: $c: other options than --help has"
	n=$((n + $(wc -l <help)))
done
[ "$n" -ge 100 ] || fail "only $n options were compared"
ok "$n options of all commands in both shells"
