"""Everything that a pack brings, in full: what a person reads before they agree to it."""

import difflib
import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from hookctl.masking import OwnText
from hookctl.model import PackRecord
from hookctl.packs import Pack, PackHook
from hookctl.packs.runner import ALL, EVENTS, REFUSING_EVENTS, TOOL_EVENTS
from hookctl.system import files

# The hosts' own events that ask before something is done.
_ASKS = (
    "(?i)permission|approv|(pre|before).*(tool|shell|mcp|read|write|command)|^tool.*(call|before)"
)
LONGEST_TEXT = 64 * 1024  # bytes of a file that is shown in full; of a longer one only its name
_MOST = 100  # lines of a text that are shown unasked
_MOST_COMPARED = 10_000  # lines: an author can make it slow to say how more of them differ


def lines(pack: Pack, digest: str, known: Mapping[str, str], *, verbose: bool) -> list[str]:
    """The commands, variables and files of a pack, for people; never masked.

    Without `verbose` a long text is folded, and a file in `known` has what is said there instead.
    """
    brought = data(pack, digest)
    tag = f"{pack.release.tag}, " if pack.release else ""
    source = f"{pack.source} ({tag}commit {pack.commit})" if pack.commit else pack.source
    shown = [f"{pack.name} {pack.version} is not built into hookctl. {source} brings:"]
    for (_, hook), command in zip(pack.all_hooks, brought["commands"], strict=True):
        id = "" if hook.id == hook.event else f" ({hook.id})"
        event, limits = EVENTS.get(hook.event, hook.event), "; ".join(_limits(hook))
        shown.append(f"  command  {event}{id}{_only(command)}: {hook.command}")
        shown += [f"           {limits}"] if limits else []
    for variable in brought["env"]:
        name = variable["name"]
        needed = f"  (needs --allow-env {name})" if variable["risky"] else ""
        shown.append(f"  env      {name}={variable['value']}{_only(variable)}{needed}")
    for file in brought["files"]:
        text, why = file["text"], "" if verbose else known.get(file["name"], "")
        about = f"({file['bytes']} bytes, sha256 {file['sha256']}){why}"
        shown.append(f"  file     {file['name']} {about}")
        if text is None and not why:
            shown.append("  | (not shown: no text, or longer than 64 KiB; read it yourself)")
        elif not why:
            shown += fold([f"  | {line}" for line in text.split("\n")], verbose=verbose)
    if pack.rules:
        shown.append("  rules    for the agent, in the host's own file (CLAUDE.md, AGENTS.md, ...)")
        shown += [f"  | {line}" for line in pack.rules.split("\n")]
    shown.append(f"  sha256   {digest} (all of the above)")
    return [OwnText(line) for line in shown]


def _only(brought: Mapping[str, Any]) -> str:
    return f" on {', '.join(brought['hosts'])}" if brought["hosts"] else ""


def data(pack: Pack, digest: str) -> dict[str, Any]:
    """The same for machines."""
    return {
        "name": pack.name,
        "version": pack.version,
        "source": OwnText(pack.source),
        "commit": pack.commit,
        "digest": digest,
        "commands": [
            {
                "id": hook.id,
                "event": hook.event,
                "command": OwnText(hook.command),
                "matcher": hook.matcher,
                "timeout": hook.timeout,
                "on_failure": hook.on_failure,
                "may_allow": _may_allow(hook),
                "hosts": [host] if host else list(hook.hosts),
            }
            for host, hook in pack.all_hooks
        ],
        "env": [
            {
                "name": name,
                "value": OwnText(claim.value),
                "hosts": [host] if host else [],
                "risky": is_risky(name),
            }
            for host, name, claim in pack.all_env
        ],
        "files": [
            {
                "name": name,
                "bytes": len(content),
                "sha256": files.digest(content),
                "executable": is_executable,
                "text": _text(content),
            }
            for name, (content, is_executable) in pack.contents.items()
        ],
        "rules": OwnText(pack.rules),
    }


def fold(shown: list[str], *, verbose: bool) -> list[str]:
    """These lines; in place of many a sentence, without `verbose`."""
    sentence = f"  | (not shown: {len(shown)} lines; --verbose shows them)"
    return shown if verbose or len(shown) <= _MOST else [sentence]


def file_changes(old: bytes, new: bytes) -> list[str]:
    """The difference between two versions of a file, line by line where both are texts."""
    old_text, new_text = _text(old, len(old)), _text(new, len(new))
    if old_text is None or new_text is None:
        return []
    before, after = old_text.split("\n"), new_text.split("\n")
    if len(before) + len(after) > _MOST_COMPARED:
        return []
    diff = difflib.unified_diff(before, after, lineterm="", n=1)
    return [f"  | {line}" for line in list(diff)[2:]]


def describe_move(pack: Pack, known: PackRecord) -> str:
    """From what is installed to what the source has now: tags, commits or versions; '' if equal."""
    was, now, same = known.version, pack.version, ""
    if known.commit and pack.commit:
        tags = pack.release.tags if pack.release else {}
        now = tags.get(pack.commit, f"commit {pack.commit[:7]}")
        gone = " (no release now)" if tags else ""
        was = tags.get(known.commit, f"commit {known.commit[:7]}{gone}")
        same = f"{now} is still the newest" if pack.release else f"still {now}"
    return same if was == now else f"{was} → {now}"


