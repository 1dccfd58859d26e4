"""The whole of doctor: gathers the facts about each host, tries its hooks, and asks every judge."""

from __future__ import annotations

import os

from hookctl import hosts
from hookctl.checks import (
    activation,
    entries,
    hook,
    limits,
    other_tools,
    records,
    run_folder,
    self_test,
    settings,
)
from hookctl.checks.codes import UNRECORDED, Finding
from hookctl.checks.facts import FileFacts, HostFacts
from hookctl.checks.gather_host import host_facts
from hookctl.hosts import Host
from hookctl.settings.targets import Target
from hookctl.survey.machine import Machine
from hookctl.survey.records import RecordFacts, RulesFile, record_facts
from hookctl.system.folders import Folders

# For each settings file that has our entries, or is the user's file of a host in use.
_FILE_JUDGES = (
    settings.judge_reading,
    settings.judge,
    entries.judge,
    entries.judge_disabled,
    hook.judge_programs,
    hook.judge,
    hook.judge_packs,
    hook.judge_runner,
    limits.judge,
    limits.judge_environment,
    limits.judge_shell,
    settings.judge_committed,
    settings.judge_rights,
    activation.judge_client,
    activation.judge_repository,
)
# For each host as it would be started in the working folder.
_HOST_JUDGES = (
    settings.judge_nothing,
    settings.judge_lost,
    limits.judge_env_files,
    other_tools.judge_stops,
    other_tools.judge_scripts,
    activation.judge_hooks,
    run_folder.judge,
    hook.judge_silence,
)


class Survey:
    """Everything that doctor judges, read when the object is made."""

    def __init__(self, folders: Folders, scope: str = "", *, everywhere: bool = False) -> None:
        self._records: RecordFacts = record_facts(folders, everywhere=everywhere)
        self.others, self.others_gone = self._records.others, self._records.others_gone
        self._scope, self._state = scope, folders.state
        self._machine = Machine(folders, self._records.records, scope)

    def hosts_in_use(self) -> list[Host]:
        """The hosts that are in use here."""
        every = [self._machine.load(name) for name in hosts.names()]
        return [host for host in every if self._machine.targets(host)]

    def targets(self, host: Host) -> list[Target]:
        """The settings files of a host that are looked at."""
        return self._machine.targets(host)

    def findings(self, wanted: list[Host]) -> list[Finding]:
        """Everything about hookctl's own record and about these hosts, each finding once."""
        findings = list(records.judge(self._records))
        findings += records.judge_rules(self._list_rules([host.name for host in wanted]))
        unread = {os.path.dirname(os.path.dirname(error.path)) for error in self._records.errors}
        for host in wanted:
            facts = with_self_tests(host_facts(self._machine, host), self._state)
            findings += _of_known(judge(facts), unread)
        return list(dict.fromkeys(findings))  # a client is named once, however many files it has

    def _list_rules(self, names: list[str]) -> list[RulesFile]:
        """The files with rules that these hosts read; one of a project may be of any host."""
        files = []
        for file in self._records.rules:
            is_theirs = file.record.host in names or bool(file.record.project)
            if is_theirs and self._scope in ("", file.record.scope):
                files.append(file)
        return files


def _of_known(found: list[Finding], unread: set[str]) -> list[Finding]:
    """The findings without those that follow from unread records of these folders."""
    findings = []
    for finding in found:
        # What has no record where a project's cannot be read needs no advice of its own.
        is_of_unread = any(finding.path.startswith(f"{folder}/") for folder in unread)
        follows = finding.code in UNRECORDED and is_of_unread
        if not follows and not (unread and finding.code == "not_installed"):
            findings.append(finding)
    return findings


def with_self_tests(facts: HostFacts, state: str) -> HostFacts:
    """The facts of a host, with what its hooks said in a self-test where one may be made."""
    files = []
    for file in facts.files:
        is_readable = file.config is not None and not file.config.error
        if is_readable and hook.may_be_tried(file):
            file = _with_trial(file, state)
        files.append(file)
    return facts._replace(files=tuple(files))


def _with_trial(file: FileFacts, state: str) -> FileFacts:
    assert file.python is not None and file.config is not None
    variables: dict[str, str] = {}
    of_project: dict[str, str] = {}
    for layer in reversed(file.reaching):
        is_shared = layer.source.scope == "project"
        for name, text in layer.env.items():
            variables[name] = text
            of_project.pop(name, None)
            if is_shared:
                of_project[name] = text
    question = self_test.Question(
        file.host, file.config.value, variables, of_project, file.target.shared
    )
    return file._replace(trial=self_test.run(file.python.path, question, state))


def judge(facts: HostFacts) -> list[Finding]:
    """Everything about one host, in no order."""
    if not facts.files:
        return [*settings.judge_nothing(facts)]
    findings: list[Finding] = []
    for file in facts.files:
        for judge_file in _FILE_JUDGES:
            findings += judge_file(file)
        if file.run_packs:
            from hookctl.checks import receipts  # late: most have the guard alone

            findings += receipts.judge(file)
    for judge_host in _HOST_JUDGES:
        findings += judge_host(facts)
    return findings
