#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A whole host serves the families of metrics that selftests/families lists for Linux 6.12 with the
# module; for other kernels, and without the module, the list gives a reason for each difference.
. "$(dirname "$0")/../lib.sh"
lib=$(cd "$(dirname "$0")/../lib" && pwd)
list=$tests/families

# fetched: the page of the controller is in /run/page, with values of the agent
fetched() {
	python3 "$lib/fetch.py" /metrics 2>/dev/null >/run/page &&
		grep -q '^# TYPE node_' /run/page
}

agree() {
	fetched && "$lib/families.py" "$list" "$(uname -r)" /run/page
}

check "the agent starts" host_up
check "there are disks, cgroups and network namespaces" "$tests/many_objects" 2 2
check "the whole host is registered" dartctl register host --gather 1s
dart-controller --listen -i 1s localhost >/run/values 2>/run/log &
controller=$!
check "a controller serves its metrics" soon fetched
check "they are the families of the list" soon agree
grep -v '^# TYPE node_forks_total ' /run/page >/run/fewer
refuse "a family that is missing is found" "^lacks node_forks_total, which" \
	"$lib/families.py" "$list" "$(uname -r)" /run/fewer
{ cat /run/page; echo "# TYPE node_new gauge"; } >/run/more
refuse "a family that is new is found" "^has node_new, which" \
	"$lib/families.py" "$list" "$(uname -r)" /run/more
kill $controller
wait $controller
check "the agent stops" host_down
finish
