"""JUnit XML: a suite per protocol and role, the clauses of a case as its properties."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from xml.etree import ElementTree as ET

from harness.judging.result import BAD, CaseResult, Footer, Header, Verdict
from harness.subscribers.file import FileReport
from harness.subscribers.text import detail, printable, reading_of, timeline, what_came


class JUnit(FileReport):
    """Red is what surprises, as in the exit code: a known failure is skipped under its reason, its pass fails."""

    def render(self, header: Header, results: list[CaseResult], footer: Footer) -> bytes:
        root = element("testsuites", name="touchstone", time=f"{footer.duration_s:.3f}")
        suites = sorted(results, key=suite_of)  # stable: cases stay in the order they ran
        for name, members in groupby(suites, suite_of):
            root.append(testsuite(name, list(members), header))
        ET.indent(root)
        document: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
        return document + b"\n"


def suite_of(result: CaseResult) -> str:
    return f"{result.protocol}/{result.role}"


def element(tag: str, text: str = "", /, **attributes: object) -> ET.Element:
    made = ET.Element(tag, {key: printable(str(value)) for key, value in attributes.items()})
    made.text = printable(text, keep="\n") or None
    return made


def testsuite(name: str, results: list[CaseResult], header: Header) -> ET.Element:
    cases = [testcase(result) for result in results]
    outcomes = Counter(child.tag for case in cases for child in case)
    suite = element(
        "testsuite",
        name=name,
        tests=len(cases),
        failures=outcomes["failure"],
        errors=outcomes["error"],
        skipped=outcomes["skipped"],
        time=f"{sum(result.duration_s for result in results):.3f}",
        timestamp=header.started_at,
    )
    targets = ", ".join(dict.fromkeys(result.target for result in results))
    facts = {"run_id": header.run_id, "seed": header.seed, "target": targets, "reach": results[0].reach}
    suite.append(properties(list(facts.items())))
    suite.extend(cases)
    return suite


def properties(pairs: list[tuple[str, object]]) -> ET.Element:
    made = element("properties")
    made.extend(element("property", name=name, value=value) for name, value in pairs)
    return made


def testcase(result: CaseResult) -> ET.Element:
    prefix = f"{result.protocol}/{result.role}/{result.group}"
    case = element(
        "testcase",
        classname=prefix.replace("/", "."),
        name=result.case.removeprefix(f"{prefix}/"),
        time=f"{result.duration_s:.6f}",
    )
    if result.requirements:
        case.append(properties([("requirement", clause) for clause in result.requirements]))
    if (child := outcome(result)) is not None:
        case.append(child)
    if result.verdict in (Verdict.WARN, Verdict.INFO):
        case.append(element("system-out", f"{result.verdict}: {what_came(result)}\n{result.note}"))
    return case


def outcome(result: CaseResult) -> ET.Element | None:
    """The child that says how a case ended; None is JUnit's way to say that it passed."""
    if result.surprising and result.verdict in BAD:
        tag = "error" if result.verdict is Verdict.ERROR else "failure"
        return element(tag, evidence(result), type=result.verdict, message=detail(result))
    if result.surprising:
        return element(
            "failure", type="unexpected", message=f"{result.verdict} though {result.expected}: {result.note}"
        )
    if result.verdict in BAD:
        return element("skipped", message=f"{result.expected}: {result.note}")
    if result.verdict is Verdict.UNSUPPORTED:
        return element("skipped", message=result.note)
    return None


def evidence(result: CaseResult) -> str:
    """What a person needs to see the failure: the clause, what was said both ways, the line to replay it."""
    parts = [reading_of(result), *timeline(result.timeline), result.note, result.replay]
    return "\n".join(filter(None, parts))
