#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: report --by takes the arguments of a tracepoint: of each thread as
# many switches as bpftrace counts of the same threads, numbers and texts alike,
# one argument or several beside words and functions, and sums that are those of
# script; what is not recorded is refused by name, with what there is.
# Easy to get wrong: values that each thread of the reader numbers by itself.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3 bpftrace "${CC:=gcc}"
need_bpf
tmpdir
cat >naps.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>
static void *
nap(void *arg)
{
	char name[16];

	snprintf(name, sizeof(name), "nap-%ld", (long)arg);
	prctl(PR_SET_NAME, name);
	for (long i = 0; i < 40 * (long)arg; i++)
		usleep(200);
	return (NULL);
}

int
main(void)
{
	pthread_t thread[3];

	for (long i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, nap, (void *)(i + 1));
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	return (0);
}
END
"$CC" -O1 -pthread -o naps naps.c || fail "compiling"
bpftrace -q -e 'BEGIN { printf("ready\n"); }
tracepoint:sched:sched_switch /strncmp(args->prev_comm, "nap-", 4) == 0/ {
	@[args->prev_comm] = count();
}' >theirs 2>said &
tracer=$!
kill_at_end "$tracer"
for _ in $(seq 500); do
	grep -q ready theirs && break
	kill -0 "$tracer" 2>/dev/null || skip "bpftrace: $(tail -n 1 said)"
	nap
done
grep -q ready theirs || skip "bpftrace does not begin: $(tail -n 1 said)"
expect 0 "$DTPROF" record -q -e sched:sched_switch --call-graph none \
    -o x.dtp -- ./naps
kill -INT "$tracer"
wait "$tracer"
cat >check.py <<'PY'
import collections, csv, io, json, re, subprocess, sys
dtprof = sys.argv[1]

def run(*words):
    return subprocess.run([dtprof, *words], check=True, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout

theirs = {m[1]: int(m[2]) for m in re.finditer(r"@\[(nap-\d)\]: (\d+)",
                                               open("theirs").read())}
assert sorted(theirs) == ["nap-1", "nap-2", "nap-3"], theirs
# A machine that stands still for as long as a nap makes it none.
assert all(theirs["nap-%d" % k] >= 20 * k for k in (1, 2, 3)), theirs
rows = json.loads(run("report", "--json", "--by", "prev_comm", "x.dtp"))["rows"]
ours = {r["args"]["prev_comm"]: r["total"] for r in rows}
assert {k: ours.get(k) for k in theirs} == theirs, (ours, theirs)
print("ok: %d switches of 3 threads, as bpftrace has them" %
      sum(theirs.values()))
records = [json.loads(line) for line in run("script", "--json",
    "--no-symbols", "x.dtp").splitlines()]
records = [r["args"] for r in records if r.get("event") == "sched:sched_switch"]
for keys in ["prev_comm"], ["next_pid"], ["prev_prio", "next_comm"]:
    wanted = collections.Counter(tuple(str(r[k]) for k in keys)
                                 for r in records)
    rows = json.loads(run("report", "--json", "--by", ",".join(keys),
                          "x.dtp"))["rows"]
    assert {tuple(r["args"][k] for k in keys): r["samples"]
            for r in rows} == wanted, keys
    table = list(csv.DictReader(io.StringIO(run("report", "--csv", "--by",
        ",".join(keys), "x.dtp"), newline="")))
    assert {tuple(r[k] for k in keys): int(r["total"])
            for r in table} == wanted, keys
print("ok: numbers and texts of %d records, alone and together" %
      len(records))
text = run("report", "--by", "next_prio,comm", "--filter",
           "prev_pid!=0", "x.dtp").split("\n\n")[1].split("\n")
assert re.search(r" count  next_prio +comm$", text[0]), text[0]
PY
python3 check.py "$DTPROF" || fail "see above"
# More than one thread reads this much; each value is there from each thread.
expect 0 "$DTPROF" record -q -e syscall::close:entry --call-graph none \
    --filter 'arg0 >= 0x40000000' -o calls.dtp -- \
    "$B/tests/work/calls" -t 3 15000
expect 0 "$DTPROF" report --json --by fd calls.dtp
n=$(json out '[len(j["rows"]), {r["total"] for r in j["rows"]},
    sorted(int(r["args"]["fd"]) for r in j["rows"]) ==
    list(range(0x40000000, 0x40000000 + 15000))]')
[ "$n" = '[15000, {3}, True]' ] || fail "15000 numbers thrice: $n"
ok "each of 15000 numbers, thrice"
expect 1 "$DTPROF" report --by prev_com x.dtp
expect_err '^dtprof: report: --by prev_com: neither a key nor an argument'
expect_err 'did you mean prev_comm\?.*sched_switch has prev_comm, prev_pid'
expect 0 "$DTPROF" report --by args.prev_comm x.dtp
expect 1 "$DTPROF" report --by args.comm x.dtp
ok "what is not recorded is refused, with what is"
