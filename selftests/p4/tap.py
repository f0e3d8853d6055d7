# SPDX-License-Identifier: GPL-2.0-only
"""TAP on standard output, for ../execute."""

import sys
import traceback


def note(text):
    for line in str(text).splitlines():
        print("#", line)


def skip(reason):
    """Skips the whole test."""
    print("1..0 # SKIP", reason)
    sys.exit(4)


class Missing(Exception):
    """A point raises it to be skipped; its text says what is missing."""


def shown(value):
    """@value as text, with bytes as hexadecimal digits."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, list):
        return "\n  ".join([f"list of {len(value)}", *map(shown, value)])
    if isinstance(value, dict):
        return "\n".join(f"{key}: {shown(there)}"
                         for key, there in value.items())
    return str(value)


def same(found, expected, what=""):
    assert found == expected, "\n".join(
        (what, "found:", shown(found), "expected:", shown(expected)))


def run(*points, before=lambda: None):
    """Runs each point, a function whose docstring states the checked behaviour.

    @before runs before each point, so that points are independent.
    """
    failures = 0
    for number, point in enumerate(points, 1):
        skipped = ""
        try:
            before()
            point()
        except Missing as missing:
            skipped = f" # SKIP {missing}"
        except Exception:  # pylint: disable=broad-except # any failure
            failures += 1
            note(traceback.format_exc())
            print("not", end=" ")
        print(f"ok {number} - {point.__doc__}{skipped}", flush=True)
    print(f"1..{len(points)}")
    sys.exit(bool(failures))
