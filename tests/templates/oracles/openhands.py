"""OpenHands' max_consecutive_stop_denials: a run that is denied its end too often without an action is an error."""

from dataclasses import dataclass


@dataclass
class OpenHands:
    """The locals of one run of the conversation."""

    limit: int
    denials: int = 0

    def denied(self, acted: bool) -> str:
        """A Stop hook denied the end of the run: go on (Allow) or End as an error. `acted`: since the last denial."""
        if self.denials and acted:
            self.denials = 0
        self.denials += 1
        return "H" if self.denials >= self.limit else "A"
