#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A whole host serves the families of metrics that selftests/families lists for Linux 6.12; for
# other kernels the list gives a reason for each difference.
. "$(dirname "$0")/../lib.sh"
lib=$(cd "$(dirname "$0")/../lib" && pwd)
list=$tests/families

# fetched: the families of the agent are in /run/families, except those of nf_conntrack, a module
# that an earlier test may have loaded
fetched() {
	python3 "$lib/fetch.py" /metrics 2>/dev/null >/run/page &&
		sed -n 's/^# TYPE \([^ ]*\) .*/\1/p' /run/page |
		grep -v -e '^dart_controller_' -e '^process_' -e '^node_nf_conntrack_' |
			LC_ALL=C sort -u >/run/families &&
		grep -q '^node_' /run/families
}

agree() {
	fetched && "$lib/families.py" "$list" "$(uname -r)" /run/families
}

check "the agent starts" host_up
check "there are disks, cgroups and network namespaces" "$tests/many_objects" 2 2
check "the whole host is registered" dartctl register host --gather 1s
dart-controller --listen -i 1s localhost >/run/values 2>/run/log &
controller=$!
check "a controller serves its metrics" soon fetched
check "they are the families of the list" soon agree
sed 1d /run/families >/run/fewer
refuse "a family that is missing is found" "^lacks $(head -n 1 /run/families), which" \
	"$lib/families.py" "$list" "$(uname -r)" /run/fewer
{ cat /run/families; echo node_new; } >/run/more
refuse "a family that is new is found" "^has node_new, which" \
	"$lib/families.py" "$list" "$(uname -r)" /run/more
kill $controller
wait $controller
check "the agent stops" host_down
finish
