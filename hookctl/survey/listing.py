"""Makes the list of hooks from the files that have them: IDs, owners, states, repeats."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from hookctl.hosts import hook_id
from hookctl.survey import roots, states
from hookctl.survey.model import (
    DISABLED,
    FOLDER_UNTRUSTED,
    IGNORED,
    OFF,
    RUNS,
    TWICE,
    UNKNOWN_EVENT,
    Handler,
    Hook,
    HookFile,
    Obstacle,
)

_Place = tuple[HookFile, Handler]
_NOT_LOADED = (IGNORED, UNKNOWN_EVENT, OFF, FOLDER_UNTRUSTED, DISABLED)


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


def _find_namesakes(handlers: list[_Place]) -> dict[int, list[Obstacle]]:
    """By its number, what a hook is lost for whose name another one has, where only one may."""
    firsts: dict[tuple[str, str], _First] = {}
    lost: dict[int, list[Obstacle]] = {}
    numbered = groupby(enumerate(handlers), key=lambda item: item[1][0].path)
    in_order = [
        item for _, items in numbered for item in sorted(items, key=lambda item: item[1][1].line)
    ]
    for number, (file, handler) in in_order:
        name = handler.fields.get("name")
        if not file.host.scope_rules.same_name_once or not isinstance(name, str):
            continue
        obstacles = [*states.find_obstacles(file, handler), *file.shared]
        if any(obstacle.state in _NOT_LOADED for obstacle in obstacles):
            continue
        first = firsts.setdefault((file.host.name, name), _First(file, handler))
        if first.handler is not handler:
            lost[number] = [_judge_namesake(file, handler, first)]
    return lost


def _judge_namesake(file: HookFile, handler: Handler, first: _First) -> Obstacle:
    """State and reason of a hook that has the name of one before it."""
    title = file.host.title
    if handler.own_id and handler.own_id == first.handler.own_id:
        return Obstacle(TWICE, f"the same hook is on {first.place}, and {title} runs it once")
    reason = f"the hook on {first.place} has the same name, and {title} runs only that one"
    return Obstacle(IGNORED, reason, "give it another name")


def _digest(file: HookFile, handler: Handler) -> str:
    command = command_of(file, handler)
    return hook_id.digest(file.host.name, file.scope, handler.event, handler.matcher, command)


def _judge(handlers: list[_Place]) -> Iterator[Hook]:
    """The hooks with their states; of equal ones in settings only the first runs."""
    firsts: dict[tuple[str, ...], _First] = {}
    namesakes = _find_namesakes(handlers)
    for number, (file, handler) in enumerate(handlers):
        command = command_of(file, handler)
        own = [*namesakes.get(number, ()), *states.find_obstacles(file, handler)]
        shared = () if handler.disabled else file.shared
        whole = _sum_up([*own, *shared]) or Obstacle(RUNS, file.note)
        run = roots.expand(command, file.variables)  # two plugins may have files of one name
        name = str(handler.fields.get("name", ""))  # some hosts tell hooks apart by it
        key = (file.host.name, handler.event, handler.matcher, run, name)
        first = firsts.get(key)
        if whole.state == RUNS and first is None:
            firsts[key] = _First(file, handler)
        elif whole.state == RUNS and first is not None:
            whole = _judge_repeat(file, first)
        alone = (_sum_up(own) or Obstacle(RUNS, "")) if shared else whole
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
            state=whole.state,
            reason=whole.reason,
            fix=whole.fix,
            own_reason=alone.reason,
            own_fix=alone.fix,
            shared=shared,
            path=handler.path,
            fields=handler.fields,
            own_id=handler.own_id,
            plugin=file.plugin,
            readers=file.readers,
            variables=file.variables,
        )


def _sum_up(obstacles: Sequence[Obstacle]) -> Obstacle | None:
    """The first obstacle, whose reason and fix name all; None for none."""
    if not obstacles:
        return None
    fixes = dict.fromkeys(obstacle.fix for obstacle in obstacles if obstacle.fix)
    reason = "; also: ".join(obstacle.reason for obstacle in obstacles)
    return Obstacle(obstacles[0].state, reason, "; ".join(fixes))


def _judge_repeat(file: HookFile, first: _First) -> Obstacle:
    """State and reason of a hook that is equal to one before it; the copy of a plugin runs."""
    title = file.host.title
    if file.plugin or first.file.plugin:
        return Obstacle(RUNS, f"the same hook is on {first.place}, and both run")
    if file.host.scope_rules.same_command_once:
        return Obstacle(TWICE, f"the same hook is on {first.place}, and {title} runs it once")
    reason = f"the same hook is on {first.place}, so {title} may run it twice"
    return Obstacle(TWICE, reason, "remove one of the two")


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
