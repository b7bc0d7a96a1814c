# SPDX-License-Identifier: ISC
#
# type.py bash|zsh: type lines into a shell on a terminal.
#
# Each line of the input says what is typed (^ is TAB), and what then must run:
# "dtprof recor^ => <record>".  What stands before the real dtprof on PATH, in
# ./bin, prints its arguments like that.
import os
import pty
import signal
import sys

# A shell that waits for more than was typed is a failure, not a hang.
signal.alarm(60)

SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"],
             b"bind 'set bell-style none'; set +o history; "
             b"source <(dtprof completion bash)"),
    "zsh": (["zsh", "-f", "-i"],
            b"unsetopt beep prompt_sp prompt_cr; "
            b"autoload -Uz compinit && compinit -u -D; "
            b"setopt menu_complete; unsetopt auto_list; "
            b"source <(dtprof completion zsh)"),
}
command, prepare = SHELLS[sys.argv[1]]
pid, fd = pty.fork()
if pid == 0:
    os.environ.update(PS1="", TERM="dumb", INPUTRC="/dev/null",
                      PATH=os.getcwd() + "/bin:" + os.environ["PATH"])
    os.execvp(command[0], command)
seen = b""


def until(text):
    global seen
    while text not in seen:
        seen += os.read(fd, 4096)
    shown, seen = seen.split(text, 1)
    return shown


os.write(fd, prepare + b"; echo rea''dy\n")
until(b"ready\r\n")
bad = 0
for line in sys.stdin:
    typed, want = line.rstrip("\n").split(" => ")
    os.write(fd, typed.replace("^", "\t").encode() + b"; echo do''ne\n")
    got = until(b"done\r\n").decode(errors="replace")
    got = got.replace("\r", "").strip().split("\n")[-1]
    if got != want:
        print("typed %r: ran %r, not %r" % (typed, got, want))
        bad = 1
os.write(fd, b"exit\n")
sys.exit(bad)
