#!/usr/bin/env python3
"""Counts the test cases that GoogleTest programs wrote: gtest_counts.py XML-DIR PROGRAM...

Prints what failed and why something was skipped, and last "PASSED FAILED SKIPPED". A program
that wrote nothing crashed or ran out of time: one failure.
"""
import pathlib
import sys
import xml.etree.ElementTree as xml


def outcome(case):
    if case.find("failure") is not None:
        return "failed"
    if case.get("result") == "skipped" or case.get("status") == "notrun":
        return "skipped"
    return "passed"


def cases_of(path):
    try:
        return list(xml.parse(path).iter("testcase"))
    except (OSError, xml.ParseError):
        return None


def main():
    directory, programs = pathlib.Path(sys.argv[1]), sys.argv[2:]
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for program in programs:
        cases = cases_of(directory / f"{program}.xml")
        if cases is None:
            print(f"{program}: did not run to its end")
            counts["failed"] += 1
            continue
        for case in cases:
            result = outcome(case)
            counts[result] += 1
            if result != "passed":
                print(f"{program}: {result}: {case.get('classname')}.{case.get('name')}")
    print(counts["passed"], counts["failed"], counts["skipped"])


if __name__ == "__main__":
    main()
