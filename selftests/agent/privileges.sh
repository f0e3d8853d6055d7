#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Each cell of the tables "Who may do what" in dart_zero(4) and dartd(8) holds.
. "$(dirname "$0")/../lib.sh"

group=4242
capabilities=-all,+chown,+dac_override,+fowner,+fsetid,+kill,+setgid,+setuid
capabilities=$capabilities,+setpcap,+net_bind_service,+net_raw,+sys_chroot
capabilities=$capabilities,+mknod,+audit_write,+setfcap

# One function for each column of the tables.
as_user() {
	setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
}

as_dart() {
	setpriv --reuid 65533 --regid 65533 --groups "$group" "$@"
}

# Root in a user namespace, an unprivileged user outside.
as_userns() {
	setpriv --reuid 100000 --regid 100000 --clear-groups \
		unshare --user --map-root-user --mount --net --pid --fork "$@"
}

# Root with the capabilities that Docker leaves, and a separate /dev with the device.
as_container() {
	unshare --mount --net --pid --fork sh -c '
		touch /run/device && mount --bind /dev/dart_zero /run/device &&
		mount -t tmpfs tmpfs /dev && touch /dev/dart_zero &&
		mount --bind /run/device /dev/dart_zero &&
		exec setpriv --bounding-set "$@"' sh "$capabilities" "$@"
}

as_root() {
	"$@"
}

# Column $1 of the tables in the form that attempt prints.
documented() {
	cat "$tests/../kmod/dart_zero.4" "$tests/../agent/dartd.8.in" |
		sed -n '/^\.Ss Who may do what/,/^\.El/{
			s/^\.It \(.* Ta .*\)/\1/p
		}' |
		awk -F ' Ta ' -v OFS='\t' -v column="Em $1" '
			/^Em / {
				for (i = 1; i <= NF; i++)
					if ($i == column)
						found = i
				next
			}
			{ print $1, $found }'
}

if [ $# -gt 0 ]; then
	"$@"
	exit
fi

# Other users may be unable to enter this tree.
install -m 755 "$(command -v attempt)" /run/attempt
sed -i /^dart:/d /etc/group
echo "dart:x:$group:" >>/etc/group
check "the agent starts" host_up
check "a row of a lookup table fits into a packet" ip link set eth0 mtu 4200
check "the address of a reporter can be resolved" \
	ip neighbour replace 10.77.0.2 lladdr 02:00:00:00:00:01 dev eth0

newline='
'
# has_outcome LINE: is a line of $outcomes? It starts no program: 350 lines are checked.
has_outcome() {
	case $newline$outcomes$newline in
	*"$newline$1$newline"*) ;;
	*) echo "$outcomes" && return 1 ;;
	esac
}

for column in user dart userns container root; do
	check "$column: every call is tried" sh -c \
		"/run/attempt '$0' as_$column /run/attempt >/run/outcomes"
	documented $column >/run/documented
	outcomes=$(cat /run/outcomes)
	while IFS='	' read -r call cell; do
		check "$column: $call has the documented outcome: $cell" \
			has_outcome "$call	$cell"
	done </run/documented
	check "$column: the tables have every call that was tried" \
		[ "$(cut -f 1 /run/documented)" = "$(cut -f 1 /run/outcomes)" ]
done
check "the agent stops" host_down
sed -i /^dart:/d /etc/group
finish
