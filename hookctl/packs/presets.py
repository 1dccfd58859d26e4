"""Published systems as options: each preset makes the guard decide as its original does.

Every preset keeps the host's cap, the ceiling and failing open.
"""

from __future__ import annotations

from typing import Any

PRESETS: dict[str, dict[str, Any]] = {
    # bmad-automator: five blocks without a new heartbeat or a smaller count.
    # Every fresh stop starts again.
    "bmad": {
        "mode": "breaker",
        "claim": False,
        "work_hours": 0,
        "guidance": True,
        "chain_reset": "fresh",
        "latch": False,
        "progress": ["heartbeat", "remaining"],
        "max_stop_blocks": 5,
        "limit_env": "STORY_AUTOMATOR_MAX_STOP_BLOCKS",
        "child_env": ["STORY_AUTOMATOR_CHILD"],
        "task_env": "STORY_AUTOMATOR_ACTIVE_MARKER",
        "task_file": ".claude/.story-automator-active:.agents/.story-automator-active:"
        ".codex/.story-automator-active",
        "task_fields": [
            "remaining=storiesRemaining",
            "heartbeat=heartbeat",
            "owner=ownerSession",
        ],
        "yield_on_background": False,
        "end_foreign_chains": False,
    },
    # Nightly: blocks every stop of an armed run until STOP, CONCLUDE or its end.
    "nightly": {
        "mode": "keepalive",
        "claim": False,
        "work_hours": 0,
        "guidance": True,
        "chain_reset": "fresh",
        "latch": False,
        "keepalive_cap": 5000,
        "yield_on_background": False,
        "end_foreign_chains": False,
    },
    # OpenHands: the fifth stop in a row that another hook denies ends the turn.
    # A tool call in between starts the count again.
    "openhands": {
        "mode": "guard",
        "count": "attempts",
        "max_stop_blocks": 5,
        "action_novelty": False,
        "claim": False,
        "work_hours": 0,
    },
    # RockBot: 30 identical tool calls in five minutes; which tools, --dispatch says.
    # It has nothing to do with stops, and a refusal ends no turn.
    "rockbot": {
        "mode": "off",
        "dispatch_max": 30,
        "dispatch_window_s": 300,
        "dispatch_scope": "project",
        "dispatch_end": 0,
        "claim": False,
        "work_hours": 0,
    },
    # Hermes: one reminder to close the task, in a worker that has one.
    "hermes": {
        "required_tools": ["kanban_complete", "kanban_block"],
        "required_scope_env": "HERMES_KANBAN_TASK",
        "max_nudges": 1,
        "show_env": ["HERMES_KANBAN_TASK"],
        "claim": False,
        "work_hours": 0,
        "end_foreign_chains": False,
    },
}
