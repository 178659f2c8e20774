# SPDX-License-Identifier: Apache-2.0
# Numbers as people read them: three digits and a unit. The terminal and the page both show what these functions make, so
# that a figure reads the same in both; the page's JavaScript has its own only for what it works out while one zooms.
"""Times, sizes and shares in words."""


def time(ns):
    """`1.23 ms`."""
    if ns is None:
        return "-"
    for scale, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
        if abs(ns) >= scale:
            return f"{_three_digits(ns / scale)} {unit}"
    return f"{ns:.0f} ns"


def _three_digits(value):
    for limit, digits in ((9.995, 2), (99.95, 1)):
        if abs(value) < limit:
            return f"{value:.{digits}f}"
    return f"{value:.0f}"


def size(n_bytes):
    """`1.50 MiB`."""
    for scale, unit in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if n_bytes >= scale:
            return f"{_three_digits(n_bytes / scale)} {unit}"
    return f"{n_bytes:.0f} B"


def sizes(all_bytes):
    """The sum of sizes, some of which may be None: `1.50 MiB`, `unknown`, `1.50 MiB, 2 unknown`."""
    known = [one for one in all_bytes if one is not None]
    n_unknown = len(all_bytes) - len(known)
    if n_unknown == 0:
        return size(sum(known))
    return f"{size(sum(known))}, {count(n_unknown)} unknown" if any(known) else "unknown"


def share(value):
    """`42 %`; a dash for None."""
    return "-" if value is None else f"{100 * value:.0f} %"


def waits(value):
    """`1 wait`, `2 waits`."""
    return f"{count(value)} wait{'' if value == 1 else 's'}"


def count(value):
    """`12 345`."""
    return f"{value:,}".replace(",", " ")
