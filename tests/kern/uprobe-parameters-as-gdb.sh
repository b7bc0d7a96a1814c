#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: Parameters of a function, by the names and types of its debug
# information, are what gdb prints in a second run: narrow
# integers with their signs, enumerations, pointers, text, behind
# floating-point ones; results have their sign.  Members of what they point to
# are, too, by path: in base classes, unions and arrays, behind pointers.  A
# parameter whose register is not sure has no name, and argN is always the N-th
# register.
#
# Easy to get wrong: a register has 64 bits, of which a narrow argument is the
# lower part; a double takes no integer register, a structure an unknown number
# of them; the compiler moves the parameters of functions that it sees all
# callers of; argN is not the N-th argument that is recorded; a member is as
# wide as its own type, and a pointer to it may lead nowhere.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd g++ gdb
tmpdir

cat >typed.cc <<'END'
#include <cstdio>
struct big { long a, b, c; };
enum color { RED = -1, GREEN = 3 };
typedef unsigned char u8;
namespace ns {
struct T { int k; int m(short s, u8 b, color c, bool q); };
__attribute__((noinline)) int
T::m(short s, u8 b, color c, bool q)
{
	asm volatile("" : : : "memory");
	return (k - s * 9 - b + c + q);
}
}
extern "C" __attribute__((noinline)) double
real(double d, int x, float f, const char *text)
{
	asm volatile("" : : "r"(text) : "memory");
	return (d + x + f);
}
extern "C" __attribute__((noinline)) long
whole(big b, int after)
{
	asm volatile("" : : : "memory");
	return (b.a + after);
}
extern "C" __attribute__((noinline)) big
made(int x)
{
	asm volatile("" : : : "memory");
	return (big { x, x, x });
}
static __attribute__((noinline)) int
own(int unused, int used)
{
	asm volatile("" : : : "memory");
	return (used * 2);
}
struct base { short kind; };
struct part { long at; union { unsigned char tag; int whole; };
    unsigned bits : 3; };
struct request : base { char name[12]; part own; part *next; request *up;
    const char *path; };
extern "C" __attribute__((noinline)) long
handle(request *r, const request &other)
{
	asm volatile("" : : "r"(r), "r"(&other) : "memory");
	return (r->own.at + other.kind);
}
static const char *const words[] = { "one", "", "three" };
int
main()
{
	ns::T t { 7 };
	long sum = 0;

	for (const char *word : words)
		puts(word);
	for (int i = 0; i < 20; i++) {
		part behind { i * 1000L, { (unsigned char)(250 + i) }, 1 };
		request up { { (short)-i }, "up", { 7 }, NULL, NULL, "/up" };
		request r { { (short)(i * -9) }, "", { -i }, &behind,
		    i % 5 ? &up : NULL, words[i % 3] };

		snprintf(r.name, sizeof(r.name), "r%d", i);
		sum += handle(&r, up);
	}
	for (int i = 0; i < 60; i++) {
		sum += t.m((short)(i * -131), (u8)(250 + i), i & 1 ? RED :
		    GREEN, i & 1);
		sum += (long)real(1.5, -i, 2.5f, words[i % 3]);
		sum += whole(big { 1, 2, 3 }, i) + made(i).b + own(i, -i);
	}
	printf("%ld\n", sum);
}
END
cat >gdb.in <<'END'
set pagination off
break ns::T::m
commands
silent
printf "m %d %d %d %d\n", s, b, c, q
continue
end
break real
commands
silent
printf "real %d %s\n", x, text
continue
end
break handle
commands
silent
printf "handle %d %s %ld ", r->kind, r->name, r->own.at
printf "%d %ld ", r->next->tag, r->next->at
printf "%d %s\n", other.kind, r->path
continue
end
run >/dev/null
quit
END
paths='r.kind,str(r.name),r.own.at,r.next.tag,r->next->at,other.kind'
paths="$paths,str(r.path)"
only='{r.up.kind <= 0 && r->next->at > 4000}'
for level in -O0 -O2; do
	g++ $level -g -o typed typed.cc || fail "g++"
	record 0 -o a.dtp -e uprobe:./typed:ns::T::m/s,b,c,q,arg2/ \
	    -e 'uprobe:./typed:real/x,str(text)/' \
	    -e "uprobe:./typed:handle/$paths/$only" \
	    -e uretprobe:./typed:ns::T::m -- ./typed
	# Before the prologue of -O0 gdb reads what is not there yet.
	[ $level = -O0 ] || gdb -q -batch -x gdb.in ./typed >gdb.out 2>err ||
	    fail "gdb"
	py $level <<'END'
