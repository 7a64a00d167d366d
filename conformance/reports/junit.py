"""junit.xml: a suite for each component, a test for each of its stages, and one for each counterexample."""

from xml.etree import ElementTree as ET

from tidegate.conformance.judging.session import Finished
from tidegate.conformance.judging.verdicts import UNDETERMINED, VIOLATIONS, Status
from tidegate.conformance.reports.findings import as_text, describe


def as_junit(finished: Finished) -> bytes:
    root = ET.Element("testsuites", name=f"tidegate {finished.engine}")
    for component in sorted({component for component, _stage, _result in finished.counts}):
        suite = ET.SubElement(root, "testsuite", name=component)
        add_stages(suite, component, finished)
        for shrunken in finished.counterexamples:
            if shrunken.verdict.case.component == component:
                finding = describe(shrunken.verdict, finished.engine)
                test = ET.SubElement(suite, "testcase", classname=component, name=finding.title)
                ET.SubElement(test, "failure", message=finding.title).text = as_text(finding)
        suite.set("tests", str(len(suite)))
        suite.set("failures", str(sum(test.find("failure") is not None for test in suite)))
        suite.set("skipped", str(sum(test.find("skipped") is not None for test in suite)))
    ET.indent(root)
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True))


def add_stages(suite: ET.Element, component: str, finished: Finished) -> None:
    stages = sorted({stage for name, stage, _result in finished.counts if name == component})
    for stage in stages:
        counts = {result: finished.counts[component, stage, result] for result in Status}
        test = ET.SubElement(suite, "testcase", classname=component, name=f"{stage} cases")
        summary = ", ".join(f"{count} {result}" for result, count in counts.items() if count)
        ET.SubElement(test, "system-out").text = summary
        if any(counts[result] for result in VIOLATIONS):
            ET.SubElement(test, "failure", message=summary)
        elif any(counts[result] for result in UNDETERMINED):
            ET.SubElement(test, "error", message=summary)
        elif not counts[Status.PASS] and not counts[Status.XFAIL]:
            ET.SubElement(test, "skipped", message=summary)
