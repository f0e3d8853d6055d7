/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * Registration: requests to an agent over its UNIX socket.
 *
 * The socket is a stream.  A request is one JSON object (RFC 8259) in one line, ended
 * by a newline, at most DART_REGISTRATION_REQUEST_MAX bytes including the newline; the
 * reply is one JSON object in one line.  Replies come in the order of requests.  A
 * request that is not entirely valid (too long, not JSON, an unknown or missing member,
 * a wrong type, a superfluous file descriptor) changes nothing.
 *
 *   {"request": "register-source", "source": S, ...}
 *       Registers counters of the kernel.  Root only.  Where a host has many objects of
 *       a kind, further members select one; a member that is marked with a star only
 *       names it, and a file descriptor that comes with the first byte (SCM_RIGHTS)
 *       selects it:
 *
 *       S                                  members      name of the entry
 *       cpustat, vmstat, softnet,
 *         softirqs, irqs                                S
 *       snmp:ip, snmp:ip6, snmp:tcp,
 *         snmp:tcpext, snmp:udp,                        S
 *         snmp:udp6, snmp:icmp, snmp:icmp6,
 *         sockets                          "netns" *    S@NETNS
 *       netdev:stats, netdev:core          "netdev"     S@NETDEV
 *                                and       "netns" *    S@NETNS/NETDEV
 *       disk:stats                         "disk" *     S@DISK
 *       netdev:link as netdev:stats, disk:io as disk:stats
 *       cgroup:cpu                         "cgroup" *   S@CGROUP
 *       filesystem                         "filesystem" * S@PATH
 *
 *       netns: a network namespace, by default that of the agent; "net:INODE" without a
 *       descriptor selects it by its inode, except for netdev.  netdev: the name of an
 *       interface in it.  disk: a block device.  cgroup: the directory of a cgroup
 *       (v2), not of the root; its name is its path from the root, "/a/b".  filesystem:
 *       a mount point, by its path from the root, as PID 1 sees it; the descriptor, for
 *       which O_PATH is enough, may be left out, and must be by a client in another
 *       mount namespace.  Characters that are not allowed in names become %XX.
 *
 *       When the selected object ends, the agent removes the entry.
 *
 *       With the member "gather": T, in this request and the next, the kernel gathers
 *       the counters every T, such as "1s", "100ms" or "1min", 10 ms to 60 min; the
 *       name of the entry ends with "+T", in seconds if they are whole.  The same
 *       counters may be registered without it, too.  "gathering", the cost of gathering
 *       at this interval, can only be gathered.  With "deferrable": true as well,
 *       gathering does not wake an idle CPU; the name is the same.
 *   {"request": "follow-source", "source": S}
 *   {"request": "follow-source", "source": S, "cgroup": C}
 *       Registers S for each network namespace or, with a file descriptor as above, for
 *       a cgroup and each one below it, now and as they are created.  A namespace
 *       without a name is called net:INODE; the entry of the agent's own namespace is
 *       called S.  The follower is called S@* or S@C/ and two stars.  Root only.
 *       Without a cgroup, a source that takes "netdev" is registered for each network
 *       device of the agent's namespace that supports it, a source that takes "disk"
 *       for each disk, but not for partitions, and a source that takes "filesystem" for
 *       each mounted file system of a disk, except images such as squashfs.
 *   {"request": "register-host", "gather": T}
 *       Registers everything on the host, gathered every T, "deferrable" or not as
 *       above: each source of the machine, and followers of all namespaces, network
 *       devices, disks, file systems and cgroups; file systems not more often than every
 *       10 s.  The agent leaves out sources whose values another source of the host
 *       contains, and registers TCPEXT for its own namespace only.  Sources that cannot
 *       be registered are left out; the request fails if none can.  The group is called
 *       host; its entries and followers end with it only.  Root only.
 *   {"request": "register-map", "name": N}
 *       Registers an eBPF array map created with BPF_F_MMAPABLE, whose file
 *       descriptor, open for reading, comes with the first byte (SCM_RIGHTS).
 *       N is the name of the entry, by default that of the map.
 *   {"request": "register-counters", "name": N}
 *   {"request": "register-counters", "name": N, "counters": [C, ...]}
 *       Registers the per-CPU counters that a module has registered as N, or creates
 *       counters for eBPF programs to add to (see bpf/dart_counters.h), whose names C
 *       follow the rules of field names below; the reply contains their "counters_id".
 *       Root only.
 *   {"request": "new-slice", "name": N, "schema": S, "memory": BYTES, "offset": O}
 *       Allocates memory that the peer writes and controllers read.  It lives until the last
 *       process has closed and unmapped it.  With the first byte of the reply comes a file
 *       descriptor to mmap() for reading and writing.  "memory" is 1 to
 *       DART_REGISTRATION_MEMORY_PAGES_MAX whole pages, by default as many as the slice
 *       takes.  The slice is the entry N; it begins at byte O of the memory, by default 0, a
 *       multiple of DART_REGISTRATION_SLICE_ALIGNMENT. With such a descriptor at the first
 *       byte, and without "memory", the request adds a slice to this memory, and no
 *       descriptor comes with the reply.  Controllers READ many small slices of one memory at
 *       once.  Slices of one memory do not overlap, and belong to one user.  When an agent
 *       ends, its memory stays with its processes, which register each slice again, with the
 *       descriptor, under any name and schema that fit.  The request is not refused if the
 *       slice is the peer's entry of this name, schema and place already.  EBUSY: the earlier
 *       agent has not ended, or an earlier slice that occupied some of these bytes is still
 *       on lease.  S: {"name": T, "length": BYTES, "fields": [{"name": F, "offset":
 *       BYTES, "width": BYTES, "kind": "counter", "gauge", "histogram", "text", "sequence",
 *       "address" or "time", "unit": U, "count": ELEMENTS, "signed": B}, ...]}, 1 to
 *       DART_REGISTRATION_FIELDS_MAX fields in any order, as in struct dart_control_field of
 *       <dart/control.h>: width is 1, 2, 4 or 8 for an element of a counter, gauge or
 *       histogram, 4 or 8 for a sequence, 16 for an address, 8 for a time, and the length in
 *       bytes for a text, whose count is 1.  unit, count and signed are optional: "", 1 and
 *       false.  F is unique and consists of 1 to 255 letters, digits and "_-.:/@+=%~[]"; T
 *       and U of up to 255 characters of printable ASCII. Sequences lie at both ends of each
 *       64 bytes, and BYTES is then a multiple of 64: see <dart/control.h>, "Sequences".
 *       The descriptor can also be that of memory which the peer created: a memfd of 1 to
 *       DART_REGISTRATION_MEMORY_PAGES_MAX whole pages, without huge ones, with the seals
 *       F_SEAL_SHRINK, F_SEAL_GROW and F_SEAL_FUTURE_WRITE (before Linux 6.2 without the last
 *       one).  The agent maps it for reading only.  With the first byte of the reply about memory
 *       that is new to the agent comes a file descriptor, which the peer keeps open and needs for
 *       nothing else: the slices in the memory end when its last copy is closed.  Peers of the
 *       agent can READ all bytes of such memory.  With the member "exposure": "exact" they can READ
 *       the fields of this slice and, unless another slice of the memory was registered without
 *       it, nothing else of the memory.  Each run of fields side by side then takes a memory
 *       region of the adapter and a READ, and counts as an entry of its user; fields of the kind
 *       "sequence" are refused.  The service
 *       manager keeps such memory, unless there is too much of it, and the next agent registers
 *       its slices at the same addresses without a request.
 *   +O N
 *       A line without JSON, the short form of the last "new-slice" or short form that succeeded
 *       on the same connection: adds the slice N at byte O, in decimal digits, of the same memory,
 *       with the same schema and exposure.  No descriptor comes with it.  The reply is
 *       {"ok": true} alone.  ENOENT: no request came before it, or the slice of that request has
 *       left the table.
 *       For the agent this is the quickest way to show many objects of one type, or functions
 *       that share memory.  Older agents refuse it with EINVAL.
 *   {"request": "unregister-slice", "name": N}
 *       Removes the entry N if it is a slice in the memory whose descriptor comes with
 *       the first byte.  Other slices in it stay; the agent removes all of them when
 *       the last process has closed and unmapped the memory.  Controllers may READ the
 *       removed slice for "lease_ms" more, a member of "entry" in the reply: until then
 *       the peer must not write values of another object to these bytes, because
 *       controllers would take them for values of N.  Root, or the user that registered
 *       N.
 *   {"request": "unregister", "name": N}
 *       Removes an entry, a follower with its entries, or the host.  Root, or the user that
 *       registered N.
 *   {"request": "list"}
 *   {"request": "show", "name": N}
 *   {"request": "status"}
 *   {"request": "coverage"}
 *       Counts the objects of the host and the served ones, as "coverage" of status does.
 *   {"request": "source-list"}
 *   {"request": "source-plan", "source": S, ..., "interval": T, "objects": N}
 *       Tells whether S is better registered with "gather" or without, for controllers that
 *       scrape every T, "1ms" to "60min", and for N objects, 1 to DART_ZERO_RECORDS_MAX of
 *       <linux/dart_zero.h>, by default 1.  The other members, and a descriptor, select an
 *       object as in register-source, which stands for all.  The agent looks at it both
 *       ways and registers nothing.  Root only.
 *   {"request": "controller-list"}
 *   {"request": "controller-disconnect", "peer": P}
 *       Disconnects a controller or a reader of a store or table, P as in
 *       controller-list.  From root.
 *   {"request": "monitor"}
 *       After the reply, until the client disconnects, comes one JSON object in a line
 *       for each change, and no further request is read.  The agent disconnects a
 *       client that lets more than DART_REGISTRATION_MONITOR_QUEUE bytes wait.
 *   {"request": "probe-list"}
 *   {"request": "probe-load", "name": N}
 *   {"request": "probe-unload", "name": N}
 *       N: an eBPF program that comes with the agent; its maps are entries
 *       while it is loaded.  Root only.
 *   {"request": "application-add", "name": N, "unit": U, "gather": T}
 *   {"request": "application-add", "name": N, "pid": P, "gather": T}
 *   {"request": "application-add", "name": N, "cgroup": G, "gather": T, "follow": F}
 *   {"request": "application-add", "name": N, "exe": X, "gather": T, "follow": F}
 *       Gathers values of a program that runs, every T, by default 1s, by the layout for its
 *       build-id, see dart_application(5); N is the name of the layout's first entry, up to a
 *       ":"; or "mmv", "jvm" or "varnish" for memory that describes itself.  The process is in the
 *       systemd unit U, has the number P, is in the cgroup G (a path below the root of the
 *       hierarchy) or below, or its executable matches the pattern X of fnmatch(3); without these,
 *       it is any process of the host with such a layout.  The request fails unless it finds one
 *       process.  With F true, it follows all such processes, now and as they start, which become
 *       instances after the reply; P cannot be followed.  Entries end with their process; without
 *       P the application waits for the next one.  The name of the application is in the reply.
 *       Root only.
 *   {"request": "application-list"}
 *   {"request": "application-show", "name": A}
 *   {"request": "application-remove", "name": A}
 *       A: the name in the reply to application-add.  The last one is for root only.
 *   {"request": "store-create", "name": N, "slots_log2": K, "value_length": V,
 *    "checksum_bits": C, "redundancy": R, "file": F, "epoch_ns": P, "epoch_reports": P,
 *    "keep_ns": T, "keep_bytes": B, "schema": S, "falling": true, "transport": W}
 *       Creates a store of 2^K slots, see <dart/store.h>; C, R, F and W are optional.  W is the
 *       connection of its reporters: "uc", "rc", or "auto", the default, which is "uc" if the RDMA
 *       device has such queue pairs when a reporter is added, and otherwise "rc".  With one P
 *       the store has epochs, see <dart/epoch.h>, that end after so many ns, or about so many
 *       reports; then the last four are optional: the oldest files go if they are older than T
 *       or all together longer than B, S is the name of a schema for their headers, and
 *       "falling" lowers the redundancy that is exported to reporters as the store fills.  F
 *       only names a file on tmpfs or hugetlbfs, whose descriptor, open for reading and
 *       writing, comes with the first byte.  The file is empty, or has the size of the
 *       store (in whole pages) and keeps its contents.  Without F, if the service
 *       manager kept the memory of a store with this name and geometry, the store gets
 *       that memory, with its contents.  Root only.
 *   {"request": "store-delete", "name": N}
 *       Disconnects the readers and ignores later reports.  If no store N exists,
 *       releases the memory that was kept for it, and the "store" of the reply has only
 *       a "name".  Root only.
 *   {"request": "store-list"}
 *   {"request": "store-open", "name": N}
 *       With the first byte of the reply comes a file descriptor to mmap() for
 *       reading: slot 0 is at its start, or as <dart/epoch.h> describes.
 *   {"request": "store-rotate", "name": N}
 *       Ends the present epoch of a store; within 10 s, if the one before is still being
 *       written to its file (EBUSY afterwards).  Root only.
 *   {"request": "epoch-list", "name": N, "since_ns": S, "until_ns": U}
 *       The epochs of a store of which a part lies from S to U, ns of CLOCK_REALTIME; both
 *       are optional.
 *   {"request": "epoch-open", "name": N, "since_ns": S}
 *       With the first byte of the reply comes a file descriptor to read the file of the epoch
 *       that began at S.
 *   {"request": "store-export", "name": N}
 *       Returns the configuration that reporters need.  Root only.
 *   {"request": "reporter-add", "store": N, "address": A}
 *   {"request": "reporter-remove", "store": N, "address": A}
 *       Adds or removes a reporter of the store, by its IPv4 address.  A reporter that
 *       does not answer ARP within three seconds is not added (EAGAIN).  Root only.
 *   {"request": "reporter-list", "store": N}
 *       The reporters of this store, or of all stores without "store".
 *   {"request": "table-create", "name": N, "rows_log2": K, "key_length": BYTES,
 *    "value_length": BYTES, "cells": C, "packet_length": BYTES, "shares": [FIRST, LAST],
 *    "file": F, "user": U}
 *       Creates a lookup table of 2^K rows, see <dart/tea.h>, for the keys of these shares;
 *       C, packet_length, shares ([0, 1023]), F and U are optional.  F as of store-create: a
 *       file of the table's size keeps its entries, except entries of other shares.
 *       U is the name of the user that may change entries, as root may, with 1 to 32 bytes
 *       (DART_REGISTRATION_TABLE_USER); it need not exist yet.
 *       Without F, if the service manager kept the memory of a table with this name,
 *       geometry and shares, the table gets that memory, with its entries.  Root only.
 *   {"request": "table-delete", "name": N}
 *       Disconnects the readers and ends the requesters.  If no table N exists, releases
 *       the memory that was kept for it, and the "table" of the reply has only a "name".
 *       Root only.
 *   {"request": "table-list"}
 *   {"request": "table-open", "name": N}
 *       With the first byte of the reply comes a file descriptor to mmap() for
 *       reading: the server's own copy, see <dart/tea_access.h>, is at its start.
 *   {"request": "table-change", "name": N, "count": COUNT}
 *       Inserts and removes entries.  The COUNT changes, 1 to
 *       DART_REGISTRATION_TABLE_CHANGES_MAX, are in a memfd or another regular file of tmpfs,
 *       whose descriptor, open for reading, comes with the first byte: from its start
 *       on, one after the other, an operation (1 byte, DART_REGISTRATION_TABLE_INSERT or
 *       DART_REGISTRATION_TABLE_REMOVE), a key and a value of the table's lengths; a
 *       removal has a value, too, which is ignored.  The agent makes the changes in this
 *       order, or none of them if the file is too short or contains another operation.
 *       When the reply is sent, switches and readers find the changes, and they outlive
 *       the agent as the table does.  Only for root and the user of the table; EPERM.
 *   {"request": "table-export", "name": N}
 *       Returns what switches need to know.  Root only.
 *   {"request": "requester-add", "table": N, "address": A}
 *       Adds a switch that looks the table up, by its IPv4 address: allocates a copy of
 *       all rows for it, and opens a queue pair.  The path MTU of the agent's device
 *       must be 4096.  A switch that does not answer ARP within three seconds is not added
 *       (EAGAIN).  Root only.
 *   {"request": "requester-remove", "table": N, "address": A}
 *       Root only.
 *   {"request": "requester-renew", "table": N, "address": A}
 *       Replaces the queue pair of a requester, such as one in the error state, by a new one
 *       with another number and first PSN; key and address stay.  EAGAIN as above.  Root only.
 *   {"request": "requester-list", "table": N}
 *       The requesters of this table, or of all tables without "table".
 *
 *   {"request": "journal-create", "name": N, "batches_log2": R, "entry_length": BYTES,
 *    "batch_log2": S, "lists_log2": L, "parts": P, "file": F}
 *       Creates a journal of 2^L lists for P appenders, see <dart/journal.h>; S, L, P and F
 *       are optional.  F as of store-create.  Without F, if the service manager kept the
 *       memory of a journal with this name and geometry, the journal gets that memory, with
 *       its entries.  Root only.
 *   {"request": "journal-delete", "name": N}
 *   {"request": "journal-list"}
 *   {"request": "journal-open", "name": N}
 *   {"request": "journal-export", "name": N}
 *       As the requests for stores; "export" returns the configuration that appenders need.
 *   {"request": "appender-add", "journal": N, "address": A}
 *   {"request": "appender-remove", "journal": N, "address": A}
 *       Adds or removes an appender, by its IPv4 address.  It gets the first part of the
 *       journal that no appender has, whose bytes become zeros.  EAGAIN as of reporter-add.
 *       Root only.
 *   {"request": "appender-list", "journal": N}
 *       The appenders of this journal, or of all journals without "journal".
 *
 *   {"request": "ledger-create", "name": N, "words_log2": W, "rows": R, "file": F}
 *       Creates a ledger of R rows of 2^W words, see <dart/ledger.h>; R and F are optional.  F as
 *       of store-create.  Without F, if the service manager kept the memory of a ledger with this
 *       name and geometry, the ledger gets that memory, with its sums.  Root only.
 *   {"request": "ledger-delete", "name": N}
 *   {"request": "ledger-list"}
 *   {"request": "ledger-open", "name": N}
 *   {"request": "ledger-export", "name": N}
 *       As the requests for stores; "export" returns the configuration that adders need.
 *   {"request": "adder-add", "ledger": N, "address": A}
 *   {"request": "adder-remove", "ledger": N, "address": A}
 *   {"request": "adder-renew", "ledger": N, "address": A}
 *       Adds or removes an adder, by its IPv4 address, or replaces its queue pair as
 *       requester-renew does.  EAGAIN as of reporter-add.  Root only.
 *   {"request": "adder-list", "ledger": N}
 *       The adders of this ledger, or of all ledgers without "ledger".
 *
 *   {"request": "sketch-create", "name": N, "columns_log2": W, "kind": K, "rows": D,
 *    "period": SECONDS, "parts": P, "file": F}
 *       Creates a sketch of D rows of 2^W columns for P sketchers, see <dart/sketch.h>; all but the
 *       name and W are optional.  K is "count-min" or "count-sketch".  F as of store-create.
 *       Without F, if the service manager kept the memory of a sketch with this name and geometry,
 *       the sketch gets that memory, with its counters.  Root only.
 *   {"request": "sketch-delete", "name": N}
 *   {"request": "sketch-list"}
 *   {"request": "sketch-open", "name": N}
 *   {"request": "sketch-export", "name": N}
 *       As the requests for stores; "export" returns the configuration that sketchers need.
 *   {"request": "sketcher-add", "sketch": N, "address": A}
 *   {"request": "sketcher-remove", "sketch": N, "address": A}
 *       Adds or removes a sketcher, by its IPv4 address.  It gets the first part of the sketch that
 *       no sketcher has, whose bytes become zeros.  EAGAIN as of reporter-add.  Root only.
 *   {"request": "sketcher-list", "sketch": N}
 *       The sketchers of this sketch, or of all sketches without "sketch".
 *
 *   {"request": "registration-list"}
 *       The registrations that the agent restores after a restart.
 *   {"request": "registration-save"}
 *       Writes the state file, after requests with "more", see below.
 *
 * Objects that register-source, follow-source, register-host, register-map, register-counters,
 * probe-load, application-add, store-create, reporter-add, table-create, requester-add,
 * journal-create, appender-add, ledger-create, adder-add, sketch-create and sketcher-add register
 * outlive the agent: the agent writes the request to its state file before it sends the reply, and
 * the next agent carries the request out again.  It opens an object that came as a descriptor by
 * its path: the path of the descriptor or, from root, the member "path" of such a request (for
 * eBPF maps, which have no path: where the map is pinned).  If that fails the
 * registration is missing, and the agent tries it again now and then, until this or another
 * request registers the object, or the request that would have ended it succeeds.  With the member
 * "more": true such a request, or a request that ends an object, does not write the state file:
 * the next request without "more" or registration-save does, or the agent itself within 1 s.
 * Counters that the agent creates start from 0 with another "counters_id".
 *
 * Replies: {"ok": true, ...} with, for list, "entries"; for show, "entry"; for status, "status";
 * for coverage, "coverage"; for follow-source, "follow"; for register-host, "host" as in list;
 * for probe-list, "probes"; for probe-load and -unload, "probe" as in probe-list; for
 * application-list, "applications"; for application-add, -show and -remove, "application" as in
 * application-list; for store-list, "stores"; for store-create, -delete and -open, "store" as in
 * store-list; for store-rotate, the "epochs" of the store; for epoch-list, "epochs", the oldest
 * first; for epoch-open, "epoch", an object with "since_ns"; for store-export, "collectors", as in
 * dart_collectors(5); for reporter-list, "reporters"; for reporter-add and -remove, "reporter" as
 * in reporter-list; for table-list, "tables"; for table-create, -delete and -open, "table" as in
 * table-list; for table-change, "changes"; for table-export, "tables", as in dart_tables(5); for
 * requester-list, "requesters"; for requester-add, -remove and -renew, "requester" as in
 * requester-list; for journal-list, "journals"; for journal-create, -delete and -open, "journal"
 * as in journal-list; for journal-export, "journals", as in dart_journals(5); for appender-list,
 * "appenders"; for appender-add and -remove, "appender" as in appender-list; for ledger-list,
 * "ledgers"; for ledger-create, -delete and -open, "ledger" as in ledger-list; for ledger-export,
 * "ledgers", as in dart_ledgers(5); for adder-list, "adders"; for adder-add, -remove and -renew,
 * "adder" as in adder-list; for source-list, "sources"; for source-plan, "plan"; for
 * controller-list, "controllers"; for controller-disconnect, "controller" as in controller-list;
 * for monitor, "monitor": true; for registration-list, "registrations"; for registration-save,
 * "saved": true; for all others, "entry", as in list, where followers and the host come last.
 * Or {"ok": false, "error": E, "message": M}: E is the name of an errno, such as "EEXIST", M a
 * sentence.
 *
 * A reply may have a "warning", a sentence: the request was carried out, but a
 * restart will undo it, because the state file cannot be written.
 *
 * Every reply has the "version" of the agent, such as "0.1".
 *
 * In list, a follower that is part of the host has "part_of": "host", and the host
 * {"name": "host", "kind": "host", "gather_ms": 1000, "deferrable": false, "entries": 812,
 * "followers": 12, "failures": 1, "left_out": [{"source": S, "reason": a sentence}, ...]}.
 * "failures" counts the objects that a follower, or the sources that the host, should have
 * registered and could not.  "lacking" counts the objects of a follower that have no values of its
 * source and are not missing, such as a network device that does not count by CPU.
 *
 * "coverage", of status, too, has an object for each kind of objects: {"kind":
 * "filesystems", "netdevs", "disks", "cgroups", "namespaces", "sources", "probes" or
 * "maps", "present": how many the host has, "served": how many of these have entries,
 * "missing": [{"reason": "unregistered", "watches", "memory", "table", "name", "quota",
 * "permission", "invisible", "unsupported" or "other", "count": how many, "example": the
 * name of one, "why": a sentence or "", "remedy": a command or a sentence}, ...]}.
 * "present" is "served" and all counts of "missing".
 *
 * In list, each entry and follower has "owner", the user id of the client that
 * registered it, and "age_s", the whole seconds since then.
 *
 * A source: {"name": "snmp:tcp", "selector": "none", "netns", "netdev", "disk",
 * "cgroup" or "filesystem", "follows": true if follow-source takes it, "gathered_only": true if it
 * needs the member "gather", "description": "TCP counters of a network namespace"}.
 *
 * A plan: {"source": S, "interval_ms": T, "objects": N, "way": "direct" or "gathered", "gather":
 * the interval as register-source takes it, "direct": {"copies": of an object, "runs": of adjacent
 * bytes in a copy, "reads": R, "at_most": true, "bytes": B, "reads_share": the part of the interval
 * that the READs take}, "gathered": {"rows": of an object, "row_bytes": B, "reads": R, "at_least":
 * true, "bytes": B, "pass_ns": that adding up the copies of an object took, "cpu_share": the part
 * of the interval that gathering keeps a CPU busy}, "reasoning": [a sentence, ...]}; "reads" and
 * "bytes" are of all N objects.  "gather" is there only if the way is "gathered", "direct" not if
 * that way is impossible, "pass_ns" and "cpu_share" only with "direct"; "at_most" is there with
 * page exposure, and "at_least" if only the record itself would tell its rows.
 *
 * A controller: {"peer": "10.0.0.2:41234", "kind": "controller", "reader", "table reader",
 * "journal reader" or "ledger reader", "store": N, "table": N, "journal": N, "ledger": N, "age_s":
 * 17}; "store" is there only for a reader, "table" only for a table reader, and so on; "age_s"
 * counts from the connection.
 *
 * A change: {"time_ms": CLOCK_REALTIME in ms, "event": E, "object": O, "name": N}.
 * E and O: "added", "removed" or "ended" (its counters no longer exist) of an
 * "entry", "follower" or "host"; "rotated" of a "store", whose numbers in store-export are other
 * ones; "added" or "removed" of a "store" or "reporter" (N is its
 * address, and "store" names its store); "added" or "removed" of a "table";
 * "added", "removed" or "renewed" of a "requester" (N is its address, and "table" names
 * its table); "added" or "removed" of a "journal" or "appender" (N is its address, and
 * "journal" names its journal); "added" or "removed" of a "ledger"; "added", "removed" or "renewed"
 * of an "adder" (N is its address, and "ledger" names its ledger); "loaded" or "unloaded" of a
 * "probe"; "connected" or "disconnected" of a "controller", "reader", "table reader", "journal
 * reader" or "ledger reader" (N is its "peer").
 *
 * A probe: {"name": N, "loaded": true, "entries": ["tcp"], "missed": 0,
 * "description": "TCP traffic of the host"}; "missed", the number of events not
 * counted since it was loaded, is present only while it is loaded.
 *
 * A store: {"name": N, "slots_log2": 20, "value_length": 20, "checksum_bits": 32,
 * "redundancy": 2, "transport": W, "bytes": 25165824, "huge_pages": false, "file": F, "epoch": S,
 * "reporters": 1, "readers": 0}; "file" is present only if the store has one; S: as in
 * dart_collectors(5); "reporters" and "readers" count the connected ones.  With epochs it has
 * "epochs": {"bank": 0 or 1, of <dart/epoch.h>, "since_ns": of the present epoch, "period_ns" or
 * "reports": P, "keep_ns": T, "keep_bytes": B, "schema": S, "falling": false, "redundancy": of
 * reports now, "written": epochs in files, "lost": epochs whose memory was needed before they were
 * in a file, "late": rotations that waited for a file, "late_slots": slots that reports wrote after
 * their epoch was in its file, counted at the next rotation}; the last four count since the agent
 * created or took over the store.
 *
 * An epoch: {"since_ns": S, "until_ns": U or null, "in": "memory" or "file", "bank": B}; "bank" is
 * there only in memory.
 *
 * A reporter: {"store": N, "reporter": A, "qpn": 17, "transport": "uc" or "rc", "state": "ready" or
 * "error", "first_psn": 5, "expected_psn": 12}; state is "error" after an invalid report over a
 * reliable connection, and expected_psn, which is there only over one, is the PSN of the next
 * report, both as the device knows them.
 *
 * A table: {"name": N, "rows_log2": 17, "cells": 8, "key_length": 13, "value_length": 7,
 * "packet_length": 1514, "shares": [0, 1023], "bytes": 53609640, "view_bytes": 268435456,
 * "huge_pages": false, "file": F, "epoch": E, "entries": 80000, "stashed": 3, "load":
 * 0.0763, "moves": 120, "full": 0, "requesters": 1, "readers": 0}; "bytes" is the size of
 * the server's own copy, "view_bytes" that of the copy of each requester; "file" is
 * present only if the table has one; E: as in dart_tables(5); "load": entries divided by
 * all cells; "moves" counts moves of entries to other cells, and "full" insertions that
 * found no cell, since the agent created or took over the table; "requesters" and
 * "readers" count the connected ones.
 *
 * Changes of a table: {"inserted": 10, "changed": 2, "stashed": 0, "removed": 5, "missing": 0,
 * "foreign": 0, "full": 0}: "changed" were insertions of keys that had an entry,
 * "stashed" are among "inserted", "missing" were removals of keys without an entry;
 * "foreign" (keys whose share is another server's) and "full" (no place) were not made.
 *
 * A requester: {"table": N, "requester": A, "qpn": 17, "state": "ready" or "error",
 * "first_psn": 5, "expected_psn": 12, "bytes": 268435456, "huge_pages": false,
 * "renewals": 0}; state and expected_psn, the PSN of the next request, as the device
 * reports them now.
 *
 * A journal: {"name": N, "batches_log2": 12, "entry_length": 41, "batch_log2": 8,
 * "lists_log2": 0, "parts": 8, "bytes": 8388608, "huge_pages": false, "file": F, "epoch": S,
 * "appenders": 1, "readers": 0}, as a store.
 *
 * An appender: {"journal": N, "appender": A, "part": 0, "qpn": 17}.
 *
 * A ledger: {"name": N, "rows": 2, "words_log2": 16, "bytes": 1048584, "huge_pages": false,
 * "file": F, "epoch": S, "adders": 1, "readers": 0}, as a store.
 *
 * An adder: {"ledger": N, "adder": A, "qpn": 17, "state": "ready" or "error", "first_psn": 5,
 * "expected_psn": 12, "renewals": 0}, as a requester.
 *
 * A sketch: {"name": N, "kind": "count-min", "rows": 4, "columns_log2": 16, "period": 10,
 * "parts": 8, "bytes": 17563648, "huge_pages": false, "file": F, "epoch": S, "sketchers": 1,
 * "readers": 0}, as a store.
 *
 * A sketcher: {"sketch": N, "sketcher": A, "part": 0, "qpn": 17}.
 *
 * A registration: {"name": "entry cpustat", "request": {the request, without "path"},
 * "path": P, "owner": UID, "origin": "command" or "configuration", "missing": why it could
 * not be restored}; path and missing are present only if they apply, and name once the agent
 * has carried the request out: "entry", "follower", "host", "probe", "store", "table", "journal",
 * "ledger" or "sketch" and its name, or "reporter", "requester", "appender", "adder" or "sketcher",
 * its store, table, journal, ledger or sketch, and its address.
 *
 * Names of entries: 1 to DART_REGISTRATION_NAME_MAX - 1 characters out of letters, digits and
 * "_-.:/@+=%~", or up to DART_CONTROL_ENTRY_NAME_MAX - 1 (see <dart/control.h>) for names
 * that the agent forms, such as those of sources.  Names of stores: the same, up to
 * DART_STORE_NAME_MAX - 1 characters (see <dart/store_access.h>).  Names of tables: up to
 * DART_TEA_NAME_MAX - 1 characters (see <dart/tea_access.h>).  Names of journals: up to
 * DART_JOURNAL_NAME_MAX - 1 characters (see <dart/journal_access.h>).  Names of ledgers: up to
 * DART_LEDGER_NAME_MAX - 1 characters (see <dart/ledger_access.h>).  Names of sketches: up to
 * DART_SKETCH_NAME_MAX - 1 characters (see <dart/sketch_access.h>).
 *
 * The mode of the socket decides who may connect: root, and the group "dart" where it
 * exists.  DART_REGISTRATION_CLIENTS clients can be connected at a time, unless the
 * agent's configuration sets another number; a further one gets a reply with the error
 * "EUSERS", unasked, and is disconnected.  The agent reads no further requests of a
 * user other than root for some time after too many of them, see dartd.yaml(5).
 */
#ifndef _UAPI_DART_REGISTRATION_H
#define _UAPI_DART_REGISTRATION_H

#define DART_REGISTRATION_SOCKET	"/run/dart/dartd.sock"
#define DART_REGISTRATION_REQUEST_MAX	65536
#define DART_REGISTRATION_NAME_MAX	256
#define DART_REGISTRATION_MONITOR_QUEUE	262144	/* bytes */
#define DART_REGISTRATION_FIELDS_MAX	1024	/* of a slice's schema */
#define DART_REGISTRATION_MEMORY_PAGES_MAX	256	/* of slices */
#define DART_REGISTRATION_SLICE_ALIGNMENT	64	/* bytes */
/* The first byte of a short form. */
#define DART_REGISTRATION_SHORT	'+'
#define DART_REGISTRATION_CLIENTS	64

/* Changes of one request: other requests wait meanwhile. */
#define DART_REGISTRATION_TABLE_CHANGES_MAX	2048
/* Operations of the records of a request table-change. */
#define DART_REGISTRATION_TABLE_INSERT	1
#define DART_REGISTRATION_TABLE_REMOVE	2
/* The user that may change the entries of a table for which none is named: of dart-flows(8). */
#define DART_REGISTRATION_TABLE_USER	"dart-flows"

#endif /* _UAPI_DART_REGISTRATION_H */