import sys
import recording as rec
level = sys.argv[1]
m = rec.samples("a.dtp", "uprobe:./typed:ns::T::m/s,b,c,q,arg2/")
real = rec.samples("a.dtp", "uprobe:./typed:real/x,str(text)/")
ours = ["m %d %d %d %d" % tuple(r["args"][k] for k in "sbcq") for r in m]
text = [("real %d %s" % tuple(r["args"].values())).strip() for r in real]
handled = [list(r["args"].values()) for r in rec.samples("a.dtp")
           if ":handle/" in r["event"]]
lines = ["handle %d %s %d %d %d %d %s" % tuple(values[:7])
         for values in handled]
rec.check(lines == ["handle %d r%d %d %d %d %d %s" % (
    -9 * i, i, -i, (250 + i) % 256, i * 1000, -i, ("one", "", "three")[i % 3])
    for i in range(5, 20)], "members: %r" % lines)
rec.check([values[7] for values in handled] ==
          [-i if i % 5 else 0 for i in range(5, 20)], "up: %r" % handled)
if level == "-O2":
    seen = [line.rstrip("\n") for line in open("gdb.out")
            if line.startswith("handle ")]
    rec.check(seen[5:] == lines, "gdb: %r" % seen)
    lines = [line.strip() for line in open("gdb.out")]
    theirs = [line for line in lines if line.startswith("m ")]
    rec.check(ours == theirs, "%r, gdb %r" % (ours[:3], theirs[:3]))
    rec.check(text == [line for line in lines if line.startswith("real")],
              "%r of real" % text[:3])
made = [((-131 * i + 32768) % 65536 - 32768, (250 + i) % 256,
         -1 if i & 1 else 3, i & 1) for i in range(60)]
rec.check(ours == ["m %d %d %d %d" % one for one in made] and
          text == [("real %d %s" % (-i, ("one", "", "three")[i % 3])).strip()
                   for i in range(60)], "%s: %r" % (level, ours[:3]))
rec.check(all(r["args"]["arg2"] & 0xff == r["args"]["b"] for r in m), "arg2")
rets = [r["args"]["ret"] for r in
        rec.samples("a.dtp", "uretprobe:./typed:ns::T::m")]
rec.check(rets == [7 - s * 9 - b + c + q for s, b, c, q in made] and
          min(rets) < 0, "returns %r" % rets[:3])
late = rec.samples("a.dtp", m[0]["event"], "--filter", "s < -100 && c == -1",
                   "-e", m[0]["event"])
rec.check(len(late) == sum(s < -100 and c == -1 for s, b, c, q in made),
          "filter: %d" % len(late))
rec.ok("%s: 60 calls of two functions" % level)
END
done
for event in 'handle/r.own.bits/' 'handle/r.nothing/' 'handle/r.own/' \
    'whole/b/' 'whole/after/' 'made/x/' 'own/unused/' 'real/d/'; do
	expect 125 "$DTPROF" record -o n.dtp -e "uprobe:./typed:$event" -- true
	grep -q "no argument" err || fail "$event: $(cat err)"
done
# The first that is recorded is another one.
expect 125 "$DTPROF" stat -e uprobe:./typed:ns::T::m/s/ --by arg0 -- true
"$DTPROF" list uprobe:./typed:real | grep -q '(int x, char \* text)' ||
    fail "list: $("$DTPROF" list uprobe:./typed:real)"
ok "what is not sure has no name"
