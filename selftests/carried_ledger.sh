# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions for tests whose adder, on this machine, follows the export of the ledger "flows" of
# "host", which keeps it in /run/kept.json; and that compare its memory with the model.
#
#	. "$(dirname "$0")/../lib.sh"
#	. "$(dirname "$0")/../carried_ledger.sh"

model=$tests/lib/ledger.py

# carry_ledger: brings the file of the host here, as any tool that copies files does, until
# /run/end exists
carry_ledger() {
	while [ ! -e /run/end ]; do
		on host cat /run/kept.json >/run/kept 2>/dev/null && [ -s /run/kept ] &&
			! cmp -s /run/kept /run/flows.json && mv /run/kept /run/flows.json
		sleep 0.2
	done
}

# is_carried: the file here has the present queue pair
is_carried() {
	[ "$(on host dartctl -j adder list flows | gojq '.[0].qpn')" = \
		"$(gojq '.ledgers[0].qpn' /run/flows.json)" ]
}

# exact RUN...: the memory is what the model says after these runs
exact() {
	on host "$model" memory flows >/run/flows.memory &&
		"$model" same /run/flows.memory /run/flows.json /run/keys "${@/#//run/flows.}"
}
