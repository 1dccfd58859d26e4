"""What a command answered in Claude Code's protocol, and the same in the form of another host.

An answer is never weakened without a word: what a host cannot express becomes the next stricter
thing that it can. What it cannot take at all is dropped, and the receipt names it.
"""

from .exact import dump_plain, parse_exactly, parse_strictly
from .files import dump, first_text

REFUSED = 2  # the exit status that refuses
BY_STATUS = "exit 2"  # the form of a host that takes that status for a refusal, too
AS_TEXT = "text"  # the form of a host that takes plain text
TEXT_IS_CONTEXT = ("UserPromptSubmit", "SessionStart")
STOPS = ("Stop", "SubagentStop")
REFUSES_BY_DECISION = ("UserPromptSubmit", "PostToolUse", *STOPS)
DECISIONS = ("approve", "block")
SPOKEN = ("refuse", "ask", "end", "message")  # texts that may be cut; none is lost for its length
LONGEST_TEXT = 1 << 18  # characters, each of at most twelve bytes as JSON, in at most three fields
PERMISSIONS = ("allow", "deny", "ask")
TOO_LONG = "it took too long"
TOO_MUCH = "it printed more than 16 MiB"
BLANKS = (
    "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007"
    "\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
)  # around an answer; clients skip them
NO_REASON = "refused by a hook"
NEEDS_PERSON = "{reason} A person has to allow this; ask for it."
WOULD_PASS = "{reason} Not with this input; this one would pass: {input}"
UNFIT_CHANGE = "{reason} A hook changes the input of a part of this call: {input}"


class Answer:
    """What the command wants, whatever the host."""

    def __init__(self, decision="", reason=""):
        self.decision = decision  # allow | deny | ask | "" (no opinion)
        self.reason = reason
        self.change = None  # input by Claude Code's names
        self.context = ""  # for the model
        self.replace = None  # in place of the tool's output
        self.message = ""  # for the person
        self.ends = False  # the turn is to end
        self.stop_reason = ""


class Failure(Exception):
    """The command did not answer as the protocol has it; its text says why."""


def read_answer(event, result):
    """What a command's result says; raises Failure. A refusal counts whatever else went wrong."""
    text = clean(result.out)
    if result.status == REFUSED:
        return refusal(event, text, result)
    values = object_in(text)
    answer = read_object(event, values) if values is not None else Answer()
    if answer.decision == "deny":
        return answer
    if result.timed_out:
        raise Failure(TOO_LONG)
    if result.overflow:
        raise Failure(TOO_MUCH)
    if result.status:
        why = error_of(result) if values is None else ""
        raise Failure("exit status " + str(result.status) + why)
    if values is not None:
        return answer
    is_text = event in TEXT_IS_CONTEXT and not text.startswith("{")
    if not is_text and ("{" in text or text.startswith("[")):
        raise Failure("its output is not one JSON object")
    answer.context = text if is_text else ""
    return answer


def refusal(event, text, result):
    """The answer of exit status 2: a refusal with stderr as the reason, or that of the JSON."""
    values = object_in(text)
    if values is not None:
        try:
            answer = read_object(event, values)
            if answer.decision == "deny":
                return answer
        except Failure:
            pass
    reason = result.err.decode("utf-8", "replace").strip()
    if event == "PreToolUse" or event in REFUSES_BY_DECISION:
        return Answer("deny", reason)
    answer = Answer()
    if event == "PostToolUseFailure":  # the model is told, though nothing is left to refuse
        answer.context = reason
    else:
        answer.message = reason
    return answer


def error_of(result):
    """The last line on stderr, for the person."""
    lines = result.err.decode("utf-8", "replace").strip().splitlines()
    return ": " + lines[-1][:200] if lines else ""


def clean(out):
    """What a command printed as text, without what clients skip around it, in any order."""
    return out.decode("utf-8", "replace").strip(BLANKS)


def object_in(text):
    """The object that a command printed, or None."""
    if not text.startswith("{"):
        return None
    try:
        return parse_strictly(text.encode(), "replace")
    except ValueError:
        return None


