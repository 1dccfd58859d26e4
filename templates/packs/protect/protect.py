"""Refuses a call that is about a protected file. Where this fails, the call is refused too."""

import json
import os
import re
import sys
from fnmatch import fnmatchcase

# As in .gitignore: the last one that fits counts, and what fits a folder fits all that is in it.
GLOBS = """
*.env .envrc .env .env.* !.env.example !.env.sample !.env.template .netrc .pypirc .git-credentials
*.pem *.key *.p12 *.pfx *.jks *.keystore id_rsa id_dsa id_ecdsa id_ed25519 .ssh .gnupg
.aws/credentials .kube/config .docker/config.json .config/gh/hosts.yml .hookctl/protect
"""


def read_globs(path):
    """The lines of a list; none where there is no such file."""
    with open(path if os.path.isfile(path) else os.devnull, errors="surrogateescape") as stream:
        return [line.strip() for line in stream if line.strip()]


def names_in(asked):
    """Every text of a call that may name files."""
    yield from asked.get("portable", {}).get("paths") or ()
    for key, value in asked["tool_input"].items():
        if re.search("path|director|glob|include|^files?$", key.lower()):
            values = value if isinstance(value, list) else [value]
            yield from (each for each in values if each and isinstance(each, str))


def spread(name):
    """The name, and those that its braces stand for, as *.{pem,key} has them."""
    found = re.search(r"\{([^{}]*)\}", name)
    for part in found[1].split(",") if found else ():
        yield from spread(name[: found.start()] + part + name[found.end() :])
    yield from {name, name.strip("@ \t\n"), name.replace("\\", "")}  # what some read it as


def find_glob(path, globs):
    """The glob that protects a path, or ''; a path with wildcards may mean what a glob does."""
    found, end = "", os.path.basename(path)
    for glob in globs:
        body = glob.lstrip("!").strip("/").lower()
        sample = "" if "/" in body or glob[0] == "!" else body.replace("*", "x")
        if (end.strip("*") and fnmatchcase(sample, end)) or fnmatchcase(path + "/", f"*/{body}/*"):
            found = "" if glob[0] == "!" else glob
    return found


asked = json.loads(sys.stdin.buffer.read().decode("utf-8", "surrogateescape"))
own = (os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")) + "/hookctl/protect"
globs = [*GLOBS.split(), *read_globs(own), own, os.path.dirname(os.path.abspath(__file__))]
added = read_globs(os.environ.get("CLAUDE_PROJECT_DIR", ".") + "/.hookctl/protect")
globs += [glob for glob in added if glob[0] != "!"]  # a stranger's project lifts nothing
names = [*names_in(asked)]
if asked.get("tool_name") == "Grep":
    names += " ".join(names).replace(",", " ").split()  # some take several globs in one text
elif not names:
    sys.exit("nobody can tell which file this call is about")
for name in (choice for text in names for choice in spread(text)):
    path = os.path.join(asked.get("cwd") or ".", os.path.expanduser(name))
    for each in os.path.abspath(path), os.path.realpath(path):
        if glob := find_glob(each.lower(), globs):
            sys.stderr.write(f"{name!r} is protected ({glob}): ask the person, try no other way\n")
            sys.exit(2)
