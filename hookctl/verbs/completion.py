"""hookctl completion: the completion script for a shell."""

from typer.completion import get_completion_script

from hookctl.errors import require_known
from hookctl.model import Result
from hookctl.system.folders import Folders
from hookctl.verbs.options import COMPLETE

SHELLS = ("bash", "zsh", "fish")

# At the first TAB zsh runs a file of $fpath as the function itself. Typer's script only defines
# the function then, so this line also calls it.
_AUTOLOADED = "if [[ $funcstack[1] == _hookctl ]]; then _hookctl_completion; fi"

HELP = """
shell SHELL  One of: bash, zsh, fish.

Examples:
  mkdir -p ~/.local/share/bash-completion/completions ~/.zfunc
  hookctl completion bash > ~/.local/share/bash-completion/completions/hookctl
  hookctl completion zsh > ~/.zfunc/_hookctl
"""


def completion(folders: Folders, shell: str) -> Result:
    """The completion script for one shell."""
    require_known("shell", shell, SHELLS)
    script = get_completion_script(prog_name="hookctl", complete_var=COMPLETE, shell=shell)
    if shell == "zsh":
        script += f"\n\n{_AUTOLOADED}"
    data, text = {"shell": shell, "script": f"{script}\n"}, tuple(script.split("\n"))
    return Result(data, text, verbatim=True)
