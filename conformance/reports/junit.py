"""junit.xml: one suite per component, with a test per stage and per counterexample."""

from xml.etree import ElementTree as ET

from tidegate.conformance.engines.text import printable
from tidegate.conformance.judging.result import Result
from tidegate.conformance.judging.verdicts import UNDETERMINED, VIOLATIONS, Status


def as_junit(result: Result) -> bytes:
    root = ET.Element("testsuites", name=f"tidegate {printable(result.engine)}")
    for component in sorted({component for component, _stage, _status in result.counts}):
        suite = ET.SubElement(root, "testsuite", name=component)
        add_stages(suite, component, result)
        for one in result.counterexamples:
            if one.verdict.case.component == component:
                test = ET.SubElement(suite, "testcase", classname=component, name=one.finding.title)
                ET.SubElement(test, "failure", message=one.finding.title).text = one.text()
        suite.set("tests", str(len(suite)))
        suite.set("failures", str(sum(test.find("failure") is not None for test in suite)))
        suite.set("skipped", str(sum(test.find("skipped") is not None for test in suite)))
    ET.indent(root)
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True))


def add_stages(suite: ET.Element, component: str, result: Result) -> None:
    stages = sorted({stage for name, stage, _status in result.counts if name == component})
    for stage in stages:
        counts = {status: result.counts[component, stage, status] for status in Status}
        test = ET.SubElement(suite, "testcase", classname=component, name=f"{stage} cases")
        summary = ", ".join(f"{count} {status}" for status, count in counts.items() if count)
        ET.SubElement(test, "system-out").text = summary
        if any(counts[status] for status in VIOLATIONS):
            ET.SubElement(test, "failure", message=summary)
        elif any(counts[status] for status in UNDETERMINED):
            ET.SubElement(test, "error", message=summary)
        elif not counts[Status.PASS] and not counts[Status.XFAIL]:
            ET.SubElement(test, "skipped", message=summary)
