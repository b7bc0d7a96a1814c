#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: A probe on a function fires as often as the function is entered,
# by the program's own count and by bpftrace's at the same time, and each
# firing is stored or lost by a reason: for a command, a process that waits,
# and all of the machine; by linker's and by C++ names, in threads, handlers,
# children, libraries that come and go; 10 probes on one function each see all.
# The stack begins at the function, and is complete.  Each return fires once,
# with what is returned, and none where a function is left by an exception or a
# longjmp, of which the program does not die.
#
# Easy to get wrong: a probe whose target is a process is lost at fork and
# exec; a library that is loaded later has no process to be looked up in; the
# innermost frame is the function, not the breakpoint or its caller.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd g++ bpftrace
tmpdir

g++ -O2 -o probed "$SRC/tests/work/probed/probed.cc" -ldl -pthread ||
    fail "g++"
gcc -O2 -shared -fPIC -o plug.so "$SRC/tests/work/probed/plug.c" ||
    fail "gcc"
n=40
events=uprobe:./probed:leaf,uprobe:./probed:nested,uprobe:./probed:recursive
events=$events,uprobe:./probed:handler,uprobe:./probed:jumper
events=$events,uprobe:./probed:thrower,uprobe:./plug.so:plug
events="$events,uprobe:./probed:ns::Box<int>::over"
events=$events,'u:./probed:"ns::Box<double>::over(double)"'

# Of a command, beside bpftrace.
cat >leaf.bt <<'END'
uprobe:./probed:leaf { @leaf = count(); }
uprobe:./plug.so:plug { @plug = count(); }
END
record 0 -a -o a.dtp -e "$events" -- bpftrace -f json -o traced \
    -c "./probed $n ./plug.so" leaf.bt
cp out said.a
record 0 -o c.dtp -e "$events" -- ./probed $n ./plug.so
cp out said.c

# Of a process that has not loaded the library yet.
mkfifo go
./probed $n ./plug.so wait <go >said.p &
target=$!
kill_at_end $target
exec 9>go
record_begin -o p.dtp -e "$events" -p $target
echo go >&9
exec 9>&-
wait $target || fail "probed: $?"
record_wait 0

# What Go has made passes arguments, and grows stacks, as no other does.
echo >empty
objcopy --add-section .gopclntab=empty probed go-like || fail "objcopy"
for event in uprobe:./go-like:leaf/arg0/ uretprobe:./go-like:leaf; do
	expect 125 "$DTPROF" record -o g.dtp -e $event -- ./go-like 1 ./plug.so
	grep -q "Go" err || fail "$event: $(cat err)"
done
ok "arguments and returns of Go are refused"

# What is left of an inlined function is not entered when that is, and what the
# kernel cannot probe would not fire, and nobody would know.
cat >parts.cc <<'END'
namespace ns {
long left(long n) asm("_ZN2ns1fEl.part.0");
long left(long n) { return (n + 1); }
long f(long n) { return (n == 0 ? 0 : n + 2); }
}
extern "C" void locked(void);
#if defined(__x86_64__)
asm(".globl locked; .type locked, @function; locked: lock incl -4(%rsp); ret;"
    ".size locked, . - locked");
#else
asm(".globl locked; .type locked, @function; locked: ldxr x0, [sp]; ret;"
    ".size locked, . - locked");
#endif
int main() { locked(); return (ns::f(0)); }
END
g++ -O1 -fcf-protection=none -o parts parts.cc 2>/dev/null ||
    g++ -O1 -o parts parts.cc || fail "g++"
[ "$("$DTPROF" list uprobe:./parts:ns::f | grep -c ns::f)" = 1 ] ||
    fail "ns::f: $("$DTPROF" list uprobe:./parts:ns::f)"
for how in '' --no-inherit; do
	expect 125 "$DTPROF" record -o l.dtp ${how:+"$how"} \
	    -e uprobe:./parts:locked -- ./parts
	grep -q 'a probe on the instruction' err || fail "$(cat err)"
done
"$DTPROF" stat --csv -o lm.csv -e 'uprobe:./parts:[lm]*' -- ./parts 2>err ||
    fail "$(cat err)"
grep -q 'note: left out: uprobe:./parts:locked: .*a probe on the instr' err ||
    fail "$(cat err)"
[ "$(grep -c uprobe: lm.csv)" -eq 1 ] &&
    grep -q ',"uprobe:./parts:main",1$' lm.csv || fail "$(cat lm.csv)"
expect 125 "$DTPROF" stat -e uprobe:./parts:locked -- ./parts
grep hint: err >cure || fail "$(cat err)"
expect 125 "$DTPROF" stat -e 'uprobe:./parts:[l]*' -- ./parts
grep -q "refuses each function that matches" err || fail "$(cat err)"
grep hint: err | cmp - cure || fail "another cure: $(cat err)"
expect 125 "$DTPROF" record -o l.dtp -e kprobe:vfs_read+4 -- true
grep -q 'only the first instruction' err || fail "$(cat err)"
ok "what would not be true of a function is refused"

# Returns: by exceptions and longjmp there is none.
returns=uretprobe:./probed:leaf,uretprobe:./probed:nested
returns=$returns,uretprobe:./probed:handler,ur:./plug.so:plug
returns="$returns,uretprobe:./probed:ns::Box<int>::over"
record 0 -o r.dtp -e "$returns" -e uprobe:./probed:jumper \
    -e uprobe:./probed:thrower -- ./probed $n ./plug.so
