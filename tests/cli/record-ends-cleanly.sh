#!/bin/sh
# ASSERTION: Ctrl-C, kill, a hang-up, --duration, --max-size, the end of
# the command and the end of the target all end a recording with a whole file,
# and a second Ctrl-C does not spoil it.  Easy to get wrong where the signal
# arrives while the file is being written, or where the command ignores it.
. "${SRC:=$PWD}/tests/lib.sh"
need_perf
need_root
tmpdir

# Started is when the file is there and the recorder takes marks.  On a busy
# machine it may not answer in time: then it is asked again, while it lives.
is_begun()
{
	until "$DTPROF" mark --recorder "$1" begun >/dev/null 2>&1; do
		kill -0 "$1" 2>/dev/null ||
		    fail "the recorder is gone: $(cat log)"
		nap
	done
}

whole()		# what
{
	expect 0 "$DTPROF" report --json x.dtp
	[ "$(json out 'j["recording"]["cut"]')" = None ] ||
	    fail "$1: the file is cut"
	expect 0 "$DTPROF" script --no-symbols --show all x.dtp
	tail -n 1 out | grep -q ': stop$' || fail "$1: the last is no stop"
	ok "$1"
}

begin()		# options
{
	rm -f x.dtp x.dtp.old
	"$DTPROF" record -q -e cpu-clock -o x.dtp "$@" >log 2>&1 &
	recorder=$!
	kill_at_end $recorder
}

end()		# status what
{
	wait $recorder
	got=$?
	[ $got -eq "$1" ] || fail "$2: status $got, not $1: $(cat log)"
	whole "$2"
}

for signal in INT TERM HUP; do
	begin -a
	is_begun $recorder
	kill -$signal $recorder
	end 0 "SIG$signal without a command"
done
begin -- sleep 1000
is_begun $recorder
kill -TERM $recorder
end 143 "SIGTERM with a command"
begin -- sleep 1000
is_begun $recorder
kill -INT $recorder
end 130 "SIGINT with a command"

# The one before the one before is kept until nothing can fail any more, and
# not until the end, which kill -9 leaves no time for.
expect 0 "$DTPROF" record -q -e cpu-clock -o y.dtp -- true
expect 0 "$DTPROF" record -q -e cpu-clock -o y.dtp -- true
"$DTPROF" record -q -e cpu-clock -o y.dtp -a >log 2>&1 &
recorder=$!
kill_at_end $recorder
is_begun $recorder
kill -9 $recorder
[ "$(echo y.dtp*)" = 'y.dtp y.dtp.old' ] || fail "left: $(echo y.dtp*)"
ok "a recorder that is killed leaves two recordings, not three"

# A command that heeds neither: the first Ctrl-C is its business.
cat >deaf.sh <<'END'
trap '' INT TERM
echo $$ >deaf.pid
while :; do :; done
END
begin -- sh deaf.sh
is_begun $recorder
await "the command ignores signals" [ -s deaf.pid ]
kill_at_end "$(cat deaf.pid)"
kill -INT $recorder
is_begun $recorder	# the first one has not ended it
kill -INT $recorder
end 130 "a second Ctrl-C with a command that is deaf"
kill -9 "$(cat deaf.pid)"
rm deaf.pid
begin -- sh deaf.sh
is_begun $recorder
await "the command ignores signals" [ -s deaf.pid ]
kill_at_end "$(cat deaf.pid)"
kill -TERM $recorder
end 143 "SIGTERM with a command that is deaf"
kill -9 "$(cat deaf.pid)"

begin -a --duration 100ms
end 0 "--duration"
begin --duration 100ms -- sleep 1000
end 143 "--duration with a command"
begin -a -e syscall --max-size 64K -- sh -c \
    'while :; do kill -0 $$; done'
end 143 "--max-size with a command"
grep -q 'stopped: x.dtp has reached --max-size' log ||
    fail "not said: $(cat log)"
size=$(stat -c %s x.dtp)
[ "$size" -ge 65536 ] || fail "too early"
"$DTPROF" report --stats --json x.dtp >stats 2>log || fail "$(cat log)"
used=$(json stats 'int(j["budgets"][0]["used_max"])')
[ "$used" -ge 65536 ] && [ "$used" -lt "$size" ] ||
    fail "$used bytes before symbols, $size with them"
begin -- true
end 0 "the end of the command"
sleep 1000 &
target=$!
kill_at_end $target
begin -p $target
is_begun $recorder
kill $target
end 0 "the end of the target"
begin -a -- true
end 0 "the end of a command beside -a"
