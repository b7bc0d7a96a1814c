#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: Recording make -j2 of a program of many files has all of its
# descendants: every compiler that the build itself wrote down, with a parent
# that is known too, and every sample belongs to one of them.
# TIMEOUT: 240
#
# Easy to get wrong: grandchildren begin while their parent's fork is still
# being read; a build that uses vfork and exec has them all within a
# millisecond.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd make gcc
tmpdir
: "${FILES:=40}"

printf '#!/bin/sh\necho $$ >>log\nexec gcc "$@"\n' >logcc
chmod 755 logcc
i=0
while [ $i -lt "$FILES" ]; do
	printf '#include <stdio.h>\nint f%d(int x);\n' $i
	printf 'int f%d(int x) { return (printf("%%d", x)); }\n' $i
	i=$((i + 1))
done >all.h
i=0
objects=
while [ $i -lt "$FILES" ]; do
	sed -n "$((3 * i + 1)),$((3 * i + 3))p" all.h >f$i.c
	objects="$objects f$i.o"
	i=$((i + 1))
done
cat >Makefile <<END
prog.a:$objects
	ar cr prog.a$objects
%.o: %.c
	./logcc -O2 -c \$< -o \$@
END
unset MAKEFLAGS MFLAGS MAKELEVEL
record 0 -o a.dtp -e cpu-clock -c 1000000 -- make -s -j2
[ -e prog.a ] || fail "make made nothing"
py "$FILES" <<'END'
import sys
import recording as rec

rows = rec.balance("a.dtp", ["cpu-clock"])
rec.check(rows["proc"]["full"] == 0, "lives were lost")
known, born, ran, samples = set(), {}, {}, 0
for r in rec.in_order("a.dtp"):
    if r["type"] == "task":
        known.add(r["pid"])
    elif r["type"] == "fork":
        rec.check(r["ppid"] in known, "the parent is not known: %r" % r)
        known.add(r["pid"])
        born[r["pid"]] = born.get(r["pid"], 0) + (r["pid"] == r["tid"])
    elif r["type"] == "exec":
        ran.setdefault(r["pid"], []).append(r["path"])
    elif r["type"] == "sample":
        rec.check(r["pid"] in known, "a sample of nobody: %r" % r)
        samples += 1
log = [int(line) for line in open("log")]
rec.check(len(log) == int(sys.argv[1]), "%d compilers ran" % len(log))
for pid in log:
    rec.check(born.get(pid) == 1, "%d was born %r times" % (pid,
                                                            born.get(pid)))
    rec.check(len(ran.get(pid, [])) == 2, "%d ran %r" % (pid, ran.get(pid)))
rec.check(sum(n != 1 for n in born.values()) == 0, "some were born twice")
under = [p for paths in ran.values() for p in paths if p.endswith("/as")]
rec.check(len(under) == len(log), "%d compilers, %d assemblers" %
          (len(log), len(under)))
rec.ok("%d processes, among them all %d compilers and their %d assemblers; "
       "%d samples, all of them theirs" % (len(born), len(log), len(under),
                                          samples))
END
