"""A patch as the writes and edits of Claude Code that it stands for, one for each file.

Clients read patches more or less strictly; what any of them takes for a change is one here.
"""

# A line that begins the change of a file, without its blanks.
ADD, UPDATE, DELETE, MOVE = "***AddFile", "***UpdateFile", "***DeleteFile", "***MoveFile"
MOVED_TO = "***Moveto"
BEGIN, END = "*** Begin Patch", "***EndPatch"
CONTENT = ("+", "-", " ")  # what a line of a patch begins with
UNSURE = "$`~*?\\"  # characters of a folder's name that only a shell can resolve


def patches_in_command(command):
    """The patches in a command of the shell: the folder that it is in, and the text, of each.

    The folder begins where the command does, and is None where only a shell can tell it.
    """
    shell, patches, patch = [], [], []
    for line in command.split("\n"):
        head, begun, rest = line.partition(BEGIN)
        if begun and (not patch or head[:1] not in CONTENT):
            shell += [*cut_at_end(patch), head]
            patch = [rest]
            patches.append((folder_after(shell), patch))
        elif patch:
            patch.append(line)
        else:
            shell.append(line)
    cut_at_end(patch)
    return [(folder, "\n".join(lines)) for folder, lines in patches]


def cut_at_end(patch):
    """Take what follows its end out of a patch; the end is the last line that can be one."""
    for at in range(len(patch) - 1, 0, -1):
        if END in without_blanks(patch[at]) and patch[at][0] not in "+-":
            rest = patch[at:]
            del patch[at:]
            return rest
    return []


def folder_after(lines):
    """The folder that a shell is in after these lines, from where it began; None if unknown."""
    folder = ""
    for piece in "\n".join(lines).replace("&&", "\n").replace(";", "\n").split("\n"):
        verb, _, target = piece.strip(" \t('\"").partition(" ")
        target = target.strip().strip("'\"")
        if verb == "pushd" or (verb == "cd" and (target[:1] in ("", "-") or has_any(target))):
            return None
        if verb == "cd":
            folder = (target if target[0] == "/" else folder + target) + "/"
    return folder


def has_any(text):
    return any(character in text for character in UNSURE)


def read_patch(text):
    """Yields class and input of each file's change; nothing where it is no patch.

    The head of a change may be indented, but for one after lines of an update.
    """
    lines, change = text.strip().split("\n"), None
    cut_at_end(lines)
    for line in lines:
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
    head, path = split_head(line)
    if head == MOVE:
        path, _, target = path.partition("->")
        change = Change(UPDATE, path.strip())
        change.moved_to = target.strip()
        return change
    return Change(head, path) if head in (ADD, UPDATE, DELETE) else None


def split_head(line):
    """The words before a colon, without blanks, and what follows it, if it is a line with marks."""
    head, _, rest = line.partition(":") if line.startswith("***") else ("", "", "")
    return without_blanks(head), rest.strip()


def without_blanks(text):
    return "".join(text.split())


class Change:
    """What a patch does to one file."""

    def __init__(self, head, path):
        self.head, self.path, self.moved_to = head, path, ""
        self.old, self.new = [], []

    def take(self, line):
        """Take a line of the patch: what goes, what comes, and what stays on both sides."""
        head, path = split_head(line)
        if head == MOVED_TO:
            self.moved_to = path
        elif line.startswith("+"):
            self.new.append(line[1:])
        elif line.startswith("-"):
            self.old.append(line[1:])
        elif not line.startswith(("***", "@@")):
            for side in (self.old, self.new):
                side.append(line[1:] if line.startswith(" ") else line)

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
