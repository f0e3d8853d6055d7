/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The control socket, for `dartctl flow`.  A client sends a line of JSON and reads a line of JSON:
 *
 *   {"request": "flow-list", "place": P}
 *       {"ok": true, "flows": [FLOW...], "place": Q}: some flows; the next ones are at Q, and
 *       without "place" there are no more.  P is 0 at first.
 *   {"request": "flow-show", "protocol": T, "inside": A, "remote": B}
 *   {"request": "flow-end", ...}
 *       {"ok": true, "flow": FLOW} with the flow before it ends.
 *   {"request": "flow-status"}
 *       {"ok": true, "status": {...}}
 *   {"request": "flow-servers"}
 *       {"ok": true, "servers": [SERVER...]}
 *
 * An error is {"ok": false, "error": "ENOENT", "message": SENTENCE}.  A FLOW: {"protocol": "udp",
 * "inside": "10.0.0.5:4000", "outside": "203.0.113.1:4000", "remote": "198.51.100.1:53", "state":
 * "entered", "connection": null, "age_s": seconds in this state, "static": false, "packets": N,
 * "bytes": N}; the last two count the packets that came to the daemon.  A function that tracks
 * connections gives their state as "connection".  A SERVER of a balancer: {"protocol": "tcp",
 * "service": "192.0.2.10:443", "server": "10.1.0.1:8443", "weight": 1, "state": "up", "draining"
 * or "down", "flows": N, "checks": N, "failures": N, "reason": of the last failure, or null}.
 *
 * Clients are strangers: their number, their requests and the answers to each are bounded, and a
 * client that does not read its answer is not read from.
 */
#ifndef FLOWS_CONTROL_H
#define FLOWS_CONTROL_H

#include <jansson.h>
#include <systemd/sd-event.h>

#include "tools/flows/function/function.h"

#define CONTROL_SOCKET "/run/dart-flows/control.sock"
#define CONTROL_CLIENTS 16
#define CONTROL_REQUEST_MAX 1024

struct control;

/* The function outlives the control.  New references are NULL if out of memory. */
struct control_subject {
	struct function *function;
	json_t *(*status)(void *subject); /* a new reference */
	json_t *(*servers)(void *subject); /* a new reference; NULL: the function has no servers */
	/* writes what a request changed to the journal; 0, or -errno with a sentence in @error */
	int (*settle)(void *subject, struct dart_error *error);
	void *subject;
};

/*
 * Listens at @path, which it replaces if nobody listens there.  Returns 0, or -errno with a
 * sentence in @error.
 */
int control__new(sd_event *event, const char *path, const struct control_subject *subject,
		 struct control **control, struct dart_error *error);
/* Removes the socket. */
void control__free(struct control *control);

#endif /* FLOWS_CONTROL_H */
