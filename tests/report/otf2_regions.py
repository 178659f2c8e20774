# SPDX-License-Identifier: Apache-2.0
# The regions of an OTF2 archive as otf2-print tells of them. OTF2 says that the regions of a location nest, and its readers believe it: an
# archive in which another region is left than was entered last is refused here.
"""Reads regions with otf2-print."""
import collections
import re
import subprocess


def print_archive(archive, *options):
    done = subprocess.run(["otf2-print", *options, archive / "traces.otf2"], capture_output=True, text=True, check=True)
    if done.stderr:
        raise AssertionError(f"otf2-print complains: {done.stderr[-2000:]}")
    return done.stdout


def read(archive):
    """{location: [(region, begin, end)]} in the order in which they end. Raises AssertionError."""
    found, entered, last = collections.defaultdict(list), collections.defaultdict(list), collections.defaultdict(int)
    for kind, place, at, name in re.findall(r'(?m)^([A-Z_0-9]+) +(\d+) +(\d+) .*?(?:Region: "(.*)" <\d+>)?$', print_archive(archive)):
        where, time = int(place), int(at)
        if time < last[where]:
            raise AssertionError(f"events of location {where} are not in order")
        last[where] = time
        if kind == "ENTER":
            entered[where].append((name, time))
        elif kind == "LEAVE":
            innermost, begin = entered[where].pop() if entered[where] else (None, 0)
            if innermost != name:
                raise AssertionError(f"location {where} leaves '{name}' at {time}, and is in '{innermost}'")
            found[where].append((name, begin, time))
    if any(entered.values()):
        raise AssertionError(f"a region is never left: {dict(entered)}")
    return found


def kinds(archive):
    """{region: (role, paradigm)}"""
    line = r'(?m)^REGION +\d+ +Name: "(.*?)" <.*Role: (\w+), Paradigm: "?(\w+)"?'
    return {name: (role, paradigm) for name, role, paradigm in re.findall(line, print_archive(archive, "-G"))}
