#!/bin/sh
# ASSERTION: after "source <(dtprof completion bash)" bash completes, at the
# TAB of somebody who types on a terminal, commands, every option of --help,
# words, lists, events of this machine by both names, and files.  Easy to get
# wrong: readline takes names with : and = apart, and a name from the kernel
# must not be expanded.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd bash python3
tmpdir
mkdir -p bin .dtprof/main '.dtprof/$(>planted)'
touch 'a file.dtp' other.txt
# Stands in front of the real one: shows what it was called with, and lists
# probes that a kernel could have, one of which must not be expanded.
cat >bin/dtprof <<'END'
#!/bin/sh
case $* in
completion*)	exec "$DTPROF" "$@" ;;
'list -v')
	echo 'static:sched::sched_switch'
	printf '\tperf'"'"'s name: sched:sched_switch\n\tswitch of tasks\n'
	echo 'static:sched::$(>planted)'
	echo 'static:evil::$(>planted)`>planted`'
	echo "static:odd::'\$(touch\${IFS}planted)'"
	echo 'pmc:::cycles  unavailable: no counter'
	printf '\tperf'"'"'s name: cycles\n'
	echo 'pmc:::cpu-clock'
	printf '\tperf'"'"'s name: cpu-clock\n'
	exit ;;
esac
printf '<%s>' "$@"
echo
END
chmod +x bin/dtprof

cat >lines <<'END'
dtprof recor^ => <record>
dtprof record --call-gr^dw^ => <record><--call-graph><dwarf>
dtprof report --by function,mod^ => <report><--by><function,module>
dtprof report --by=com^ => <report><--by=comm>
dtprof record -e sched:sched_sw^ => <record><-e><sched:sched_switch>
dtprof record -e cpu-clock,sched:^ => <record><-e><cpu-clock,sched:sched_switch>
dtprof stat --event=sched:s^ => <stat><--event=sched:sched_switch>
dtprof record -e cyc^ => <record><-e><cyc>
dtprof record -- python3 ./oth^ => <record><--><python3><./other.txt>
dtprof record true oth^ => <record><true><other.txt>
dtprof report a^ => <report><a file.dtp>
dtprof report -i oth^ --js^ => <report><-i><other.txt><--json>
dtprof help compl^ => <help><completion>
dtprof compare --against ma^ => <compare><--against><main>
dtprof bench --save=ma^ => <bench><--save=main>
dtprof export --format pp^ => <export><--format><pprof>
dtprof list 'static:sched::$^ => <list><static:sched::$(>planted)>
dtprof list static:ev^ => <list><static:evil::$(>planted)`>planted`>
dtprof list static:evil::\$^ => <list><static:evil::$(>planted)`>planted`>
dtprof list "static:ev^" => <list><static:ev>
dtprof list 'static:odd^' => <list><static:odd>
dtprof list "static:sched::sched^ => <list><static:sched::sched_switch>
END
python3 "$SRC/tests/cli/type.py" bash <lines || fail "completion differs"
[ ! -e planted ] || fail "a name from the kernel was executed"
ok "$(wc -l <lines) lines typed on a terminal"

# Every option of --help, and no other, by the function that TAB calls.
n=0
for c in $("$DTPROF" help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
do
	"$DTPROF" "$c" --help | sed -n '/^options:/,$p' |
	    sed -n 's/^ \{2,6\}\(-[a-zA-Z], \)\{0,1\}\(--[a-z-]*\).*/\2/p' |
	    sort >help
	bash -c 'source <("$DTPROF" completion bash)
	COMP_LINE="dtprof $1 --" COMP_POINT=100
	_dtprof; printf "%s\n" "${COMPREPLY[@]}"' bash "$c" | sort >completed
	diff help completed || fail "$c: other options than --help has"
	n=$((n + $(wc -l <help)))
done
[ "$n" -ge 100 ] || fail "only $n options were compared"
ok "$n options of all commands"
