"""Variables that a pack may not set unasked: they decide which programs run, or where data goes."""

from __future__ import annotations

from fnmatch import fnmatchcase

from hookctl.packs.model import Pack

# Names are compared in capitals, since some programs read http_proxy as well as HTTP_PROXY.
_RISKY = (
    # how programs are found and loaded
    "PATH", "PATHEXT", "CDPATH", "FPATH", "CPATH", "*LIBRARY_PATH", "CLASSPATH", "LD_*", "DYLD_*",
    "GLIBC_*", "GCONV_*", "MALLOC_*", "PYTHON*", "NODE_*", "BUN_*", "DENO_*", "ELECTRON_*",
    "NPM_*", "PIP_*", "UV_*", "CONDA_*", "RUBY*", "GEM_*", "BUNDLE_*", "PERL*", "LUA_*", "JAVA_*",
    "_JAVA_*", "JDK_*", "MAVEN_*", "GRADLE_*", "CARGO_*", "RUST*", "GOFLAGS", "GOPATH", "GOROOT",
    "GOPROXY", "DOTNET_*", "COR_*", "CORECLR_*", "PHPRC", "PHP_*", "R_*", "OPENSSL_*",
    "VIRTUAL_ENV", "PYENV_*", "RBENV_*", "ASDF_*", "MAKEFLAGS", "MAKEFILES",
    # what a shell does before it runs a command, and which shell it is
    "*SHELL", "*_SHELL_PREFIX", "*_ENV_FILE", "SHELLOPTS", "BASH*", "ENV", "ZDOTDIR", "IFS", "PS4",
    "PROMPT_COMMAND",
    # programs that other programs start
    "VIMINIT", "EXINIT", "WGETRC", "*_PROJECT_DIR",
    "GIT_*", "SSH_*", "SUDO_*", "*EDITOR", "VISUAL", "*PAGER", "LESS*", "BROWSER", "*_ASKPASS",
    # where settings and temporary files lie
    "HOME", "*_HOME", "USERPROFILE", "APPDATA", "XDG_*", "*_CONFIG_DIR", "TMPDIR", "TMP", "TEMP",
    # where a host connects to, which certificates it accepts, and which account it uses
    "*_BASE_URL", "*_API_BASE", "*_API_URL", "*_API_HOST", "*_ENDPOINT", "*_ENDPOINT_URL",
    "*_PROXY", "*_HEADERS", "*_API_KEY", "*_AUTH_TOKEN", "*_OAUTH_TOKEN", "*_USE_BEDROCK",
    "*_USE_VERTEX", "*_USE_VERTEXAI", "*_USE_FOUNDRY", "OLLAMA_HOST", "DOCKER_HOST", "KUBECONFIG",
    "AWS_*", "AZURE_*", "GOOGLE_*", "OTEL_*", "SSL*", "*_CA_BUNDLE", "*_CA_CERTS", "*_CERT_FILE",
    "*TLS_REJECT*", "HOSTALIASES", "LOCALDOMAIN", "RES_OPTIONS",
    # hookctl and its hooks
    "HOOKCTL_*",
)  # fmt: skip


def risky_env(pack: Pack) -> list[str]:
    """The names of a pack's variables, on any host, that need --allow-env, sorted."""
    return sorted({name for _, name, _ in pack.all_env if is_risky(name)})


def is_risky(name: str) -> bool:
    """Whether a variable changes which programs run, where a host connects to, or hookctl."""
    upper = name.upper()
    return any(fnmatchcase(upper, pattern) for pattern in _RISKY)
