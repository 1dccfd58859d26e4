"""Hermes' checkpoint reminder: one reminder a turn where no terminal tool was called."""

from dataclasses import dataclass, field

TERMINAL = ("kanban_complete", "kanban_block")


@dataclass
class Hermes:
    """A worker's conversation: its scope, the tools that it called, and the flag of the turn."""

    scope: str
    called: list[str] = field(default_factory=list)
    reminded: bool = False

    def turn(self) -> None:
        """Another run of the conversation begins."""
        self.reminded = False

    def call(self, tool: str) -> None:
        """The assistant called a tool."""
        self.called.append(tool)

    def exit(self) -> str:
        """The assistant says a text and calls no tool: Block with a reminder, or Allow."""
        if not self.scope.strip() or self.reminded or set(self.called) & set(TERMINAL):
            return "A"
        self.reminded = True
        return "B"
