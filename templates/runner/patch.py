"""A patch as the writes and edits of Claude Code that it stands for, one for each file.

Clients read patches more or less strictly; what any of them takes for a change is one here.
"""

# A line that begins the change of a file, without its blanks.
ADD, UPDATE, DELETE, MOVE = "***AddFile", "***UpdateFile", "***DeleteFile", "***MoveFile"
MOVED_TO = "***Moveto"
BEGIN, END = "*** Begin Patch", "***EndPatch"
CONTENT = ("+", "-", " ")  # what a line of a patch begins with
# What may change the folder of a shell in a way that only a shell can tell.
MOVES = frozenset(
    ("cd", "chdir", "pushd", "popd", "env", "eval", "source", ".", "builtin", "command", "exec")
)
APART = str.maketrans(dict.fromkeys("(){}|&<>`$\\'\"", " "))


def patches_in_command(command):
    """The patches in a command of the shell: the folder that it is in, and the text, of each.

    The folder begins where the command does, and is None where only a shell can tell it.
    """
    folder, patches, patch = "", [], None
    for line in command.split("\n"):
        head, begun, rest = line.partition(BEGIN)
        if begun and (patch is None or head[:1] not in CONTENT):
            folder = folder_after(folder, head)
            patch = [rest]
            patches.append((folder, patch))
        elif patch is None:
            folder = folder_after(folder, line)
        elif is_end(line):
            patch = None
        else:
            patch.append(line)
    return [(folder, "\n".join(lines)) for folder, lines in patches]


def is_end(line):
    """Can this be the end of a patch? A line of its own, which is no content."""
    return END in without_blanks(line) and line[0] not in CONTENT


def folder_after(folder, line):
    """The folder that a shell is in after a line; None if only a shell can tell."""
    for piece in line.replace("&&", ";").split(";"):
        if folder is None or MOVES.isdisjoint(piece.translate(APART).split()):
            continue
        verb, *target = piece.split(None, 1)
        word = plain_word(target[0].strip()) if target else ""
        if verb != "cd" or not word:
            return None
        folder = (word if word[0] == "/" else folder + word) + "/"
    return folder


def plain_word(text):
    """What one word of the shell stands for; empty if it is several, or only a shell can tell."""
    quote = text[:1]
    if quote and quote in "'\"" and text.endswith(quote):
        text = text[1:-1]
        return "" if any(character in "$`\\'\"" for character in text) else text
    is_plain = not any(character in "$`~*?[{\\'\"<>|&()! \t" for character in text)
    return text if is_plain and text[:1] != "-" else ""


def read_patch(text):
    """Yields class and input of each file's change; nothing where it is no patch.

    The head of a change may be indented, but for one after lines of an update. Behind an end
    nothing counts but another head.
    """
    lines, change, has_ended = text.strip().split("\n"), None, False
    if END in without_blanks(lines[-1]) and lines[-1][0] == " ":
        lines.pop()
    for line in lines:
        begun = begin_change(line if change and change.head == UPDATE else line.strip())
        if begun:
            if change:
                yield from change.finish()
            change, has_ended = begun, False
        elif is_end(line):
            has_ended = True
        elif change and not has_ended:
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
