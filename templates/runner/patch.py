"""Codex's patch as the writes and edits of Claude Code that it stands for, one for each file."""

ADD, UPDATE, DELETE, MOVE = (
    "*** " + word + ": " for word in ("Add File", "Update File", "Delete File", "Move to")
)


BEGIN, END = "*** Begin Patch", "*** End Patch"


def patch_in_command(command):
    """The patch in a command of the shell, and the folder that it changes to before; else empty."""
    head, begun, rest = command.partition(BEGIN)
    words = head.split()
    if not begun or not any(word in ("apply_patch", "applypatch") for word in words):
        return "", ""
    folder = ""
    if words[0] == "cd" and "&&" in head:
        folder = head.partition("&&")[0].partition("cd")[2].strip().strip("'\"")
    return folder, rest.partition(END)[0]


def read_patch(text):
    """Yields class and input of each file's change; nothing where it is no patch.

    As Codex reads it, the head of a change may be indented, but for one after lines of an update.
    """
    change = None
    for line in text.strip().split("\n"):
        begun = begin_change(line if change and change.head == UPDATE else line.strip())
        if begun:
            if change:
                yield from change.finish()
            change = begun
        elif change:
            change.take(line)
    if change:
        yield from change.finish()


def begin_change(line):
    """The change of a file that begins in this line, or None."""
    for head in (ADD, UPDATE, DELETE):
        if line.startswith(head):
            return Change(head, line[len(head) :].strip())
    return None


class Change:
    """What a patch does to one file."""

    def __init__(self, head, path):
        self.head, self.path, self.moved_to = head, path, ""
        self.old, self.new = [], []

    def take(self, line):
        """Take a line of the patch: what goes, what comes, and what stays on both sides."""
        if line.startswith(MOVE):
            self.moved_to = line[len(MOVE) :].strip()
        elif line.startswith("+"):
            self.new.append(line[1:])
        elif line.startswith("-"):
            self.old.append(line[1:])
        elif line.startswith(" ") or not line:
            self.old.append(line[1:])
            self.new.append(line[1:])

    def finish(self):
        """Class and input of the calls that it stands for: a file that moves is two of them.

        A file that goes is an empty one.
        """
        if self.head != UPDATE:
            content = "".join(line + "\n" for line in self.new)
            yield "write", {"file_path": self.path, "content": content}
            return
        old, new = "\n".join(self.old), "\n".join(self.new)
        for path in filter(None, (self.path, self.moved_to)):
            yield "edit", {"file_path": path, "old_string": old, "new_string": new}
