# SPDX-License-Identifier: Apache-2.0
# Files that are there as a whole or not at all, as apps/common/whole_file.hpp has them for programs: written under another
# name in the same folder and then renamed, so that a run which is aborted leaves the old file, or none.
"""Reports and pictures that an aborted run does not spoil."""

import contextlib
import json
import os
from pathlib import Path


@contextlib.contextmanager
def aside(file):
    """A path to write to, which becomes `file` when the block ends well and is gone when not; `file` itself if that is a
    device or a pipe. A symbolic link is followed, and the name's end stays, for those who look at it."""
    target = Path(os.path.realpath(file))
    if target.exists() and not target.is_file():
        yield target
        return
    part = target.with_name(f".{target.stem}.{os.getpid()}{target.suffix}")
    try:
        yield part
        if target.exists():
            part.chmod(target.stat().st_mode & 0o7777)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def write_json(file, document):
    with aside(file) as part:
        part.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
