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
 *   {"request": "register-source", "source": S}
 *       S: "cpustat", "vmstat" or "softnet"; the entry gets this name.  From a
 *       peer whose user is root.
 *   {"request": "register-map", "name": N}
 *       With the first byte comes one file descriptor (SCM_RIGHTS): an eBPF
 *       array map created with BPF_F_MMAPABLE, open for reading.  N is the
 *       name of the entry and may be left out: then it is the map's name.
 *   {"request": "unregister", "name": N}
 *       From root, or from the user who has registered N.
 *   {"request": "list"}
 *   {"request": "show", "name": N}
 *   {"request": "status"}
 *   {"request": "probe-list"}
 *   {"request": "probe-load", "name": N}
 *   {"request": "probe-unload", "name": N}
 *       N: an eBPF program that the agent brings with it; its maps are entries
 *       while it is loaded.  From root.
 *
 * Replies: {"ok": true, ...} with, for list, "entries"; for show, "entry"; for
 * status, "status"; for probe-list, "probes"; for the other two of probes,
 * "probe" as in probe-list; for the rest, "entry" as in list.  Or {"ok": false,
 * "error": E, "message": M}: E is the name of an errno, such as "EEXIST", M a
 * sentence in English.
 *
 * A probe: {"name": N, "loaded": true, "entries": ["tcp"], "missed": 0,
 * "description": "TCP traffic of the host"}; "missed", events that went
 * uncounted since it was loaded, is there only if it is.
 *
 * Names of entries: 1 to DART_REGISTRATION_NAME_MAX - 1 characters out of
 * letters, digits and "_-.:/@\+=%~,".
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
