"""A hook that is none of hookctl's, run as it is: only its stdout passes through here.

Input, stderr, group, folder and limits are the command's own. A signal to this process goes on to
the command, unless the command got it too; the process ends as the command ends. What children in
the background still have to say is passed on until they close stdout.
"""

import _signal
import posix
import select
import time

from .child import CHUNK, exit_status, watch_children
from .outcome import write_line

FIFO, SOCKET, KIND = 0o010000, 0o140000, 0o170000
KEPT = 1 << 16  # bytes of stdout that are read as an answer
SHORT_MS = 50  # without output for so long, a command is worth a sentry
IGNORED = (_signal.SIGPIPE, _signal.SIGXFSZ)  # by this process, as by every Python
# A process that passed these on would not stop when the command does.
NOT_PASSED = ("SIGKILL", "SIGSTOP", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGCHLD", "SIGPIPE")
SHELLS = ("sh", "bash", "dash", "ksh", "zsh")
WITH_CORE = ("SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGSEGV", "SIGXCPU")


def prepare(words):
    """The function that runs the command; all that it needs is loaded."""
    event, _, host, _, id, _, until, shell, command = words
    environ, call = read_environment(), [shell, "-c", command]
    shells = find_shells(shell, environ)

    def run():
        """Raises OSError where the command cannot start; else it does not return."""
        if time.time() >= int(until):
            become(shells, call, environ)
        begin, tap = time.monotonic(), open_tap()
        bell = watch_children(())
        child = start(shells, call, environ, tap)
        status = 0
        try:
            for number in IGNORED:
                _signal.signal(number, _signal.SIG_IGN)
            status = watch(child, bell, tap)
            ms = int((time.monotonic() - begin) * 1000)
            tap.finish()
            write_line(event, host, id, exit_status(status), ms, tap)
        finally:
            end_alike(status)

    return run


def read_environment():
    """The variables as they came: Python adds one where the locale is C."""
    try:
        with open("/proc/self/environ", "rb") as stream:
            block = stream.read()
    except OSError:
        return posix.environ
    variables = {}
    for assignment in block.split(b"\0"):
        name, mark, value = assignment.partition(b"=")
        if name and mark:
            variables.setdefault(name, value)
    return variables


def find_shells(shell, environ):
    """Where the shell that the host started may lie, the likeliest first."""
    name = shell.rpartition("/")[2]
    if name not in SHELLS:
        return ["/bin/sh"]
    if "/" in shell:
        return [shell, "/bin/sh"]
    folders = environ.get(b"PATH", b"/usr/bin:/bin").decode("utf-8", "surrogateescape").split(":")
    return [folder + "/" + name for folder in folders if folder[:1] == "/"] + ["/bin/sh"]


class Tap:
    """Stdout on its way from the command to the host: passed on at once, its beginning kept."""

    def __init__(self, ends=(), numbers=()):
        self.data, self.length = bytearray(), 0
        self.numbers = numbers  # the descriptors of the command that end here
        self.ours, self.theirs = ends or (-1, -1)
        self.is_open = bool(ends)

    def pass_on(self):
        """Pass on what is there; False where there is nothing more for now."""
        try:
            piece = posix.read(self.ours, CHUNK)
        except BlockingIOError:
            return False
        if not piece:
            self.close()
            return False
        self.length += len(piece)
        self.data += piece[: KEPT - len(self.data)]
        try:
            write_all(piece)
        except OSError:  # the host reads no more
            self.close()
        return self.is_open

    def finish(self):
        """After the command's end: pass on the rest, in a process of its own if it takes longer."""
        while self.is_open and self.pass_on():
            pass
        if self.is_open and fork() == 0:
            self.pass_on_alone()

    def pass_on_alone(self):
        """Pass on what children in the background say, until nobody can say more."""
        try:
            for number in passed_signals():
                _signal.signal(number, _signal.SIG_IGN)
            for fd in (0, 2):
                close(fd)
            while self.is_open:
                if wait_for((self.ours, select.POLLIN), (1, 0)) == 1:
                    break  # nobody reads any more
                self.pass_on()
        finally:
            posix._exit(0)

    def close(self):
        self.is_open = False
        close(self.ours)


def open_tap():
    """A tap of the kind of the host's stdout: a pipe, or a socket; elsewhere it stays closed."""
    try:
        status = posix.fstat(1)
        kind = status.st_mode & KIND
        if kind not in (FIFO, SOCKET) or is_same(status, 0) or not is_read():
            return Tap()
        ends = open_sockets() if kind == SOCKET else posix.pipe()
        posix.set_blocking(ends[0], False)
        return Tap(ends, (1, 2) if is_same(status, 2) else (1,))
    except (OSError, ImportError):
        return Tap()


def become(shells, call, environ):
    """Replace this process by the command."""
    for number in IGNORED:
        _signal.signal(number, _signal.SIG_DFL)
    for shell in shells:
        try:
            posix.execve(shell, call, environ)
        except OSError:
            continue


def is_same(status, fd):
    """Is a descriptor the same pipe or socket?"""
    try:
        other = posix.fstat(fd)
    except OSError:
        return False
    return (status.st_dev, status.st_ino) == (other.st_dev, other.st_ino)


def is_read():
    """Does anybody read stdout?"""
    poll = select.poll()
    poll.register(1, 0)
    return not poll.poll(0)


def open_sockets():
    """Two connected sockets; their first is ours."""
    from _socket import socketpair

    return [end.detach() for end in socketpair()]


def start(shells, call, environ, tap):
    """Start the command; OSError where no shell can be started."""
    actions = [(posix.POSIX_SPAWN_DUP2, tap.theirs, number) for number in tap.numbers]
    for number, shell in enumerate(shells):
        try:
            child = posix.posix_spawn(shell, call, environ, file_actions=actions, setsigdef=IGNORED)
            break
        except OSError:
            if number == len(shells) - 1:
                raise
    if tap.is_open:
        close(tap.theirs)
    return child


def watch(child, bell, tap):
    """Pass on stdout and signals until the command has ended; its wait status."""
    sentry, lives, patience = None, True, SHORT_MS

    def pass_signal(number, _):
        if lives and (sentry is None or not sentry.has_got(number)):
            send(child, number)

    for number in passed_signals():
        _signal.signal(number, pass_signal)
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, [_signal.SIGCHLD])
    poll = select.poll()
    poll.register(bell, select.POLLIN)
    if tap.is_open:
        poll.register(tap.ours, select.POLLIN)
        poll.register(1, 0)  # tells when nobody reads any more
    while True:
        done, status = posix.waitpid(child, posix.WNOHANG)
        if done:
            lives = False
            if sentry:
                sentry.leave()
            return status
        ready = poll.poll(patience)
        if not ready:
            make, patience = find_sentry(), None
            mask = _signal.pthread_sigmask(_signal.SIG_BLOCK, _signal.valid_signals())
            sentry = make((bell, tap.ours) if tap.is_open else (bell,))
            _signal.pthread_sigmask(_signal.SIG_SETMASK, mask)
        for fd, _ in ready:
            if fd == bell:
                posix.read(bell, CHUNK)
            elif fd == tap.ours:
                tap.pass_on()
            elif tap.is_open:
                tap.close()
            if fd != bell and not tap.is_open:
                unregister(poll, (tap.ours, 1))