def read_object(event, values):
    """The answer in an object of Claude Code's protocol; raises Failure where it would be void."""
    answer = Answer()
    answer.message = first_text(values, "systemMessage")
    answer.ends = values.get("continue") is False
    answer.stop_reason = first_text(values, "stopReason")
    decision = values.get("decision")
    if decision is not None and decision not in DECISIONS:
        raise Failure("its decision is " + dump(decision)[:80])
    if decision == "block":
        answer.decision, answer.reason = "deny", first_text(values, "reason")
    elif decision == "approve" and event == "PreToolUse":
        answer.decision, answer.reason = "allow", first_text(values, "reason")
    nested = values.get("hookSpecificOutput")
    if nested is not None:
        read_nested(event, nested, answer)
    return answer


def read_nested(event, nested, answer):
    """Add what is said in hookSpecificOutput."""
    if type(nested) is not dict or nested.get("hookEventName") != event:
        raise Failure("its hookSpecificOutput is not for " + event)
    answer.context = first_text(nested, "additionalContext")
    if event == "PreToolUse":
        permission = nested.get("permissionDecision")
        if permission is not None and permission not in PERMISSIONS:
            raise Failure("its permissionDecision is " + dump(permission)[:80])
        if permission and answer.decision != "deny":
            answer.decision = permission
            answer.reason = first_text(nested, "permissionDecisionReason")
        if type(nested.get("updatedInput")) is dict:
            answer.change = nested["updatedInput"]
    if event == "PostToolUse":
        for name in ("updatedToolOutput", "updatedMCPToolOutput"):
            if answer.replace is None:
                answer.replace = nested.get(name)


def without_allow(values):
    """An object without the permission in it; the rest stays."""
    values = dict(values)
    if values.get("decision") == "approve":
        del values["decision"]
    nested = values.get("hookSpecificOutput")
    if type(nested) is dict and nested.get("permissionDecision") == "allow":
        nested = dict(nested)
        del nested["permissionDecision"]
        if len(nested) > 1:  # more than the event's name
            values["hookSpecificOutput"] = nested
        else:
            del values["hookSpecificOutput"]
    return values


def join(answers, is_whole=True, can_change=True):
    """One answer about a call to the questions about its parts: the strictest, with all texts.

    Not of all parts (`is_whole`) nothing can allow the call, and no change of a part fits into it
    unless it is the whole call.
    """
    joined = Answer()
    for wanted in ("allow", "ask", "deny"):
        found = [answer for answer in answers if answer.decision == wanted]
        if found and (wanted != "allow" or (is_whole and len(found) == len(answers))):
            joined.decision = wanted
            joined.reason = join_texts(answer.reason for answer in found)
    joined.context = join_texts(answer.context for answer in answers)
    joined.message = join_texts(answer.message for answer in answers)
    joined.ends = any(answer.ends for answer in answers)
    joined.stop_reason = join_texts(answer.stop_reason for answer in answers)
    joined.replace = answers[0].replace if len(answers) == 1 else None
    changes = [answer.change for answer in answers if answer.change is not None]
    if len(answers) == 1 and is_whole and can_change:
        joined.change = answers[0].change
    elif changes and joined.decision != "deny":
        joined.decision = "deny"
        joined.reason = UNFIT_CHANGE.format(reason=joined.reason, input=dump(changes[0])).strip()
    return joined


def join_texts(texts):
    """Each of the texts once, in lines."""
    return "\n".join(dict.fromkeys(text for text in texts if text))


class Rendered:
    """The text for the host, what it does there, and what was left out."""

    def __init__(self, outcome="none", passed=None):
        self.object, self.outcome, self.dropped, self.context_bytes = {}, outcome, [], 0
        self.passed = passed  # instead of both, an answer that goes on as it is
        self.text = ""  # instead of an object, where the host takes plain text
        self.told = ""  # on stderr, where the host takes an exit status for the refusal

    @property
    def data(self):
        if self.passed is not None:
            return self.passed
        if self.object:
            return dump_plain(self.object).encode()
        return self.text.encode("utf-8", "replace")


