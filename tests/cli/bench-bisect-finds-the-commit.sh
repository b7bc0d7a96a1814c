#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: git bisect run dtprof bench --bisect names the commit that was
# planted, in a repository with a commit that cannot be measured; where nothing
# was planted, every commit is good.  The exit status is 0, 1 or 125 and never
# another one: a baseline or program that is missing, a command that fails, too
# few runs, another machine, invalid usage, Ctrl-C and a full disk are 125.
# Easy to get wrong: 1 and 2, by which commands fail, mean a bad commit; and
# runs of another commit that are there already are not this commit's.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd git
tmpdir
mkdir repo
cd repo || fail cd
HOME=$tmp GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b
GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
export HOME GIT_CONFIG_NOSYSTEM GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL
export GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL
git init -q . || fail "git init"
echo .dtprof >.gitignore
commit()	# number line-of-prog
{
	printf '#!/bin/sh\n# %s\n%s\n' "$1" "$2" >prog
	chmod +x prog
	git add . || fail "git add"
	git commit -q -m "commit $1" || fail "git commit"
	git tag "c$1" || fail "git tag"
}
# The fourth is slow; the second fails.
for n in 1 2 3 4 5; do
	line='exit 0'
	[ $n -ne 2 ] || line='exit 3'
	[ $n -lt 4 ] || line='i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'
	commit $n "$line"
done
# The CPU time that decides, since the runs of commits are not interleaved,
# lies as far below the slow commit as above the others: the loop takes many
# times as long as the start of a shell, on a machine of any speed.
cpu_time()	# commit: in seconds, the mean
{
	git checkout -q "$1" || fail "git checkout"
	expect 0 "$DTPROF" bench -w 0 -r 5 -o "$tmp/$1" ./prog
	sed 's/.*"cpu":\([0-9.e-]*\).*/\1/' "$tmp/$1/runs.jsonl" |
	    awk '{ sum += $1 } END { print sum / NR }'
}
slow=$(cpu_time c4) fast=$(cpu_time c1)
expect 0 "$DTPROF" bench -w 0 -r 5 --save main ./prog
awk -v slow="$slow" -v fast="$fast" '
    { cpu = sqrt(slow * fast) * (1 + NR / 1000)
      sub(/"cpu":[0-9.e-]*/, "\"cpu\":" cpu); print }
    END { exit !(slow > 4 * fast) }' .dtprof/main/runs.jsonl >steady ||
    fail "the loop takes $slow s, a shell $fast s"
echo "CPU time: fast $fast s, slow $slow s"
mv steady .dtprof/main/runs.jsonl
# Where it still was undecided, bench has said so, and tries again.
again()		# tries so far
{
	grep -q 'bisect: undecided' "$tmp/err" && [ "$1" -lt 5 ]
}
for try in 1 2 3 4 5; do
	git bisect start c5 c1 >/dev/null || fail "git bisect"
	git bisect run "$DTPROF" bench --bisect main --threshold 20 \
	    >"$tmp/out" 2>"$tmp/err"
	again $try || break
	git bisect reset >/dev/null 2>&1
done
expect_out "^$(git rev-parse c4) is the first bad commit" 'the planted commit'
[ "$(git rev-parse --short refs/bisect/bad)" = \
    "$(git rev-parse --short c4)" ] || fail "$(git bisect log)"
looks=$(git bisect log | grep -c '^git bisect [gbs]')
ok "the planted commit, in $looks looks"
git bisect reset >/dev/null 2>&1

bisect()	# status arguments
{
	bisect_want=$1
	shift
	for try in 1 2 3 4 5; do
		"$DTPROF" bench --bisect "$@" >"$tmp/out" 2>"$tmp/err" \
		    </dev/null
		bisect_got=$?
		if [ "$bisect_got" -eq "$bisect_want" ] || ! again "$try"; then
			break
		fi
	done
	[ "$bisect_got" -eq "$bisect_want" ] ||
	    fail "status $bisect_got, not $bisect_want: $*: $(cat "$tmp/err")"
}
git checkout -q c3
bisect 0 main --threshold 20 ./prog
expect_err 'bisect: good' c3
git checkout -q c4
bisect 1 main --threshold 20
expect_err 'bisect: bad' c4
expect_out 'slower: CPU time' 'how much'
ok "what is not slower is good, what is slower is bad"

# What one commit's runs leave there is not gone on with by the next.
lines=$(grep -c . .dtprof/main.bisect/runs.jsonl)
head -n 3 .dtprof/main.bisect/runs.jsonl >half
mv half .dtprof/main.bisect/runs.jsonl
git checkout -q c3
bisect 0 main --threshold 20
[ "$(grep -c . .dtprof/main.bisect/runs.jsonl)" = "$lines" ] ||
    fail "runs: $(cat .dtprof/main.bisect/runs.jsonl)"
ok "each commit has runs of its own"

bisect 125 main -r 3
expect_err 'undecided' 'three runs'
bisect 125 nosuch ./prog
expect_err 'no such baseline' 'which baseline'
bisect 125 main ./nosuch
bisect 125 main "$tmp"
bisect 125 main false
bisect 125 main "'"
bisect 125 main --nosuch
bisect 125 main --runs x
bisect 125 ../main
bisect 125 main --save x
bisect 125 main --threshold
expect 125 "$DTPROF" bench --bisect
expect 125 "$DTPROF" bench --bisect=main --nosuch
expect 125 "$DTPROF" bench --nosuch --bisect main
sed 's/"cpus": *[0-9]*/"cpus": 4096/' .dtprof/main/bench.json >other
mkdir .dtprof/far
cp .dtprof/main/runs.jsonl .dtprof/far
mv other .dtprof/far/bench.json
bisect 125 far
echo '{' >.dtprof/far/bench.json
bisect 125 far
rm -r .dtprof/far
[ ! -c /dev/full ] || {
	"$DTPROF" bench --bisect main -r 5 >/dev/full 2>&1
	[ $? -eq 125 ] || fail "a full disk"
}
for signal in INT TERM HUP; do
	rm -rf .dtprof/main.bisect
	"$DTPROF" bench --bisect main -r 500 >o 2>e &
	pid=$!
	kill_at_end $pid
	await "some runs were made" test -s .dtprof/main.bisect/runs.jsonl
	kill -$signal $pid
	wait $pid
	status=$?
	[ $status -eq 125 ] || { cat e; fail "status $status after $signal"; }
done
ok "everything else is 125"
