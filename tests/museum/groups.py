"""The museum's groups: public failures of other installers and hooks, and what hookctl does instead."""

from __future__ import annotations

from typing import NamedTuple


class Group(NamedTuple):
    """Public failures of one sort; the first issue gives its test the name."""

    number: str
    issues: tuple[str, ...]  # OWNER/REPO#NUMBER
    elsewhere: str
    here: str

    @property
    def test_prefix(self) -> str:
        """What the names of its tests begin with."""
        repository, _, number = self.issues[0].partition("/")[2].partition("#")
        words = "".join(char if char.isalnum() else "_" for char in repository.lower())
        return f"test_{self.number.lower()}_{words}_{number}_"


GROUPS = [
    Group("M01", ("anthropics/claude-code#85547", "anthropics/claude-code#59583"),
          "the host overrides a Stop hook after 8 blocks, and does not tell the hook",
          "the cap is written beside the limit, above it; a cap of yours is kept, and named where it is too low"),
    Group("M02", ("anthropics/claude-code#77686",),
          "an overridden hook looks like one that allowed the stop",
          "the guard stops blocking before the host's cap, says so once, and logs it with its reason"),
    Group("M03", ("daymade/claude-code-skills#245", "neomjs/neo#14444"),
          "the host's count starts again with every tool call, or there is none, so a busy loop never ends",
          "the guard counts by itself: new tool calls buy a few blocks, never an endless number"),
    Group("M04", ("anthropics/claude-plugins-official#5312", "anthropics/claude-plugins-official#1371",
                  "anthropics/claude-plugins-official#844", "anthropics/claude-plugins-official#1197",
                  "anthropics/claude-plugins-official#5536"),
          "hooks that ignore the host's flag or the session block for hours, or block every session",
          "a call without a session goes; a session's blocks are its own; each decision is logged with its reason"),
    Group("M05", ("openai/codex#34477",),
          "a Stop hook in a loop used 343 million tokens in nine hours",
          "five blocks without progress, one message, then the agent goes until there is progress or a new prompt"),
    Group("M06", ("anthropics/claude-code#55754",),
          "an agent that waited for work in the background was asked to go on until its quota was gone",
          "work in the background lets the agent go, and counts for nothing"),
    Group("M07", ("ruvnet/ruflo#166", "ruvnet/ruflo#2449"),
          "hooks that start agents or fetch programs multiplied without end",
          "the guard starts no process, and goes where a hook started the agent; doctor names hooks that do so"),
    Group("M08", ("anthropics/claude-code#85422",),
          "nothing bounds what one hook may cost",
          "every block, release and refusal is in the log, and a ceiling holds whatever settings and payloads say"),
    Group("M09", ("chaitanyagiri/munder-difflin#109", "chaitanyagiri/munder-difflin#288"),
          "a breaker tripped on idle agents, and failed in silence",
          "stops that no hook blocked trip nothing; "
          "where no state can be written the agent may stop, and a person is told"),
    Group("M10", ("Graphify-Labs/graphify#2167", "eneskirca/nodeterm#851", "stablyai/orca#11564",
                  "ulises-jeremias/agent-toolkit#56",
                  "aws-solutions-library-samples/guidance-for-claude-code-with-amazon-bedrock#16"),
          "an install replaced the whole settings file, without a backup",
          "every other byte stays at every step, uninstall gives the very bytes back, and so does `restore`"),
    Group("M11", ("DeusData/codebase-memory-mcp#1200", "DeusData/codebase-memory-mcp#1387"),
          "an install replaced all hooks of an event, and its dry run said nothing",
          "our group goes behind the others; a plan shows exactly what install does, and writes nothing"),
    Group("M12", ("pixel-agents-hq/pixel-agents#378", "pixel-agents-hq/pixel-agents#377",
                  "gsd-build/get-shit-done#1464"),
          "a file that could not be parsed was taken for an empty one and overwritten",
          "it is refused with its line and column, and nothing is written anywhere"),
    Group("M13", ("dyoshikawa/rulesync#2940", "dyoshikawa/rulesync#2942"),
          "the hooks of other tools went with every run",
          "they stay, in their order, through install, upgrade and uninstall, without any option"),
    Group("M14", ("ingo-eichhorst/Irrlicht#1371", "google-gemini/gemini-cli#18934", "google-gemini/gemini-cli#8077"),
          "comments, the order of keys and characters such as `&&` were lost by reading and writing",
          "they stay; a file that the host laid out anew is edited as it is"),
    Group("M15", ("vshulcz/deja-vu#3424", "Cantara/kcp-commands#2", "bobmatnyc/claude-mpm#722"),
          "each install from another folder added one more copy of the hook",
          "one entry an event, wherever install is run from; a copy made by hand is an error that doctor repairs"),
    Group("M16", ("JuliusBrussee/caveman#392", "anthropics/claude-code#76297", "microsoft/vscode#303926"),
          "a hook that is registered in two places fires twice",
          "doctor names both places, and the guard counts a stop once, however many registrations fire"),
    Group("M17", ("mrgoonie/claudekit-cli#898", "rysweet/amplihack#3060", "kaitranntt/ccs#317"),
          "hooks stayed after the uninstall and pointed at files that were gone",
          "registrations go before their files; one whose file or Python is gone does nothing and ends with 0"),
    Group("M18", ("thedotmack/claude-mem#2579", "repowise-dev/repowise#2470"),
          "an uninstall left variables behind and reported success",
          "every key, folder and file of ours goes; what was yours before stays, and what is kept is listed"),
    Group("M19", ("JuliusBrussee/caveman#593", "mksglu/context-mode#415", "akaszubski/autonomous-dev#1548",
                  "patoles/agent-flow#73"),
          "an uninstall removed everything that looked like its own",
          "ours is what begins with our mark and what the record names; a hook that merely mentions us stays"),
    Group("M20", ("akitaonrails/ai-memory#263", "petergaultney/lemonaid#49",
                  "weby-homelab/antigravity-cli-statusline#48"),
          "a rename replaced the link to a settings file that lived in a dotfiles folder",
          "every link on the way stays, and the file behind it keeps its mode"),
    Group("M21", ("anthropics/claude-code#76749", "anthropics/claude-code#82167", "anthropics/claude-code#28922"),
          "the host wrote an old copy from its memory over the settings",
          "doctor says that all entries vanished at once, and install puts them back; one that you removed stays away"),
    Group("M22", ("cglab-public/agenfk#192", "JetBrains/context#29", "anthropics/claude-plugins-official#358",
                  "anthropics/claude-plugins-official#85", "claudioemmanuel/squeez#209", "mksglu/context-mode#841",
                  "mksglu/context-mode#604", "plur-ai/plur#178"),
          "a blank, a backslash or an upgraded Python broke the hook's command",
          "paths are quoted, the system's own Python runs the hook, and a Python that does not run is found"),
    Group("M23", ("eneskirca/nodeterm#51", "activeloopai/hivemind#222", "phnx-labs/agi-cli#472", "openai/codex#21615"),
          "a hook put in front shifted the approvals of all others on Codex",
          "ours goes behind all others and in its place again; what must be approved is said"),
    Group("M24", ("microsoft/apm#1823", "affaan-m/ECC#1519", "microsoft/apm#2717"),
          "without `version` no hook of the file is loaded; scripts went before their entries",
          "`version` is written with the first hook of a new file and goes with the last; files come before entries"),
    Group("M25", ("gastownhall/gascity#4298", "anthropics/claude-code#78567", "anthropics/claude-code#19893",
                  "stablyai/orca#6886", "anthropics/claude-code#83952", "lidge-jun/codexclaw#208"),
          "what a user had changed was put back within minutes",
          "a changed value is yours on install and uninstall, and is named; only `--force` takes it over"),
]  # fmt: skip
