# Runs a command on a terminal of so many columns, and prints what it wrote
# there; ends as it did.  CTRL_C_AT in the environment: a word behind which
# Ctrl-C is typed.
import fcntl
import os
import pty
import struct
import sys
import termios


def run(words, columns, echo=True, ctrl_c_at=None):
    pid, fd = pty.fork()
    if pid == 0:
        # The size is set before the command asks for it.
        os.read(0, 1)
        os.execvp(words[0], words)
    if not echo:
        attr = termios.tcgetattr(fd)
        attr[3] &= ~termios.ECHO
        termios.tcsetattr(fd, termios.TCSANOW, attr)
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    os.write(fd, b"\n")
    out = b""
    while True:
        try:
            data = os.read(fd, 4096)
        except OSError:
            break
        if not data:
            break
        out += data
        if ctrl_c_at and ctrl_c_at in out:
            os.write(fd, b"\x03")
            ctrl_c_at = None
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), out


if __name__ == "__main__":
    status, out = run(sys.argv[2:], int(sys.argv[1]),
                      ctrl_c_at=os.environb.get(b"CTRL_C_AT"))
    sys.stdout.buffer.write(out)
    sys.exit(status)
