"""RockBot's dispatch circuit breaker: a fixed window a definition, which begins with its first call."""

from dataclasses import dataclass, field


@dataclass
class RockBot:
    """The map of the process: hash to (start of the window, count)."""

    limit: int = 30
    window: float = 300
    trips: int = 0
    windows: dict[str, tuple[float, int]] = field(default_factory=dict)

    def admit(self, key: str, now: float) -> str:
        """One dispatch: Allow or D for refused."""
        if self.limit <= 0 or self.window <= 0 or not key:
            return "A"
        start, count = self.windows.get(key, (now, 0))
        if now - start >= self.window:
            start, count = now, 0
        self.windows[key] = (start, count + 1)
        if count + 1 <= self.limit:
            return "A"
        self.trips += 1
        return "D"
