#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dartctl xdp attach turns the VLAN offload of an interface off where generic XDP needs it, and
# detach turns on the offloads again that were on. In own namespaces of network and mounts.
. "$(dirname "$0")/../../../lib.sh"
PATH=$tests/../.output/bin:$PATH
[ "$(id -u)" -eq 0 ] || skip "only root attaches XDP programs"
if [ "${1-}" != inside ]; then
	unshare --net --mount mount -t sysfs sysfs /sys 2>/dev/null ||
		skip "namespaces cannot be made here"
	exec unshare --net --mount "$0" inside
fi
# sysfs shows the network namespace of its mount.
mount -t sysfs sysfs /sys && mount -t bpf bpf /sys/fs/bpf || skip "no bpf file system can be mounted here"
file=$(mktemp)
trap 'rm -f "$file"' EXIT
ip link add port0 type veth peer name port1 || skip "the kernel has no veth"
ip address add 10.78.0.1/24 dev port0
ip link set port0 up
ip link set port1 up
cat >"$file" <<'END'
{"dart_collectors": 1, "collectors": [{"name": "paths", "reporter": "10.78.0.1",
	"mac": "02:00:00:00:00:01", "ip": "10.78.0.2", "qpn": 17, "rkey": 4660,
	"base": "0x3a5f00000000", "slots_log2": 10, "value_length": 20, "checksum_bits": 32,
	"redundancy": 2, "first_psn": 0}]}
END

# offload [on|off]: sets or prints the offload of port1 for tags of VLANs that it sends
offload() {
	python3 - "$@" <<-'END'
		import ctypes, fcntl, socket, struct, sys
		GET_FLAGS, SET_FLAGS, TX_VLAN = 0x25, 0x26, 1 << 7
		value = ctypes.create_string_buffer(struct.pack("II", GET_FLAGS, 0))
		def call():
		    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
		        fcntl.ioctl(any_socket, 0x8946, struct.pack(
		            "16sP", b"port1", ctypes.addressof(value)))
		    return struct.unpack("II", value.raw[:8])[1]
		flags = call()
		if sys.argv[1:]:
		    flags = flags | TX_VLAN if sys.argv[1] == "on" else flags & ~TX_VLAN
		    value.raw = struct.pack("II", SET_FLAGS, flags)
		    call()
		else:
		    print("on" if flags & TX_VLAN else "off")
	END
}

is() {
	[ "$(offload)" = "$1" ]
}

check "the other end of the interface has VLAN offload" is on
check "a reporter is attached" dartctl xdp attach port0 --collectors "$file"
check "then the other end has no VLAN offload" is off
check "the reporter is detached" dartctl xdp detach port0
check "then the other end has VLAN offload again" is on
check "the operator turns it off" offload off
check "a reporter is attached again" dartctl xdp attach port0 --collectors "$file"
check "it is detached" dartctl xdp detach port0
check "VLAN offload that the operator turned off stays off" is off
offload on
check "a reporter is attached once more" dartctl xdp attach port0 --collectors "$file"
ip link delete port0
ip link add port0 type veth peer name port1
offload off
check "a reporter whose interface is gone is detached" dartctl xdp detach port0
check "another interface of the same name stays as it is" is off
finish
