"""Variables that a pack may not set unasked: they decide which programs run, or where data goes."""

from __future__ import annotations

from fnmatch import fnmatchcase

from hookctl.packs.model import Pack

# Names are compared in capitals, since some programs read http_proxy as well as HTTP_PROXY. An end
# that says what a variable is for covers programs that nobody listed.
_RISKY = (
    # how programs are found, built and loaded
    "PATH", "PATHEXT", "CDPATH", "FPATH", "CPATH", "*LIBRARY_PATH", "*INCLUDE_PATH", "CLASSPATH",
    "LD", "LD_*", "DYLD_*", "GLIBC_*", "GCONV_*", "MALLOC_*", "*PYTHON*", "NODE_*", "BUN_*",
    "DENO_*", "ELECTRON_*", "NPM_*", "PNPM_*", "YARN_*", "COREPACK_*", "PIP_*", "UV_*", "CONDA_*",
    "POETRY_*", "RUBY*", "GEM_*", "BUNDLE_*", "PERL*", "LUA_*", "JAVA_*", "_JAVA_*", "JDK_*",
    "MAVEN_*", "GRADLE_*", "CARGO_*", "RUST*", "GO[B-Z]*", "GOAUTH", "DOTNET_*", "COR_*",
    "CORECLR_*", "PHP_*", "R_*", "OPENSSL_*", "NIX_*", "HOMEBREW_*", "VIRTUAL_ENV", "PYENV_*",
    "RBENV_*", "ASDF_*", "NVM_*", "MISE_*", "VOLTA_*", "CC", "CC_*", "CXX", "CXX_*", "CPP", "AR",
    "AS", "FC", "MAKE", "MAKEFILES", "GCC_*", "CCACHE_*", "SCCACHE_*", "DISTCC_*", "CMAKE_*",
    "*PRELOAD*", "*PLUGIN*", "*MODULE*",
    # what a shell does before it runs a command, and which shell it is
    "*SHELL", "*_SHELL_PREFIX", "*_ENV_FILE", "*_RSH", "*BASH", "BASH*", "*_BASH_PATH", "ENV",
    "ZDOTDIR", "IFS", "PS4",
    # programs that other programs start, and what is put into their command lines
    "*_COMMAND", "*_CMD", "*_BIN", "*_BINARY*", "*EXEC_*", "*EXECUTABLE*", "*_LAUNCHER",
    "*_WRAPPER", "*OPT", "*OPTS", "*OPTIONS", "*FLAGS", "*_ARGS", "*_CLI_ARGS_*", "VIM*", "NVIM_*",
    "EXINIT", "EMACS*", "GIT_*", "SSH_*", "SUDO_*", "*EDITOR", "VISUAL", "*PAGER", "LESS*",
    "*BROWSER", "*_ASKPASS",
    # where settings and temporary files lie, and whose folders and hooks are trusted
    "*CONFIG", "*CONFIG_*", "*SETTINGS*", "*_SYSTEM_*_PATH", "*[!S]RC", "HOME", "*_HOME",
    "*_HOME_OVERRIDE", "USERPROFILE", "APPDATA", "XDG_*", "*_AGENT_DIR", "*_PROJECT_DIR",
    "*_WORKSPACE_ROOT", "*_PERSISTENCE_DIR", "TMPDIR", "TMP", "TEMP", "*_TRUST", "*_HOOKS*",
    "*SANDBOX*",
    # where a host connects to, which certificates it accepts, and which account it uses
    "*_BASE_URL", "*_API_BASE", "*_API_URL", "*_SERVER_URL", "*_INDEX_URL", "*REGISTRY*",
    "*_MIRROR", "*HOST", "*HOSTADDR", "*_ADDR", "*_SOCKET", "*_ENDPOINT", "*_ENDPOINT_URL",
    "*_PROXY", "*_HEADERS", "*_API_KEY", "*_AUTH_TOKEN", "*_OAUTH_TOKEN", "*_USE_BEDROCK",
    "*_USE_VERTEX", "*_USE_VERTEXAI", "*_USE_FOUNDRY", "DOCKER_*", "COMPOSE_*", "KUBE*", "GH_*",
    "GITHUB_*", "ANSIBLE_*", "TF_*", "AWS_*", "AZURE_*", "OTEL_*", "SSL*", "*_CA_BUNDLE",
    "*_CA_CERTS", "*_CERT_FILE", "*TLS_REJECT*", "HOSTALIASES", "LOCALDOMAIN",
    # hookctl and its hooks
    "HOOKCTL_*",
)  # fmt: skip

# Of these, the variables by which a program loads code of whoever set them.
_LOADING = (
    "LD_*", "DYLD_*", "PYTHON*", "NODE_OPTIONS", "NODE_PATH", "PERL5*", "PERLLIB", "RUBYOPT",
    "RUBYLIB", "BASH_ENV", "ENV", "ZDOTDIR", "LUA_*", "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS", "GCONV_PATH", "BASH_FUNC*",
)  # fmt: skip


def loads_code(name: str) -> bool:
    """Whether a variable makes programs load code that its value names."""
    return any(fnmatchcase(name.upper(), pattern) for pattern in _LOADING)


def risky_env(pack: Pack) -> list[str]:
    """The names of a pack's variables, on any host, that need --allow-env, sorted."""
    return sorted({name for _, name, _ in pack.all_env if is_risky(name)})


def is_risky(name: str) -> bool:
    """Whether a variable changes which programs run, where a host connects to, or hookctl."""
    upper = name.upper()
    return any(fnmatchcase(upper, pattern) for pattern in _RISKY)
