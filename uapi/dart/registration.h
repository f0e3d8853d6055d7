/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * Registration: what is said to an agent over its UNIX socket.
 *
 * A stream socket.  A request is one JSON object (RFC 8259) in one line, ended
 * by a newline, at most DART_REGISTRATION_REQUEST_MAX bytes with it; the reply
 * is one JSON object in one line, in the order of the requests.  A request
 * that is not understood in full (too long, not JSON, an unknown or missing
 * member, a wrong type, a file descriptor too many) changes nothing.
 *
 *   {"request": "register-source", "source": S, ...}
 *       Counters of the kernel.  From a peer whose user is root.  What selects
 *       one of many is said by further members, and where one of them is marked
 *       with a star, by a file descriptor that comes with the first byte
 *       (SCM_RIGHTS) and that this member only gives a name to:
 *
 *       S                                  members      the entry is called
 *       cpustat, vmstat, softnet,
 *         softirqs, irqs                                S
 *       snmp:ip, snmp:ip6, snmp:tcp,
 *         snmp:tcpext, snmp:udp,                        S
 *         snmp:udp6, snmp:icmp, snmp:icmp6 "netns" *    S@NETNS
 *       netdev:stats, netdev:core          "netdev"     S@NETDEV
 *                                and       "netns" *    S@NETNS/NETDEV
 *       disk:stats                         "disk" *     S@DISK
 *       cgroup:cpu                         "cgroup" *   S@CGROUP
 *
 *       netns: a network namespace; without it that of the agent.  netdev: the
 *       name of an interface in it.  disk: a block device.  cgroup: the
 *       directory of a cgroup (v2), not of the root; its name is its path from
 *       there, "/a/b".
 *       What a name cannot have becomes %XX in it.
 *
 *       When what was selected ends, the entry is gone.
 *   {"request": "follow-source", "source": S}
 *   {"request": "follow-source", "source": S, "cgroup": C}
 *       S of each network namespace, or, with a file descriptor as above, of
 *       the cgroup and each one below it, from now on: those that come get entries.
 *       A namespace without a name is called net:INODE, and that of the agent
 *       not at all.  The follow is called S@* or S@C/ and two stars.  From
 *       root.
 *   {"request": "register-map", "name": N}
 *       With the first byte comes one file descriptor (SCM_RIGHTS): an eBPF
 *       array map created with BPF_F_MMAPABLE, open for reading.  N is the
 *       name of the entry and may be left out: then it is the map's name.
 *   {"request": "register-counters", "name": N}
 *   {"request": "register-counters", "name": N, "counters": [C, ...]}
 *       The per-CPU counters that a module has registered as N, or new ones,
 *       called C, for eBPF programs to add to (see bpf/dart_counters.h); the
 *       reply has their "counters_id".  From root.
 *   {"request": "new-slice", "name": N, "schema": S}
 *       Memory that the peer writes and controllers read, until nobody has it
 *       open or mapped any more.  With the first byte of the reply comes a file
 *       descriptor to mmap() for reading and writing.  S says what will be where:
 *       {"name": T, "length": BYTES, "fields": [{"name": F, "offset": BYTES,
 *       "width": 1, 2, 4 or 8, "kind": "counter", "gauge", "histogram" or
 *       "text", "unit": U, "count": ELEMENTS, "signed": B}, ...]}; unit, count
 *       and signed may be left out.
 *   {"request": "unregister", "name": N}
 *       An entry, or a follow with its entries.  From root, or from the user
 *       who has registered N.
 *   {"request": "list"}
 *   {"request": "show", "name": N}
 *   {"request": "status"}
 *   {"request": "probe-list"}
 *   {"request": "probe-load", "name": N}
 *   {"request": "probe-unload", "name": N}
 *       N: an eBPF program that the agent brings with it; its maps are entries
 *       while it is loaded.  From root.
 *   {"request": "store-create", "name": N, "slots_log2": K, "value_length": V,
 *    "checksum_bits": C, "redundancy": R, "file": F}
 *       A store of 2^K slots, see <dart/store.h>; C and R may be left out.  F
 *       may be left out, too: it gives a name to the file descriptor that comes
 *       with the first byte, of a file on tmpfs or hugetlbfs that is open for
 *       reading and writing and is empty, or has the size of the store (in
 *       whole pages) and keeps its contents.  From root.
 *   {"request": "store-delete", "name": N}
 *       Its readers are hung up, and reports to it go nowhere.  From root.
 *   {"request": "store-list"}
 *   {"request": "store-open", "name": N}
 *       With the first byte of the reply comes a file descriptor to mmap() for
 *       reading: slot 0 is at its start.
 *   {"request": "store-export", "name": N}
 *       What reporters have to know.  From root.
 *   {"request": "reporter-add", "store": N, "address": A}
 *   {"request": "reporter-remove", "store": N, "address": A}
 *       Who may report to the store: A is an IPv4 address.  From root.
 *   {"request": "reporter-list", "store": N}
 *       Those of this store, or of all if it is left out.
 *
 * Replies: {"ok": true, ...} with, for list, "entries"; for show, "entry"; for
 * status, "status"; for follow-source, "follow"; for probe-list, "probes"; for
 * the other two of probes, "probe" as in probe-list; for store-list, "stores";
 * for store-create, -delete and -open, "store" as in store-list; for
 * store-export, "collectors", as in <libdart/report/collectors.h>; for reporter-list,
 * "reporters"; for the other two of reporters, "reporter" as in reporter-list;
 * for the rest, "entry"; what is registered as in list, where follows come last.  Or {"ok": false,
 * "error": E, "message": M}: E is the name of an errno, such as "EEXIST", M a
 * sentence in English.
 *
 * A probe: {"name": N, "loaded": true, "entries": ["tcp"], "missed": 0,
 * "description": "TCP traffic of the host"}; "missed", events that went
 * uncounted since it was loaded, is there only if it is.
 *
 * A store: {"name": N, "slots_log2": 20, "value_length": 20, "checksum_bits": 32,
 * "redundancy": 2, "bytes": 25165824, "huge_pages": false, "file": F,
 * "reporters": 1, "readers": 0}; "file" is there only if it has one; "reporters"
 * and "readers" are how many.
 *
 * A reporter: {"store": N, "reporter": A, "qpn": 17}.
 *
 * Names of entries: 1 to DART_REGISTRATION_NAME_MAX - 1 characters out of
 * letters, digits and "_-.:/@+=%~".  Names of stores: the same, up to
 * DART_STORE_NAME_MAX - 1 characters (see <dart/store_access.h>).
 *
 * Who may connect is said by the mode of the socket: root, and the group
 * "dart" where there is one.
 */
#ifndef _UAPI_DART_REGISTRATION_H
#define _UAPI_DART_REGISTRATION_H

#define DART_REGISTRATION_SOCKET	"/run/dart/dartd.sock"
#define DART_REGISTRATION_REQUEST_MAX	65536
#define DART_REGISTRATION_NAME_MAX	256

#endif /* _UAPI_DART_REGISTRATION_H */
