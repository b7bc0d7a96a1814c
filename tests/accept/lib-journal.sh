#!/bin/sh
# SPDX-License-Identifier: ISC
# Run by token-is-nowhere in a mount namespace of its own: lib-journal.sh
# URL TOKEN, where a journal of its own takes what push prints.
. "$SRC/tests/lib.sh"
mount -t tmpfs none /run && mkdir -p /run/log/journal /run/systemd/journal ||
	exit 77
/lib/systemd/systemd-journald 2>/dev/null &
journal=$!
kill_at_end $journal
(await "a journal" test -S /run/systemd/journal/stdout) >/dev/null || exit 77
systemd-cat "$DTPROF" push --timeout 0s --secret-file secret "$1" a.dtp
systemd-cat echo a-text-of-the-test
journalctl --sync
kill $journal
wait $journal
journalctl -D /run/log/journal -o export >journal
grep -qa a-text-of-the-test journal && grep -qa 'cannot reach' journal ||
	exit 1
! grep -rqa "$2" /run/log/journal journal