cp out said.r
"$DTPROF" record -o x.dtp -e uretprobe:./probed:thrower -- true 2>err &&
    fail "thrower returns"
grep -q 'the function never returns' err || fail "$(cat err)"
"$DTPROF" record -o x.dtp -e 'uretprobe:./probed:throw*' -- true 2>err &&
    fail "all functions of a pattern return"
grep -q 'none of the 1 functions can be probed (1: the function never' err ||
    fail "$(cat err)"
"$DTPROF" stat -e 'uretprobe:./probed:[lt][eh][ar]*' -- ./probed 3 ./plug.so \
    >out 2>err || fail "$(cat err)"
grep -q '1 functions are probed, 1 functions are left out (1: the' err ||
    fail "$(cat err)"
"$DTPROF" list 'uretprobe:libc:*' | grep -q 'the function ends in a tail' ||
    fail "no function of libc ends in a tail call"

# Ten probes on one function.
ten=
for at in 1 2 3 4 5 6 7 8 9 10; do
	ln -s probed "probed$at"
	ten=$ten,uprobe:./probed$at:leaf
done
record 0 -o t.dtp -e "${ten#,}" -- ./probed $n ./plug.so
cp out said.t

# Counted, without a recording; one that never fires has a row, too.
"$DTPROF" stat --json -o stat.json -e "$events" \
    -e uprobe:libc:wordexp -- ./probed $n ./plug.so >said.s 2>err ||
    fail "stat: $(cat err)"

py <<'END'
import json
import recording as rec

def counts(path):
    """Event -> stored, of which nothing was lost."""
    rows = rec.balance(path)
    del rows["proc"]
    for name, row in rows.items():
        rec.check(row["full"] + row["nested"] + row["error"] + row["missed"]
                  == 0, "%s lost some: %r" % (name, row))
    return {name: row["stored"] for name, row in rows.items()}

names = {"uprobe:./probed:" + name: name for name in
         ("leaf", "nested", "recursive", "handler", "jumper", "thrower")}
names["uprobe:./plug.so:plug"] = "plug"
names["uprobe:./probed:ns::Box<int>::over"] = "over_int"
names['u:./probed:"ns::Box<double>::over(double)"'] = "over_double"

for how in "acp":
    lines = [line for line in open("said." + how) if line.startswith("{")]
    said = json.loads(lines[-1])
    got = counts(how + ".dtp")
    rec.check(set(got) == set(names), "events %r" % sorted(got))
    for event, name in names.items():
        rec.check(got[event] == said[name], "%s.dtp: %s: %d, the program "
                  "says %d" % (how, event, got[event], said[name]))
    rec.ok("%s: as many as the program counts: %r" % (how, said))

said = json.loads([line for line in open("said.a")
                   if line.startswith("{")][-1])
traced = {}
for line in open("traced"):
    if line.startswith("{") and json.loads(line)["type"] == "map":
        traced.update(json.loads(line)["data"])
rec.check(traced == {"@leaf": said["leaf"], "@plug": said["plug"]},
          "bpftrace counts %r" % traced)
rec.ok("and as bpftrace")

said = json.load(open("said.r"))
got = counts("r.dtp")
left = {"uretprobe:./probed:leaf": "leaf", "uretprobe:./probed:nested":
        "nested", "uretprobe:./probed:handler": "handler",
        "ur:./plug.so:plug": "plug", "uprobe:./probed:jumper": "jumper",
        "uretprobe:./probed:ns::Box<int>::over": "over_int",
        "uprobe:./probed:thrower": "thrower"}
rec.check(got == {event: said[name] for event, name in left.items()},
          "returns %r, of %r" % (got, said))
for event, value in [("ur:./plug.so:plug", 2),
                     ("uretprobe:./probed:ns::Box<int>::over", 1)]:
    values = {s["args"]["ret"] & 0xffffffff
              for s in rec.samples("r.dtp", event)}
    rec.check(values == {value}, "%s returns %r" % (event, values))
rec.ok("each return fires once, with its value")

said = json.load(open("said.t"))
got = counts("t.dtp")
rec.check(len(got) == 10 and set(got.values()) == {said["leaf"]},
          "ten probes: %r" % got)
rec.ok("ten probes on one function see each of %d calls" % said["leaf"])

said = json.load(open("said.s"))
stat = json.load(open("stat.json"))
got = {g["event"]: g["count"] for g in stat["groups"]}
rec.check(got == {**{event: said[name] for event, name in names.items()},
                  "uprobe:libc:wordexp": 0},
          "stat counts %r, the program %r" % (got, said))
for row in stat["accounting"]:
    rec.check(row["fired"] == row["stored"] + row["filtered"] and
              row["missed"] == 0, "%r" % row)
rec.ok("stat counts as the program does")

stacks = [s for s in rec.samples("p.dtp", "uprobe:./probed:leaf")]
for sample in stacks:
    rec.check(sample["user_frames"][0]["raw"] == "leaf" and
              sample["user_frames"][0]["offset"] == 0,
              "a stack begins at %r" % sample["user_frames"][0])
total = len(stacks)
whole = sum(s["user_status"] == "ok" for s in stacks)
rec.check(total == said["leaf"] and whole >= 0.95 * total,
          "%d of %d stacks are complete" % (whole, total))
rec.ok("%d of %d stacks of leaf are complete, each from it on" %
       (whole, total))
END
