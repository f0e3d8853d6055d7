#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The commands in README.md, Documentation/install and the EXAMPLES of manual pages: bash parses
# them, our programs know their options, and each runs in a guest or the list states why not.
here=$(cd "$(dirname "$0")/../.." && pwd)
exec /usr/bin/python3 "$here/lib/documented.py" check "$here/../.output/bin"
