"""Processes without a start of Python each: a server that was started once forks one for each call.

Such a process has all that its caller gives it (arguments, environment, folder, umask, streams) and does what the
program does; Python and the modules are there already. Tests of how a program starts, or that kill one, have real ones.
"""

from __future__ import annotations

import array
import atexit
import contextlib
import functools
import gc
import marshal
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

ONE_AT_A_TIME = threading.Lock()  # several tests call from threads
OF_HOOKS = "contextlib fcntl json os re select signal subprocess threading time"
SERVER = "import sys; sys.path.insert(0, {0!r}); import served; del sys.path[0]; served.serve({1!r}.split())"
# The program `hookctl` as a shell finds it. Where it stands in no folder, it is run.
CLIENT = """#!{python} -IS
import _socket, marshal, posix, sys
try:
    folder = posix.getcwd()
except OSError:
    program = "from hookctl.__main__ import main; main()"
    posix.execv(sys.executable, [sys.executable, "-c", program, *sys.argv[1:]])
connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM, 0)
connection.connect({address!r})
request = marshal.dumps([sys.argv, posix.environ, folder, posix.umask(0)], 2)
fds = b"".join(number.to_bytes(4, sys.byteorder) for number in range(3))
connection.sendmsg([len(request).to_bytes(4, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, fds)])
connection.sendall(request)
status = int.from_bytes(connection.recv(4), "big")
posix._exit(128 + (status & 127) if status & 127 else status >> 8)
"""


def run_served(
    command: Sequence[str], stdin: bytes, environ: Mapping[str, str], cwd: str | os.PathLike[str],
    user: int | None = None,
) -> subprocess.CompletedProcess[bytes]:  # fmt: skip
    """Run `PYTHON -I -S FILE ...` or `PYTHON -m hookctl ...` with this input as subprocess.run does."""
    is_hook = list(command[1:3]) == ["-I", "-S"]
    with ONE_AT_A_TIME:
        address = server_of(command[0], OF_HOOKS) if is_hook else server_of_hookctl()
    words = list(command[3:]) if is_hook else ["hookctl", *command[3:]]
    values = {name.encode(): os.fsencode(value) for name, value in environ.items()}
    request = marshal.dumps([words, values, os.fspath(cwd), None, user], 2)
    out, child_out = os.pipe()
    with (
        socket.socket(socket.AF_UNIX) as connection,
        tempfile.TemporaryFile() as given,
        tempfile.TemporaryFile() as err,
    ):
        given.write(stdin)
        given.seek(0)
        connection.connect(address)
        fds = array.array("i", [given.fileno(), child_out, err.fileno()])
        connection.sendmsg([len(request).to_bytes(4, "big")], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
        connection.sendall(request)
        os.close(child_out)
        with open(out, "rb") as stream:
            said = stream.read()
        status = os.waitstatus_to_exitcode(int.from_bytes(connection.recv(4), "big"))
        err.seek(0)
        return subprocess.CompletedProcess(command, status, said, err.read())


def server_of_hookctl() -> str:
    """The address of a server that has all of hookctl's modules."""
    root = Path(__file__).parents[1]
    files = sorted((root / "hookctl").rglob("*.py"))
    names = [".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__") for file in files]
    return server_of(sys.executable, " ".join(["jsonschema", "yaml", *names]))


@functools.cache
def server_of(python: str, modules: str) -> str:
    """The address of a server in this Python with these modules, which ends with this process."""
    here, folder = os.path.dirname(__file__), tempfile.mkdtemp(prefix="hookctl-server-")
    options = ["-I", "-S"] if modules == OF_HOOKS else []
    environ = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{folder}/socket")
        listener.listen(64)
        command = [python, *options, "-c", SERVER.format(here, modules)]
        environ["PYTHONPATH"] = os.path.dirname(here)
        server = subprocess.Popen(command, stdin=listener, start_new_session=True, env=environ)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    atexit.register(server.kill)
    return f"{folder}/socket"


def serve(modules: list[str]) -> None:
    """In the server: a process for each connection."""
    for name in modules:
        __import__(name)
    if "hookctl.cli" in modules:  # what each command would read anew
        from hookctl import cli, hosts

        for host in hosts.names():
            hosts.load(host)
        cli.program, cli.command = functools.cache(cli.program), functools.cache(cli.command)
        for name in cli.SUMMARIES:
            cli.command(name)
    gc.freeze()
    listener = socket.socket(fileno=os.dup(0))
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    parent = os.getppid()
    listener.settimeout(5)
    while os.getppid() == parent:
        try:
            connection = listener.accept()[0]
        except socket.timeout:  # noqa: UP041 (of 3.8)
            continue
        connection.setblocking(True)
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            answer(connection)
        connection.close()


def answer(connection: socket.socket) -> None:
    """Fork the process that a connection asks for, and tell its status when it has ended."""
    size, ancillary, _, _ = connection.recvmsg(4, socket.CMSG_SPACE(12))
    fds, request = array.array("i", ancillary[0][2]), b""
    while len(request) < int.from_bytes(size, "big"):
        request += connection.recv(1 << 20)
    child = os.fork()
    if child == 0:
        for number, fd in enumerate(fds):
            os.dup2(fd, number)
        os.closerange(3, 256)
        become(*marshal.loads(request))
    os.closerange(0, 3)
    for fd in fds:
        os.close(fd)
    with contextlib.suppress(OSError):
        connection.sendall(os.waitpid(child, 0)[1].to_bytes(4, "big"))
    os._exit(0)


def become(
    words: list[str], environ: dict[bytes, bytes], folder: str, umask: int | None, user: int | None = None
) -> None:
    """Be the process of a program, to its end; of a user, if one is given."""
    if user is not None:
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)
    os.chdir(folder)
    if umask is not None:
        os.umask(umask)
    os.environ.clear()  # which is posix.environ too
    os.environ.update({os.fsdecode(name): os.fsdecode(value) for name, value in environ.items()})
    time.tzset()
    sys.argv = words
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        old = getattr(sys, name)
        stream = open(old.fileno(), mode, encoding=old.encoding, errors=old.errors, closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
    status = 0
    try:
        if os.path.basename(words[0]) == "hookctl":
            from hookctl.__main__ import main

            main()
        else:
            module = sys.modules["__main__"] = type(sys)("__main__")
            module.__file__ = words[0]
            exec(compile(Path(words[0]).read_bytes(), words[0], "exec"), vars(module))
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        status = 1
    with contextlib.suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(status)
