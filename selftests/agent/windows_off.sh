#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A module that was loaded with windows=0 shows no page of the kernel: the module gathers a whole
# host as otherwise, and dartd refuses requests that need a window in one sentence.
. "$(dirname "$0")/../lib.sh"

# reload PARAMETER...: loads the module again
reload() {
	modprobe -r dart_zero && modprobe dart_zero "$@"
}

# gathered FILE: registers the whole host; FILE gets the output of dartctl and all names
gathered() {
	dartctl register host --gather 100ms >"$1" 2>&1 &&
		entry_names | sort >>"$1"
}

# has_values ENTRY: the table shows values of the entry
has_values() {
	dartctl -j show "$1" | is_true '[.. | numbers] | length > 0'
}

modprobe dart_zero
check "the module is loaded with windows=0" reload windows=0
check "the agent starts" host_up
check "status says that there are no windows" \
	sh -c 'dartctl -j status | grep -q "\"windows\": false"'
check "doctor says that there are no windows" \
	sh -c 'dartctl doctor | grep -q windows=0'
refuse "a source without --gather is refused, with the parameter and a remedy" \
	"windows=0.*--gather" dartctl source add cpustat
refuse "counters of eBPF programs are refused with the parameter" "windows=0" \
	dartctl counters add some_counters one
check "a whole host is registered" gathered /run/without
for entry in cpustat+100ms memory+100ms netdev:link@lo+100ms; do
	check "$entry has values" has_values "$entry"
done
check "probes work" dartctl probe load runqlat
check "the agent stops" host_down
check "the module is loaded as by default" reload
check "the agent starts again" host_up
check "status says that there are windows" \
	sh -c 'dartctl -j status | grep -q "\"windows\": true"'
check "a whole host is registered again" gathered /run/with
check "with windows=0 it was the same" diff /run/with /run/without
check "the agent stops again" host_down
finish
