# SPDX-License-Identifier: Apache-2.0
# All benchmarks in all settings, one after the other, so that every figure that the project states can be made again with
# one command: an hour and more, so it says what runs and how long the rest will take, by what each part took when it was
# last stored, begins with the shortest, and can be had in slices. A part that fails, takes too long or cannot run here does
# not stop the others; the summary at the end names it, and the page says what has no result.
"""Runs every part, stores its result, and writes the page about all of them."""

import dataclasses
import json
import subprocess
import sys
import time
from pathlib import Path

import miniapp
import whole_file

ROOT = Path(__file__).resolve().parent.parent
STORED = ROOT / "bench" / "results"
#: What a figure depends on; a result of other sources than these is not one of this version.
SOURCES = ("runtime", "plugins", "apps", "bench", "cmake", "CMakeLists.txt", "CMakePresets.json", ":!bench/results", ":!bench/limits.json")
LEFT = 75  # the exit status where parts are left for the next slice
TOO_LONG = 124  # the status of a part that was ended
LEAST_LIMIT_S = 600


@dataclasses.dataclass(frozen=True)
class Part:
    """One result file; `about_s` is how long it takes where nobody has stored that."""

    benchmark: str
    setting: str = ""
    about_s: int = 60
    ranks: int = 0  # 0: as many as the benchmark takes by itself
    mpi: str = ""  # of scripts/get_mpi; empty: the build folder's

    @property
    def name(self):
        return "-".join(filter(None, [self.benchmark, self.setting, f"n{self.ranks}" if self.ranks else "", self.mpi]))

    @property
    def words(self):
        options = {"--setting": self.setting, "--ranks": str(self.ranks or ""), "--mpi": self.mpi}
        return [self.benchmark, *(word for option, value in options.items() if value for word in (option, value))]


#: Beside the build folder's own, each in a build folder beside it.
OTHER_MPIS = ("mpich5", "intel")
#: In the order of the page.
PARTS = (
    *(Part(name, about_s=10) for name in ("yardstick", "post", "replay", "roundtrip", "unblock", "hold", "clause", "rate", "tbb")),
    Part("patterns"), *(Part("patterns", ranks=n) for n in (4, 8)), Part("rma"), Part("matmul"),
    Part("lanes"), *(Part("lanes", mpi=name) for name in OTHER_MPIS),
    Part("trace", about_s=240),
    *(Part("dslash", setting, 300) for setting in ("crowded", "delayed", "link", "rendezvous")),
    *(Part("multigrid", setting, 300) for setting in ("crowded", "link")),
    # Where a second lane may pay or cost: over MPICH 5 each has a context.
    *(Part(name, setting, 120, mpi="mpich5") for name in ("dslash", "multigrid", "fft") for setting in ("crowded", "link")),
    Part("breakdown", about_s=240),
    Part("poisson", about_s=240),
    *(Part("offload", setting, 300) for setting in ("crowded", "delayed")),
    Part("node", about_s=600), Part("schedules", about_s=90),
    Part("fft", "crowded", 600), Part("fft", "delayed", 240), Part("fft", "link", 240),
)
DEMO = Part("demo", about_s=180)  # of scripts/demo, for README's picture
DEMO_PICTURE = "overlap.png"


def seconds_text(seconds):
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"


def git(*words):
    try:
        done = subprocess.run(["git", "-C", str(ROOT), *words], check=False, capture_output=True, text=True)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def sources():
    """The last commit that changed what a figure depends on, "+" after it where there are changes since; empty: nobody knows."""
    commit = git("log", "-1", "--format=%h", "--", *SOURCES)
    return commit + ("+" if commit and git("status", "--porcelain", "--", *SOURCES) else "")


def facts_of(file):
    """What a stored result says beside its figures, {} if there is none."""
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    first = document[0] if isinstance(document, list) and document else document
    return first if isinstance(first, dict) else {}


def of_other_sources(files):
    """(the sources that most results are of, {file: date and commit of one that is of others})."""
    facts = {file: facts_of(file) for file in files}
    commits = [one.get("commit", "") for one in facts.values()]
    usual = max(commits, key=lambda commit: (commits.count(commit), commit), default="")
    return usual, {file: " ".join(filter(None, (one.get("measured"), one.get("commit")))) or "nobody knows when"
                   for file, one in facts.items() if one.get("commit", "") != usual}


def last_seconds(part, folders):
    """How long the part took when it was last stored, or is said to take."""
    for folder in folders:
        seconds = facts_of(folder / f"{part.name}.json").get("seconds")
        if seconds:
            return seconds
    return part.about_s


class Progress:
    """On stderr: a line when a part begins, and on a terminal one that counts while it runs."""

    def __init__(self, parts, expected):
        self.parts, self.expected, self.out = parts, expected, sys.stderr

    def begin(self, k):
        print(f"\n== [{k + 1}/{len(self.parts)}] {self.parts[k].name}: about {seconds_text(self.expected[k])}; "
              f"all that is left: {seconds_text(sum(self.expected[k:]))}", file=self.out, flush=True)

    def tick(self, k, seconds):
        if self.out.isatty():
            print(f"\r   {seconds_text(seconds)} of {self.parts[k].name}; then {seconds_text(sum(self.expected[k + 1:]))}   ", end="",
                  file=self.out, flush=True)

    def end(self):
        if self.out.isatty():
            print("\r" + " " * 78 + "\r", end="", file=self.out, flush=True)


