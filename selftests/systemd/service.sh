#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# systemd starts, stops, reloads and restarts the installed service, however dartd
# ended.
. "$(dirname "$0")/../lib.sh"

dropin=/run/systemd/system/dartd.service.d

# service VERB: shows the log if it fails
service() {
	systemctl "$1" dartd.service || {
		journalctl --no-pager --unit dartd.service --lines 20
		return 1
	}
}

# property NAME: of the service
property() {
	systemctl show --property "$1" --value dartd.service
}

# another PID: waits until the service is ready with a process other than PID
another() {
	for _ in $(seq 300); do
		case $(systemctl show --property ActiveState,MainPID dartd.service) in
		*MainPID=0* | *MainPID="$1"*) ;;
		*ActiveState=active*) return ;;
		esac
		sleep 0.4
	done
	return 1
}

# end SIGNAL: sends it to dartd; PID 0 would be this test
end() {
	[ "$(property MainPID)" -gt 1 ] && kill "-$1" "$(property MainPID)"
}

check "PID 1 is systemd" grep -x systemd /proc/1/comm
check "the service starts, and with it the module" service start
check "the running dartd is the service's" \
	[ "$(pidof dartd)" = "$(property MainPID)" ]
check "dartctl reaches the service" dartctl list
check "the group dart owns the socket" \
	[ "$(stat -c '%U %G %a' /run/dart/dartd.sock)" = "dart dart 660" ]
check "the state directory is the service's alone" \
	[ "$(stat -c '%U %G %a' /var/lib/dart)" = "dart dart 700" ]

first=$(property MainPID)
check "the service reloads" service reload
check "dartctl reaches the service after a reload" dartctl list
check "a reload does not end dartd" [ "$(property MainPID)" = "$first" ]
check "the service is restarted" service restart
second=$(property MainPID)
check "a restart starts another dartd" [ "$second" != "$first" ]
for signal in KILL SEGV; do
	check "dartd ends by SIG$signal" end $signal
	check "a dartd that SIG$signal ended is started again" another "$second"
	check "dartctl reaches the service after SIG$signal" dartctl list
	second=$(property MainPID)
done

check "the watchdog waits for 5 min" [ "$(property WatchdogUSec)" = 5min ]
mkdir -p $dropin
printf '[Service]\nWatchdogSec=10\n' >$dropin/watchdog.conf
systemctl daemon-reload
check "the service starts with a watchdog of 10 s" service restart
second=$(property MainPID)
restarts=$(property NRestarts)
sleep 12
check "the watchdog leaves a dartd alone that runs" \
	[ "$(property MainPID)" = "$second" ]
check "dartd is stopped by a signal" end STOP
check "a dartd that does not run is killed and started again" another "$second"
check "the watchdog started it again" [ "$(property NRestarts)" -gt "$restarts" ]
check "dartctl reaches the service that the watchdog started again" dartctl list

install -o dart -m 600 /dev/null /dev/shm/kept
check "the service stops" service stop
check "files in shared memory that belong to user dart outlive the service" \
	[ -e /dev/shm/kept ]
rm -f /dev/shm/kept
check "a service that was stopped is inactive, not failed" \
	[ "$(property ActiveState)" = inactive ]
finish
