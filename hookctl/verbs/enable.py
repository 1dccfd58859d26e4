"""hookctl enable: put hooks back that `hookctl disable` switched off."""

from collections.abc import Sequence
from functools import partial

from hookctl.errors import FAILED, HookctlError
from hookctl.model import Line, Message, Result
from hookctl.output.lines import say, tilde, tildes
from hookctl.output.plans import plan_result
from hookctl.ownership import store
from hookctl.ownership.disable import describe, plan_enable
from hookctl.ownership.run import apply_plan, locked_run
from hookctl.ownership.store import DisabledHook
from hookctl.survey.listing import find, find_disabled, take_inventory
from hookctl.survey.machine import read_disabled
from hookctl.survey.model import RUNS
from hookctl.system.folders import Folders
from hookctl.verbs.choosing import load_hosts

HELP = """
Examples:
  hookctl enable 3f84 b7d1
"""


def enable(
    folders: Folders, ids: Sequence[str], host: Sequence[str] = (), dry_run: bool = False
) -> Result:
    """Put back what these IDs mean, each where it was."""
    names = [one.name for one in load_hosts(host)]
    with locked_run(folders, say, dry_run=dry_run):
        # Refuses a record that cannot be read.
        disabled = [hook for file in store.load(folders).disabled.values() for hook in file.hooks]
        wanted: list[DisabledHook] = []
        messages: list[Message] = []
        for text in ids:
            try:
                found = find_disabled(disabled, text, names)
            except HookctlError:
                found = []
                messages.append(_explain_not_disabled(folders, text))
            wanted += [one for one in found if one not in wanted]
        result = _put_back(folders, wanted, dry_run=dry_run)
    return result._replace(messages=(*messages, *result.messages))


def _explain_not_disabled(folders: Folders, text: str) -> Message:
    """What to say of a hook that runs; refuses what does not, and what means no hook."""
    hooks = []
    try:
        hooks = find(take_inventory(folders).hooks, text)
    except HookctlError:
        records = store.read_known(folders)[0].values()
        if not any(text in record.packs for record in records):
            raise
    if hooks and all(hook.state != RUNS for hook in hooks):
        reason, fix = tildes(hooks[0].reason), tildes(hooks[0].fix)
        message = f"{text} is not disabled by hookctl, and does not run: {reason}"
        raise HookctlError("not_disabled", message, path=hooks[0].file, hint=fix, exit_code=FAILED)
    return Message(f"{text} is not disabled", "not_disabled", "info")


def _put_back(folders: Folders, wanted: Sequence[DisabledHook], *, dry_run: bool) -> Result:
    make_plan = partial(plan_enable, wanted=wanted)
    files = [file for file in store.load(folders).disabled.values() if file.scope == "project"]
    projects = [file.project for file in files if any(hook in wanted for hook in file.hooks)]
    plan = apply_plan(folders, make_plan, say, projects=projects, dry_run=dry_run)
    return plan_result(plan, [Line("Enabled again.")], dry_run=dry_run)


def others_question(folders: Folders) -> str:
    """The question whether disabled hooks of other tools are to come back; empty without any."""
    lines = ["Hooks that you disabled:"]
    for hook in _list_others(folders):
        what = describe(hook) or f"{hook.event} hook"
        lines.append(f"  {hook.shown}  {what}, of {tilde(hook.file)}")
    return "\n".join([*lines, "Put them back?"]) if lines[1:] else ""


def _list_others(folders: Folders) -> list[DisabledHook]:
    records = store.read_known(folders)[0].values()
    # What a pack replaces comes back with its uninstall, unless a file could not be read then.
    installed = {name for record in records for name in record.packs}
    return [hook for hook in read_disabled(folders) if not hook.name and hook.by not in installed]


def put_back_others(folders: Folders, *, dry_run: bool) -> Result:
    """Put back every disabled hook of other tools, file by file; what is refused stays kept."""
    result, others = Result({"actions": [], "kept": [], "files": []}), _list_others(folders)
    for file in dict.fromkeys(hook.file for hook in others):
        try:
            wanted = [hook for hook in others if hook.file == file]
            done = _put_back(folders, wanted, dry_run=dry_run)
        except HookctlError as error:
            done = Result({}, errors=(error.as_dict(),), exit_code=FAILED)
        result = join(result, done)
    return result


def join(first: Result, second: Result) -> Result:
    """The result of two parts of one command, without the word of a part that had nothing to do."""
    data = {**first.data, **second.data}
    for name in ("actions", "kept", "files"):
        data[name] = first.data[name] + second.data.get(name, [])
    data["changed"] = any(part.data.get("changed") for part in (first, second))
    text = first.text + second.text
    if data["changed"]:
        text = tuple(line for line in text if line != "nothing to do")
    messages, error_list = first.messages + second.messages, first.errors + second.errors
    return Result(data, text, messages, error_list, first.exit_code or second.exit_code)