def run_part(command, limit_s, ticked):
    """The exit status of one part; `ticked` is called with its seconds, about once in each."""
    begin = time.monotonic()
    with subprocess.Popen(command) as program:
        try:
            while time.monotonic() < begin + limit_s:
                try:
                    return program.wait(timeout=1)
                except subprocess.TimeoutExpired:
                    ticked(time.monotonic() - begin)
            return TOO_LONG
        finally:
            if program.poll() is None:
                program.terminate()


class Memory:
    """How each part ended at these sources, so that a slice does not begin with what failed in the last one."""

    def __init__(self, file, commit):
        self.file, self.commit = file, commit
        try:
            said = json.loads(file.read_text(encoding="utf-8"))
            self.statuses = said["statuses"] if said["commit"] == commit else {}
        except (OSError, ValueError, KeyError, TypeError):
            self.statuses = {}

    def remember(self, name, status):
        self.statuses[name] = status
        whole_file.write_json(self.file, {"commit": self.commit, "statuses": self.statuses})


def summary(done):
    """Lines about all parts, and the exit status."""
    words = {0: "measured", miniapp.SKIPPED: "cannot run here", None: "there already", LEFT: "left for the next slice (--resume)",
             TOO_LONG: "FAILED: it took too long and was ended"}
    lines = [f"  {name:20} {words.get(status, f'FAILED with status {status}')}" for name, status in done]
    if any(status not in (0, miniapp.SKIPPED, None, LEFT) for _, status in done):
        return lines, 1
    return lines, LEFT if any(status == LEFT for _, status in done) else 0


def write_page(results, page, figures_folder):
    """By the Python that has matplotlib, if this has not: its own process."""
    command = [sys.executable, str(ROOT / "bench" / "performance.py"), "--results", str(results), "--page", str(page), "--figures",
               str(figures_folder)]
    return subprocess.run(command, check=False).returncode


def run_demo(build_dir, folder, limit_s, ticked):
    """The picture of the README is of one run of the demo, which is stored only when it is whole; its exit status."""
    file = Path(build_dir) / f"{DEMO.name}.json"
    command = [sys.executable, str(ROOT / "scripts" / "demo_table.py"), "--build-dir", str(build_dir), "--lattice", "8.8.8.16", "--ranks", "2"]
    status = run_part([*command, "--threads", "0", "--iterations", "100", "--json", str(file)], limit_s, ticked)
    if status == 0:
        whole_file.write_json(folder / file.name, json.loads(file.read_text(encoding="utf-8")))
    return status


def in_order(parts, expected, memory):
    """(part, seconds), the short ones first: whoever looks sees soon whether the machine is quiet enough. What failed is last."""
    failed = [memory.statuses.get(part.name, 0) not in (0, miniapp.SKIPPED) for part in parts]
    return [(part, seconds) for _, seconds, _, part in sorted(zip(failed, expected, range(len(parts)), parts), key=lambda one: one[:3])]


def run(build_dir, is_quick, results, has_resumed, slice_s=None, parts=PARTS, runner=ROOT / "bench" / "run.py"):
    """Measures all parts; the exit status of the driver, LEFT if `slice_s` was too short for all.

    `results` empty: stored in the sources with the page in docs, or, if quick, in the build folder: such figures are nobody's.
    """
    begin = time.monotonic()
    folder = Path(results) if results else Path(build_dir) / "bench-quick" if is_quick else STORED
    folder.mkdir(parents=True, exist_ok=True)
    is_ours = folder.resolve() == STORED
    pictures = ROOT / "docs" / "figures" if is_ours else folder / "figures"
    commit = sources()
    memory = Memory(Path(build_dir) / f"bench-all{'-quick' if is_quick else ''}.json", commit)
    done = []

    def is_there(part):
        facts = facts_of(folder / f"{part.name}.json")
        return has_resumed and bool(facts) and facts.get("commit", "") == commit and (is_quick or not facts.get("quick"))

    done += [(part.name, None) for part in parts if is_there(part)]
    wanted = [part for part in parts if not is_there(part)]
    wanted = in_order(wanted, [last_seconds(part, (folder,) if is_quick else (folder, STORED)) for part in wanted], memory)
    if not is_quick:
        if has_resumed and memory.statuses.get(DEMO.name) == 0 and (folder / f"{DEMO.name}.json").exists():
            done.append((DEMO.name, None))
        else:
            wanted.append((DEMO, DEMO.about_s))
    progress = Progress([part for part, _ in wanted], [seconds for _, seconds in wanted])
    for k, (part, seconds) in enumerate(wanted):
        if slice_s is not None and time.monotonic() - begin + seconds > slice_s:
            done.append((part.name, LEFT))
            continue
        progress.begin(k)
        limit_s, ticked = max(LEAST_LIMIT_S, 3 * seconds), lambda passed, k=k: progress.tick(k, passed)
        if part is DEMO:
            status = run_demo(build_dir, folder, limit_s, ticked)
        else:
            command = [sys.executable, str(runner), *part.words, "--build-dir", str(build_dir), "--json", str(folder / f"{part.name}.json")]
            command += ["--quick"] if is_quick else []
            command += ["--plots", str(pictures)] if part.benchmark == "fft" else []
            status = run_part(command, limit_s, ticked)
        memory.remember(part.name, status)
        done.append((part.name, status))
        progress.end()
    lines, status = summary(done)
    page = ROOT / "docs" / "performance.md" if is_ours else folder / "performance.md"
    if write_page(folder, page, pictures) != 0:
        lines.append(f"  {page.name} was not written")
        status = 1
    else:
        lines.append(f"  {page} sums them up")
    print("\n== all of it", *lines, sep="\n", file=sys.stderr)
    return status
