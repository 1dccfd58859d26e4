"""bmad-automator's Stop-hook circuit breaker: a marker with a count of blocks."""

from dataclasses import dataclass


@dataclass
class Bmad:
    """The marker's own fields, and MAX_STOP_BLOCKS."""

    limit: int
    blocks: int = 0
    seen_heartbeat: object = None
    seen_remaining: int | None = None

    def stop(self, fresh: bool, remaining: int | None, heartbeat: object) -> str:
        """One stop: Allow, Block or Release."""
        if not remaining:
            return "A"
        fell = self.seen_remaining is not None and remaining < self.seen_remaining
        progressed = heartbeat != self.seen_heartbeat or fell
        self.seen_heartbeat, self.seen_remaining = heartbeat, remaining
        self.blocks = 0 if progressed or fresh else self.blocks + 1
        if self.blocks >= self.limit:
            self.blocks = 0
            return "R"
        return "B"
