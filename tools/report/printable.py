# SPDX-License-Identifier: Apache-2.0
# Names that somebody else chose (communicators, commands, hosts) in text that a terminal shows. The rule is that of
# runtime/src/base/printable.hpp, byte for byte, since the identifier of a message has the name of its communicator in it.
"""Escapes control characters."""

import re

#: What a terminal obeys instead of showing it, also in Latin-1, and characters that turn the direction or end a line.
_CONTROLS = re.compile("[\0-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text):
    """`a\\x1b[1m`; of bytes what is no UTF-8 is escaped, too."""
    if isinstance(text, (bytes, bytearray)):
        text = text.decode("utf-8", "backslashreplace")
    return _CONTROLS.sub(lambda found: "".join(f"\\x{byte:02x}" for byte in found[0].encode("utf-8", "surrogatepass")), text)