def render(forms, event, answer, may_allow, to_native):
    """An answer in the forms that a host has for this event; `to_native` gives changed inputs."""
    rendered = Rendered()
    decision, reason = settle(forms, event, answer, may_allow, rendered)
    if decision == "deny":
        if answer.context:
            rendered.dropped.append("context")
        refuse(forms, event, reason, answer, rendered)
    else:
        permit(forms, answer, decision, to_native, rendered)
    if answer.message and decision == "deny" and forms.get("refuses_alone"):
        rendered.dropped.append("message")
    elif answer.message:
        add(forms, "message", answer.message, rendered)
    return rendered


def settle(forms, event, answer, may_allow, rendered):
    """The decision that this host can express for the answer, with its reason."""
    decision, reason = answer.decision, answer.reason
    if answer.ends and event in STOPS:
        return "", ""  # the end beats a block
    if answer.ends and not forms.get("end") and forms.get("on_end") == "refuse":
        return "deny", answer.stop_reason or reason
    if decision == "ask" and not forms.get("ask"):
        return "deny", NEEDS_PERSON.format(reason=reason).strip()
    if answer.change is not None and decision != "deny":
        allows = forms.get("change_allows", False)
        if not forms.get("change") or (allows and not may_allow):
            text = WOULD_PASS.format(reason=reason, input=dump(answer.change))
            return "deny", text.strip()
    if decision == "allow" and not may_allow:
        rendered.dropped.append("allow")
        return "", ""
    return decision, reason


def refuse(forms, event, reason, answer, rendered):
    """Say no, or send the agent on, in the host's form; without a reason it is void on some."""
    reason = reason if reason.strip() else NO_REASON
    ends = answer.ends and forms.get("end")
    if ends:
        add(forms, "end", answer.stop_reason or reason, rendered)
        rendered.outcome = "end"
        if forms.get("refuses_alone"):
            return
    if add(forms, "refuse", reason, rendered):
        rendered.outcome = "block" if event in REFUSES_BY_DECISION else "deny"
    if ends:
        rendered.outcome = "end"


def permit(forms, answer, decision, to_native, rendered):
    """Say what is no refusal: a question to the person, a change, a context, an end."""
    if decision == "ask":
        add(forms, "ask", answer.reason or NO_REASON, rendered)
        rendered.outcome = "ask"
    if decision == "allow" and add(forms, "allow", answer.reason, rendered):
        rendered.outcome = "allow"
    if answer.context and add(forms, "context", answer.context, rendered):
        rendered.context_bytes = len(answer.context.encode("utf-8", "replace"))
        rendered.outcome = "context" if rendered.outcome == "none" else rendered.outcome
    if answer.replace is not None and add(forms, "replace", answer.replace, rendered):
        rendered.outcome = "change"
    if answer.change is not None and add(forms, "change", to_native(answer.change), rendered):
        rendered.outcome = "ask" if decision == "ask" else "change"
    if answer.ends and add(forms, "end", answer.stop_reason, rendered):
        rendered.outcome = "end"


def add(forms, name, value, rendered):
    """Put a value in, in the host's form; False, and on record, where the host has none."""
    form = forms.get(name)
    if not form:
        rendered.dropped.append(name)
        return False
    if name in SPOKEN:
        value = value[:LONGEST_TEXT]
    if name == "replace":
        value = as_text(value)
    if form == BY_STATUS:
        rendered.told = value
        return True
    if form == AS_TEXT:
        rendered.text = value
        return True
    merge(rendered.object, parse_exactly(form.replace("%s", dump(value)).encode()))
    return True


def as_text(value):
    """What a tool gave as a text: of Claude Code's forms for a shell and a file, that in it."""
    if type(value) is dict:
        text = first_text(value, "stdout", "stderr", "content")
        return text if text else dump(value)
    return value if type(value) is str else dump(value)


def merge(into, values):
    """Put values into an object, those of inner objects beside the ones that are there."""
    for name, value in values.items():
        if type(value) is dict and type(into.get(name)) is dict:
            merge(into[name], value)
        else:
            into[name] = value
