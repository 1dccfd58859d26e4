"""Makes the list of hooks from the files that have them: IDs, owners, states, repeats."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hookctl.hooks import roots, states
from hookctl.hooks.model import RUNS, TWICE, Handler, Hook, HookFile
from hookctl.hosts import hook_id
from hookctl.values import NamedTuple

_Place = tuple[HookFile, Handler]


class _First(NamedTuple):
    """The first of equal hooks that run."""

    file: HookFile
    handler: Handler

    @property
    def place(self) -> str:
        """The place of the hook in words."""
        return f"line {self.handler.line} of {self.file.path}"


def list_hooks(files: Iterable[HookFile]) -> list[Hook]:
    """Every hook of these files, which stand in the order in which their hosts read them."""
    handlers = [(file, handler) for file in files for handler in file.handlers]
    names = [_digest(file, handler) for file, handler in handlers]
    hooks = list(_judge(handlers))
    return [hook._replace(id=id) for hook, id in zip(hooks, hook_id.number(names), strict=True)]


def _digest(file: HookFile, handler: Handler) -> str:
    command = command_of(file, handler)
    return hook_id.digest(file.host.name, file.scope, handler.event, handler.matcher, command)


def _judge(handlers: list[_Place]) -> Iterator[Hook]:
    """The hooks with their states; of equal ones in settings only the first runs."""
    firsts: dict[tuple[str, ...], _First] = {}
    for file, handler in handlers:
        command = command_of(file, handler)
        obstacle = states.find_obstacle(file, handler)
        state, reason = obstacle or (RUNS, file.note)
        run = roots.expand(command, file.variables)  # two plugins may have files of one name
        name = str(handler.fields.get("name", ""))  # some hosts tell hooks apart by it
        key = (file.host.name, handler.event, handler.matcher, run, name)
        first = firsts.get(key)
        if state == RUNS and first is None:
            firsts[key] = _First(file, handler)
        elif state == RUNS and first is not None:
            state, reason = _judge_repeat(file, first)
        yield Hook(
            id="",
            host=file.host.name,
            scope=file.scope,
            event=handler.event,
            matcher=handler.matcher,
            command=command,
            file=file.path,
            line=handler.line,
            owner=handler.own_id.partition("/")[0] or file.plugin,
            state=state,
            reason="; ".join(filter(None, (reason, handler.note))),
            path=handler.path,
            fields=handler.fields,
            own_id=handler.own_id,
            plugin=file.plugin,
            readers=file.readers,
            variables=file.variables,
        )


def _judge_repeat(file: HookFile, first: _First) -> tuple[str, str]:
    """State and reason of a hook that is equal to one before it; the copy of a plugin runs."""
    title = file.host.title
    if file.plugin or first.file.plugin:
        return RUNS, f"the same hook is on {first.place}, and both run"
    if file.host.scope_rules.same_command_once:
        return TWICE, f"the same hook is on {first.place}, and {title} runs it once"
    return TWICE, f"the same hook is on {first.place}, so {title} may run it twice"


def command_of(file: HookFile, handler: Handler) -> str:
    """What a hook runs, in one text: its command with its arguments, or what its type names."""
    fields = handler.fields
    for key in file.host.registration.commands:
        if isinstance(fields.get(key), str):
            return " ".join([fields[key], *_texts(fields.get("args"))])
    for key in ("url", "prompt"):
        if isinstance(fields.get(key), str):
            return str(fields[key])
    return " ".join(_texts([fields.get("server"), fields.get("tool")]))


def _texts(values: object) -> list[str]:
    """Those of some values that are texts."""
    if not isinstance(values, list):
        return []
    return [value for value in values if isinstance(value, str)]