def _limits(hook: PackHook) -> list[str]:
    """For which calls a command runs, how long, and what it may do, in words."""
    is_for_all, refuses = hook.matcher in ALL, hook.is_run and hook.event in REFUSING_EVENTS
    costs = ": refuses where it fails" * (hook.on_failure == "deny")
    rows = (
        (not is_for_all, f"matcher {hook.matcher}"),
        (is_for_all and hook.event in TOOL_EVENTS, "every tool"),
        (hook.timeout is not None, f"timeout {hook.timeout} s"),
        (refuses, f"on_failure {hook.on_failure}{costs}"),
        (_may_allow(hook), "its allow lifts your own permission"),
    )
    return [text for applies, text in rows if applies]


def _may_allow(hook: PackHook) -> bool:
    """Whether the host may hear an allow: the runner takes it out, where it is not declared."""
    if hook.is_run:
        return hook.may_allow
    return bool(re.search(_ASKS, EVENTS.get(hook.event, hook.event)))


def _text(data: bytes, longest: int = LONGEST_TEXT) -> OwnText | None:
    """The text of a file; None where it is none, or too long to be read at a terminal."""
    if len(data) > longest or b"\0" in data:
        return None
    try:
        return OwnText(data.decode("utf-8").removesuffix("\n"))
    except UnicodeDecodeError:
        return None


# Names are compared in capitals, since some programs read http_proxy as well as HTTP_PROXY. An end
# that says what a variable is for covers programs that nobody listed.
_RISKY = (
    # how programs are found, built and loaded
    "PATH PATHEXT CDPATH FPATH CPATH *LIBRARY_PATH *INCLUDE_PATH CLASSPATH LD LD_* DYLD_* GLIBC_* "
    "GCONV_* MALLOC_* *PYTHON* NODE_* BUN_* DENO_* ELECTRON_* NPM_* PNPM_* YARN_* COREPACK_* PIP_* "
    "UV_* CONDA_* POETRY_* RUBY* GEM_* BUNDLE_* PERL* LUA_* JAVA_* _JAVA_* JDK_* MAVEN_* GRADLE_* "
    "CARGO_* RUST* GO[B-Z]* GOAUTH DOTNET_* COR_* CORECLR_* PHP_* R_* OPENSSL_* NIX_* HOMEBREW_* "
    "VIRTUAL_ENV PYENV_* RBENV_* ASDF_* NVM_* MISE_* VOLTA_* CC CC_* CXX CXX_* CPP AR AS FC MAKE "
    "MAKEFILES GCC_* CCACHE_* SCCACHE_* DISTCC_* CMAKE_* *PRELOAD* *PLUGIN* *MODULE* "
    # what a shell does before it runs a command, and which shell it is
    "*SHELL *_SHELL_PREFIX *_ENV_FILE *_RSH *BASH BASH* *_BASH_PATH ENV ZDOTDIR IFS PS4 "
    # programs that other programs start, and what is put into their command lines
    "*_COMMAND *_CMD *_BIN *_BINARY* *EXEC_* *EXECUTABLE* *_LAUNCHER *_WRAPPER *OPT *OPTS *OPTIONS "
    "*FLAGS *_ARGS *_CLI_ARGS_* VIM* NVIM_* EXINIT EMACS* GIT_* SSH_* SUDO_* *EDITOR VISUAL *PAGER "
    "LESS* *BROWSER *_ASKPASS "
    # where settings and temporary files lie, and whose folders and hooks are trusted
    "*CONFIG *CONFIG_* *SETTINGS* *_SYSTEM_*_PATH *[!S]RC HOME *_HOME *_HOME_OVERRIDE USERPROFILE "
    "APPDATA XDG_* *_AGENT_DIR *_PROJECT_DIR *_WORKSPACE_ROOT *_PERSISTENCE_DIR TMPDIR TMP TEMP "
    "*_TRUST *_HOOKS* *SANDBOX* "
    # where a host connects to, which certificates it accepts, and which account it uses
    "*_BASE_URL *_API_BASE *_API_URL *_SERVER_URL *_INDEX_URL *REGISTRY* *_MIRROR *HOST *HOSTADDR "
    "*_ADDR *_SOCKET *_ENDPOINT *_ENDPOINT_URL *_PROXY *_HEADERS *_API_KEY *_AUTH_TOKEN "
    "*_OAUTH_TOKEN *_USE_BEDROCK *_USE_VERTEX *_USE_VERTEXAI *_USE_FOUNDRY DOCKER_* COMPOSE_* "
    "KUBE* GH_* GITHUB_* ANSIBLE_* TF_* AWS_* AZURE_* OTEL_* SSL* *_CA_BUNDLE *_CA_CERTS "
    "*_CERT_FILE *TLS_REJECT* HOSTALIASES LOCALDOMAIN "
    # hookctl and its hooks
    "HOOKCTL_* "
)

# Of these, the variables by which a program loads code of whoever set them.
_LOADING = (
    "LD_* DYLD_* PYTHON* NODE_OPTIONS NODE_PATH PERL5* PERLLIB RUBYOPT RUBYLIB BASH_ENV ENV "
    "ZDOTDIR LUA_* JAVA_TOOL_OPTIONS _JAVA_OPTIONS GCONV_PATH BASH_FUNC* SHELLOPTS *_SHELL_PREFIX "
)


def loads_code(name: str) -> bool:
    """Whether a variable makes programs load code that its value names."""
    return any(fnmatchcase(name.upper(), pattern) for pattern in _LOADING.split())


def risky_env(pack: Pack) -> list[str]:
    """The names of a pack's variables, on any host, that need --allow-env, sorted."""
    return sorted({name for _, name, _ in pack.all_env if is_risky(name)})


def is_risky(name: str) -> bool:
    """Whether a variable changes which programs run, where a host connects to, or hookctl."""
    return any(fnmatchcase(name.upper(), pattern) for pattern in _RISKY.split())