def find_sentry():
    """What makes a sentry, which closes the given descriptors; none if its module has gone."""
    try:
        from .sentry import Sentry  # late: few commands take so long
    except Exception:
        return lambda fds: None
    return Sentry


def passed_signals():
    """The signals that are passed on: none that the host wants to be ignored."""
    kept_back = {getattr(_signal, name, None) for name in NOT_PASSED}
    numbers = []
    for number in sorted(_signal.valid_signals()):
        if number not in kept_back and _signal.getsignal(number) not in (_signal.SIG_IGN, None):
            numbers.append(number)
    return numbers


def end_alike(status):
    """End as the command ended."""
    if posix.WIFSIGNALED(status):
        number = posix.WTERMSIG(status)
        if number in [getattr(_signal, name, None) for name in WITH_CORE]:
            prevent_core()
        if number != _signal.SIGKILL:
            _signal.signal(number, _signal.SIG_DFL)
        _signal.pthread_sigmask(_signal.SIG_UNBLOCK, [number])
        posix.kill(posix.getpid(), number)
    posix._exit(exit_status(status))


def prevent_core():
    """The command has left its own memory behind; this process has nothing to tell."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    except (ImportError, OSError, ValueError):
        return


def write_all(data):
    """Write all of it to the host, who may have made its end one that does not wait."""
    while data:
        try:
            data = data[posix.write(1, data) :]
        except BlockingIOError:
            wait_for((1, select.POLLOUT))


def wait_for(*wanted):
    """Wait for any of these descriptors, each with what is wanted of it; the last that is ready."""
    poll = select.poll()
    for fd, what in wanted:
        poll.register(fd, what)
    return poll.poll()[-1][0]


def fork():
    """Start a process like this one: 0 in it, and -1 where there may be no more of them."""
    try:
        return posix.fork()
    except OSError:
        return -1


def send(child, number):
    try:
        posix.kill(child, number)
    except OSError:
        return  # it has ended


def unregister(poll, fds):
    for fd in fds:
        try:
            poll.unregister(fd)
        except KeyError:  # not watched any more
            continue


def close(fd):
    try:
        posix.close(fd)
    except OSError:
        return
