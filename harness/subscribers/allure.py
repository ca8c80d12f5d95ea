"""Allure results: one file per case, labelled by protocol, role, group and clause, with its evidence attached."""

from __future__ import annotations

import datetime
import hashlib
from pathlib import Path
from typing import Any
from uuid import uuid4

from allure_commons.logger import AllureFileLogger
from allure_commons.model2 import (
    ATTACHMENT_PATTERN,
    Attachment,
    Label,
    Parameter,
    Status,
    StatusDetails,
    TestResult,
)
from allure_commons.types import LabelType

from harness.errors import UsageError
from harness.judging.result import CaseResult, Event, Expected, Header, Verdict
from harness.subscribers.text import clause_of, detail, printable, reading_of, timeline

STATUS = {
    Verdict.PASS: Status.PASSED,
    Verdict.WARN: Status.PASSED,
    Verdict.INFO: Status.PASSED,
    Verdict.FAIL: Status.FAILED,
    Verdict.TIMEOUT: Status.FAILED,
    Verdict.CRASHED: Status.FAILED,
    Verdict.ERROR: Status.BROKEN,  # Allure's word for a defect of the test, not of the product
    Verdict.UNSUPPORTED: Status.SKIPPED,
}


class Allure:
    """Writes each case as it comes, so that a killed run leaves what it had."""

    def __init__(self, folder: Path) -> None:
        self.path = folder
        try:
            self._logger: Any = AllureFileLogger(str(folder))  # type: ignore[no-untyped-call]  # it ships no types
        except OSError as error:
            raise UsageError(f"{folder} cannot hold Allure results: {error.strerror}") from None

    def __call__(self, event: Event) -> None:
        match event:
            case Header():
                self._environment(event)
            case CaseResult():
                self._logger.report_result(self._test_result(event))

    def _environment(self, header: Header) -> None:
        targets = ", ".join(f"{t.name} {t.version}".strip() for t in header.targets)
        facts = {"target": targets, "seed": header.seed, "run": header.run_id, "commit": header.commit}
        lines = [printable(f"{key}={value}") for key, value in facts.items()]
        (self.path / "environment.properties").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def _test_result(self, result: CaseResult) -> TestResult:
        started = milliseconds(result.started_at)
        case = printable(result.case)
        return TestResult(
            uuid=str(uuid4()),
            name=case.rpartition(f"/{result.group}/")[2],
            fullName=case,
            historyId=stable(result.case, result.target, result.peer),
            testCaseId=stable(result.case),
            status=STATUS[result.verdict],
            statusDetails=StatusDetails(
                known=result.expected is Expected.KNOWN_FAILING,
                flaky=result.expected is Expected.KNOWN_FLAKY,
                message="" if result.verdict is Verdict.PASS else f"{result.verdict}: {detail(result)}",
                trace=printable(result.note, keep="\n"),
            ),
            stage="finished",
            labels=labels(result),
            parameters=[Parameter(name=printable(k), value=printable(v)) for k, v in result.axes.items()],
            attachments=self._attachments(result),
            start=started,
            stop=started + round(result.duration_s * 1000),
        )

    def _attachments(self, result: CaseResult) -> list[Attachment]:
        clause = printable(clause_of(result))
        texts = {
            "clause": "\n".join(filter(None, (clause, reading_of(result)))),
            "timeline": "\n".join(timeline(result.timeline)),
            "replay": printable(result.replay),
        }
        return [self._attach(name, text) for name, text in texts.items() if text]

    def _attach(self, name: str, text: str) -> Attachment:
        source = ATTACHMENT_PATTERN.format(prefix=uuid4(), ext="txt")
        self._logger.report_attached_data(text, source)
        return Attachment(name=name, source=source, type="text/plain")


def labels(result: CaseResult) -> list[Label]:
    pairs = [
        (LabelType.EPIC, result.protocol),
        (LabelType.FEATURE, result.role),
        (LabelType.STORY, result.group),
        (LabelType.FRAMEWORK, "touchstone"),
        ("target", result.target),
        ("verdict", result.verdict.value),
        *((LabelType.TAG, clause) for clause in result.requirements),
    ]
    return [Label(name=name, value=printable(value)) for name, value in pairs if value]


def stable(*parts: str) -> str:
    """The same from run to run: Allure follows a case's history by it."""
    return hashlib.md5("\0".join(parts).encode(errors="backslashreplace"), usedforsecurity=False).hexdigest()


def milliseconds(timestamp: str) -> int:
    """Since the epoch; 0 where the result does not say when it began."""
    return round(datetime.datetime.fromisoformat(timestamp).timestamp() * 1000) if timestamp else 0
