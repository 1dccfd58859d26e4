"""Nightly's keepalive: always go on, until a person says otherwise."""

from dataclasses import dataclass


@dataclass
class Nightly:
    """The markers of a run, and the breadcrumb that its hook leaves."""

    active: bool = False
    conclude: bool = False
    stopped: bool = False
    respawn_requested: bool = False

    def stop(self, fresh: bool) -> str:
        """One stop: Allow or Block."""
        if not self.active or self.conclude or self.stopped:
            return "A"
        self.respawn_requested = not fresh
        return "B"
