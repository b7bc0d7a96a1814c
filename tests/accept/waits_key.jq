# Compare the rows of report --by function,state,reason,waker,waker_tid with
# the key that the program printed ($key): first a line for each difference,
# with a semicolon, then name, planted or absent, time here and by the program.
# $waits is the accounting of the event.

def is($name; $value): map(select(.args[$name] == $value));
def time: map(.total) | add // 0;
# Threads of a process that begin and end change its memory, which page faults
# then wait for.
def other: . == "page fault" or . == "memory";

.rows as $rows | $key[] | . as $way | .reason as $reason |
(if .planted then "planted" else "absent" end) as $how |
($rows | map(select(.name == $way.function))) as $all | ($all | time) as $time |
($all | is("state"; "blocked")) as $blocked |
($blocked | is("reason"; $reason)) as $named |
(if $reason == "preempted" then $all else $blocked end |
    map(.args.reason | select(. == $reason or (other | not))) | unique -
    ["wake-up latency"]) as $reasons |
($named | map(.args.waker) | unique -
    if $waits.unwoken > 0 then ["-"] else [] end) as $wakers |
($named | is("waker"; $way.name + ".end") | map(.args.waker_tid) |
    unique) as $tids |
# A thread that spins is not on a CPU while the host runs others: its clock says
# so, its schedstat does not.
[.off_ns, if $reason == "preempted" then .delay_ns else empty end] as $truth |
# What a switch itself takes is in either.
(20000 * ([.rounds, ($all | map(.total_samples) | add // 0)] | max) +
    $waits.gap_ns) as $least |
def wrong($what): "\($way.name), \($how): \($what); \($way); \($all |
    map(.args + {total}))";
(if .planted and $time < 0.99 * ($truth | min) - $least or
    $time > 1.01 * ($truth | max) + $least then
    wrong("\($time) ns, by its own clock \($truth)") else empty end),
(if .planted and $reasons != [$reason] then
    wrong("not \($reason) alone") else empty end),
(if .planted and ($wakers - .wakers != [] or
    ($wakers == []) != (.wakers == [])) then
    wrong("not \(.wakers)") else empty end),
(if .planted and $tids - ["\(.ender)"] != [] then
    wrong("not thread \(.ender)") else empty end),
(if (.planted | not) and ($named != [] or
    ($blocked | map(select(.args.reason | other | not))) != []) then
    wrong("a wait is named") else empty end),
([.name, $how, $time, .off_ns] | map(tostring) | join(" "))
