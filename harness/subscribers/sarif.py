"""SARIF 2.1.0: broken clauses as rules, cases as logical locations, for code-scanning viewers."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from harness.judging.result import BAD, CaseResult, Expected, Footer, Header, Verdict
from harness.subscribers.file import FileReport
from harness.subscribers.text import clause_of, detail, printable, requirement_of

SCHEMA_URI = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
REPORTED = BAD | {Verdict.WARN}
NO_CLAUSE = "no-clause"
"""The rule of a result that names no clause: SARIF viewers drop results without a rule."""

LEVELS = {"MUST": "error", "SHOULD": "warning", "MAY": "note"}


class Sarif(FileReport):
    """Known failures stay in, suppressed under their written reason."""

    def render(self, header: Header, results: list[CaseResult], footer: Footer) -> bytes:
        reported = [result for result in results if result.verdict in REPORTED]
        rules = sorted({rule_id(result) for result in reported} | {c for r in results for c in r.requirements})
        run = {
            "tool": {"driver": driver(header, rules)},
            "automationDetails": {"id": header.run_id},
            "invocations": [invocation(header, footer)],
            "results": [result_of(result, rules) for result in reported],
        }
        log = {"$schema": SCHEMA_URI, "version": "2.1.0", "runs": [run]}
        return msgspec.json.format(msgspec.json.encode(log), indent=2) + b"\n"


def driver(header: Header, rules: list[str]) -> dict[str, Any]:
    return {"name": "Touchstone", "version": header.harness_version or "0", "rules": [rule(id) for id in rules]}


def invocation(header: Header, footer: Footer) -> dict[str, Any]:
    return {
        "commandLine": printable(header.command),
        "startTimeUtc": header.started_at.replace("+00:00", "Z"),
        "endTimeUtc": footer.finished_at.replace("+00:00", "Z"),
        "exitCode": footer.exit_code,
        "executionSuccessful": footer.exit_code in (0, 1),
    }


def rule(id: str) -> dict[str, Any]:
    known = requirement_of(id)
    if known is None:
        return {"id": id, "shortDescription": {"text": "no clause of the catalogue"}}
    described = {"id": id, "shortDescription": {"text": known.text}, "properties": {"level": known.level}}
    if known.reading:
        described["help"] = {"text": known.reading}
    return described | {"defaultConfiguration": {"level": LEVELS[known.level]}}


def rule_id(result: CaseResult) -> str:
    return printable(clause_of(result)) or NO_CLAUSE


def result_of(result: CaseResult, rules: list[str]) -> dict[str, Any]:
    about: dict[str, Any] = {"verdict": result.verdict, "target": result.target, "replay": result.replay}
    made: dict[str, Any] = {
        "ruleId": rule_id(result),
        "ruleIndex": rules.index(rule_id(result)),
        "kind": "fail",
        "level": "warning" if result.verdict is Verdict.WARN else "error",
        "message": {"text": "\n".join(filter(None, (detail(result), printable(result.note), result.replay)))},
        "locations": [{"logicalLocations": [{"fullyQualifiedName": printable(result.case), "kind": "member"}]}],
        "partialFingerprints": {"caseAndTarget/v1": fingerprint(result)},
        "properties": about,
    }
    if result.expected is not Expected.PASS:
        made["suppressions"] = [{"kind": "external", "justification": f"{result.expected}: {printable(result.note)}"}]
    return made


def fingerprint(result: CaseResult) -> str:
    """The same finding in two runs: the same case, target and clause."""
    same = "\0".join((result.case, result.target, result.peer, clause_of(result)))
    return hashlib.sha256(same.encode(errors="backslashreplace")).hexdigest()[:32]
