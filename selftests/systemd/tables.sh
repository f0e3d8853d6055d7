#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A large table is taken over by a service that has less time to start than that takes.
. "$(dirname "$0")/../lib.sh"

dropin=/run/systemd/system/dartd.service.d
file=/dev/shm/table

# property NAME: of the service
property() {
	systemctl show --property "$1" --value dartd.service
}

# start MS: starts the service, which has so many ms for that, and no second try
start() {
	systemctl stop dartd.service
	mkdir -p "$dropin"
	printf '[Service]\nRestart=no\nTimeoutStartSec=%sms\n' "$1" >"$dropin/limit.conf"
	systemctl daemon-reload
	systemctl start dartd.service
}

# took: the ms from the start of dartd until it was ready
took() {
	echo $((($(property ActiveEnterTimestampMonotonic) -
		$(property ExecMainStartTimestampMonotonic)) / 1000))
}

# outlives: finds a limit within which the service starts although that takes 300 ms more;
# the time that it takes is never twice the same
outlives() {
	limit=$(($(took) / 2))
	for _ in $(seq 16); do
		if ! start $limit; then
			limit=$((limit * 5 / 4))
			continue
		fi
		[ "$(took)" -le $((limit + 300)) ] || return 0
		limit=$(($(took) / 2))
	done
	return 1
}

rdma_up
check "the service starts" start 300000
without=$(took)
install -o dart -m 600 /dev/null "$file"
check "a table of many rows is created" dartctl table create flows --rows 2^23 --cells 1 \
	--key 2 --value 2 --file "$file"
check "the service starts again" start 300000
check "it takes longer with the table: $(took) ms instead of $without" \
	[ "$(took)" -gt "$without" ]
outlives
found=$?
check "with a limit of $limit ms, it starts in $(took) ms" [ $found = 0 ]
check "the table is there" dartctl table show flows
check "the service stops" systemctl stop dartd.service
rm -r "$dropin" "$file"
finish
