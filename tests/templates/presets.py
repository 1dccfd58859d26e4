"""The presets as the documents have them: what pins each published system's decisions."""

from typing import Any

PRESETS: dict[str, dict[str, Any]] = {
    "bmad": {
        "mode": "breaker",
        "claim": False,
        "work_hours": 0,
        "guidance": True,
        "chain_reset": "fresh",
        "latch": False,
        "progress": ["heartbeat", "remaining"],
        "max_stop_blocks": 5,
        "yield_on_background": False,
        "child_env": ["STORY_AUTOMATOR_CHILD"],
        "limit_env": "STORY_AUTOMATOR_MAX_STOP_BLOCKS",
        "task_env": "STORY_AUTOMATOR_ACTIVE_MARKER",
        "task_file": ".claude/.story-automator-active:.agents/.story-automator-active:.codex/.story-automator-active",
        "task_fields": ["remaining=storiesRemaining", "heartbeat=heartbeat", "owner=ownerSession"],
        "end_foreign_chains": False,
    },
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
    "openhands": {
        "mode": "guard",
        "count": "attempts",
        "max_stop_blocks": 5,
        "action_novelty": False,
        "claim": False,
        "work_hours": 0,
    },
    "rockbot": {
        "dispatch_max": 30,
        "dispatch_window_s": 300,
        "dispatch_scope": "project",
        "dispatch_end": 0,
        "claim": False,
        "work_hours": 0,
    },
    "hermes": {
        "required_tools": ["kanban_complete", "kanban_block"],
        "required_scope_env": "HERMES_KANBAN_TASK",
        "show_env": ["HERMES_KANBAN_TASK"],
        "max_nudges": 1,
        "claim": False,
        "work_hours": 0,
        "end_foreign_chains": False,
    },
}
