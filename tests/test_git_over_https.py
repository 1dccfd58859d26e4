"""Packs from an https server on this machine: a certificate, redirects, a password that is asked for."""

from __future__ import annotations

import gzip
import http.server
import os
import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from tests.conftest import Hookctl
from tests.test_git_sources import HOST, Repository, error_of, is_untouched, pack_of

pytestmark = pytest.mark.skipif(not shutil.which("openssl"), reason="openssl makes the certificate")


class Forge(http.server.BaseHTTPRequestHandler):
    """Answers git's smart protocol, and misbehaves where a path says so."""

    folder: ClassVar[Path]
    asked: ClassVar[list[str]] = []
    plain_port = 0  # of the same server without https

    def do_GET(self) -> None:
        self.asked.append(self.headers.get("Authorization", ""))
        if self.path.startswith("/private"):
            self.answer(401, b"", WWW_Authenticate='Basic realm="x"')
        elif self.path.startswith("/gone"):
            self.answer(404, b"")
        elif self.path.startswith("/plain"):
            path = self.path.removeprefix("/plain")
            self.answer(301, b"", Location=f"http://127.0.0.1:{self.plain_port}{path}")
        elif self.path.startswith("/file"):
            self.answer(301, b"", Location=f"file://{self.folder}{self.path.removeprefix('/file')}")
        elif self.path.startswith("/moved"):
            self.answer(301, b"", Location=self.path.removeprefix("/moved"))
        elif self.path.startswith("/dumb"):
            self.answer(200, b"0" * 40 + b"\trefs/heads/main\n")
        else:
            head = b"001e# service=git-upload-pack\n0000"
            self.answer(200, head + self.ask("--advertise-refs"), "x-git-upload-pack-advertisement")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        self.answer(200, self.ask(body=body), "x-git-upload-pack-result")

    def ask(self, *options: str, body: bytes = b"") -> bytes:
        environ = {**os.environ, "GIT_PROTOCOL": self.headers.get("Git-Protocol", "")}
        command = ["git", "upload-pack", "--stateless-rpc", *options, str(self.folder)]
        return subprocess.run(command, input=body, env=environ, capture_output=True, check=True).stdout

    def answer(self, status: int, body: bytes, kind: str = "", **headers: str) -> None:
        self.send_response(status)
        if kind:
            headers["Content-Type"] = f"application/{kind}"
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A key and a certificate of 127.0.0.1 in one file."""
    path = tmp_path_factory.mktemp("https") / "both.pem"
    name = ("-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1")
    key = ("-newkey", "rsa:2048", "-nodes", "-keyout", str(path), "-out", f"{path}.crt")
    subprocess.run(["openssl", "req", "-x509", *key, "-days", "2", *name], capture_output=True, check=True)
    path.write_text(path.read_text() + Path(f"{path}.crt").read_text())
    return path


@pytest.fixture
def repository(isolated: Path, fixed_python: None) -> Repository:
    return Repository(isolated / "author")


@pytest.fixture
def server(repository: Repository, certificate: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of the server, whose certificate is trusted."""
    Forge.folder, Forge.asked[:] = repository.folder, []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Forge) as listening:
        listening.socket = context.wrap_socket(listening.socket, server_side=True)
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        yield f"git+https://127.0.0.1:{listening.server_address[1]}"
        listening.shutdown()


@pytest.fixture
def plain() -> Iterator[None]:
    """The same server without https."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Forge) as listening:
        Forge.plain_port = listening.server_address[1]
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        yield
        listening.shutdown()


def test_a_pack_is_installed_and_upgraded(
    server: str, repository: Repository, hookctl: Hookctl, isolated: Path
) -> None:
    old = repository.git("rev-parse", "HEAD")
    assert hookctl("install", f"{server}/r@main", *HOST).code == 0
    assert (pack_of(isolated)["source"], pack_of(isolated)["commit"]) == (f"{server}/r@main", old)
    new = repository.release("2")
    assert hookctl("upgrade", "--yes", agrees=False).code == 0
    assert pack_of(isolated)["commit"] == new
    assert hookctl("install", f"{server}/r@{old}", *HOST).code == 0
    assert pack_of(isolated)["commit"] == old


def test_a_repository_that_moved_on_its_server_is_found(server: str, hookctl: Hookctl) -> None:
    assert hookctl("install", f"{server}/moved/r", *HOST).code == 0


@pytest.mark.parametrize("path", ["plain/r", "file/r", "dumb/r"])
def test_no_server_leads_to_another_way_of_fetching(
    server: str, plain: None, hookctl: Hookctl, isolated: Path, path: str
) -> None:
    done = hookctl("install", f"{server}/{path}", *HOST, "--json")
    assert (done.code, error_of(done)["code"]) == (4, "fetch_failed"), done
    assert len(Forge.asked) == 1 or path == "dumb/r"
    assert is_untouched(isolated)


def test_a_password_is_neither_asked_for_nor_known(
    server: str, hookctl: Hookctl, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = isolated / "home"
    (home / ".netrc").write_text("machine 127.0.0.1 login me password hunter2\n")
    (home / ".git-credentials").write_text(f"{server.removeprefix('git+').replace('//', '//me:hunter2@')}\n")
    (home / ".gitconfig").write_text("[credential]\n helper = store\n[http]\n extraHeader = Authorization: hunter2\n")
    monkeypatch.setenv("GIT_ASKPASS", "echo")
    done = hookctl("install", f"{server}/private/r", *HOST, "--json")
    assert (done.code, "git+ssh" in error_of(done)["hint"]) == (4, True), done
    done = hookctl("install", f"{server}/gone/r", *HOST, "--json")
    assert (done.code, "git+ssh" in error_of(done)["hint"]) == (4, True), done
    assert set(Forge.asked) == {""}
    assert is_untouched(isolated)


def test_a_server_without_a_known_certificate_is_refused(
    server: str, hookctl: Hookctl, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    monkeypatch.setenv("GIT_SSL_NO_VERIFY", "1")
    (isolated / "home" / ".gitconfig").write_text("[http]\n sslVerify = false\n")
    done = hookctl("install", f"{server}/r", *HOST, "--json")
    assert (done.code, "certificate" in error_of(done)["message"]) == (4, True), done
    assert is_untouched(isolated)
