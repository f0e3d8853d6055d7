/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests of <dart/registration.h> and their replies.  Each room exports a
 * table of the types it handles; agent.c pairs the table with the subject of its
 * handlers.
 */
#ifndef REQUEST_H
#define REQUEST_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <libdart/error.h>

#include "reply_text.h"

struct request {
	void *subject;	/* the object that agent.c paired the table with */
	json_t *members;	/* without "request" and "path"; hostile */
	/* Where root opened @fd, by its own words; NULL if it did not say. */
	char *path;
	const char *text;	/* the only member, see struct request_type; or of a short form */
	int fd;	/* sent with the request, owned by the caller; or -1 */
	bool has_extra_fd;	/* more came, or one after the first byte */
	uid_t uid;		/* of the peer */
	/* -1, or set by the handler: sent with the reply, then closed. */
	int *reply_fd;
	/* Set by the handler: new reference, NULL if out of memory; or @error. */
	json_t *result;
	/*
	 * Or set by a handler whose result is long: the reply up to the end of the result, begun by
	 * reply_text__begin().
	 */
	struct reply_text answer;
	struct dart_error error;
	/*
	 * State that the handler needs when the registration is restored: the handler sets it (a
	 * new reference), and then gets it back, and leaves or replaces it.  It comes from a file:
	 * check it.
	 */
	json_t *kept;
	/*
	 * Of the client, NULL without one: the place of the last slice that it registered, as the
	 * handler notes it for short forms; 0: none.
	 */
	uint64_t *slice;
	/*
	 * Set by a handler that fails because something is missing that may come
	 * at any moment: a client is not answered yet, and its request is handled
	 * again, until three and a half seconds have passed: the kernel sends an ARP request three
	 * times, a second apart, before it gives up (mcast_solicit and retrans_time_ms in arp(7)).
	 */
	bool is_early;
	/*
	 * Set by a handler that fails because work is under way that its result depends on: as
	 * above, but until ten seconds have passed.
	 */
	bool is_under_way;
	bool has_more;	/* the state file may wait for the next request */
	/* Set by a handler: root chose the user who may make this request, whose time is free. */
	bool is_free;
	bool is_monitor;	/* changes follow the reply; set by "monitor" */
	bool is_refused;	/* set by dispatch() */
	bool has_short_reply;	/* without a result; set by dispatch() */
};

enum request_fd {
	REQUEST_FD_NONE,
	REQUEST_FD_OPTIONAL,
	REQUEST_FD_REQUIRED,
};

struct request_type {
	const char *name;	/* NULL ends a table */
	const char *result;	/* name of the result in the reply */
	int (*handle)(struct request *request);	/* 0 or -errno */
	/* The only member, a string; "": no members; NULL: handle() unpacks. */
	const char *member;
	const char *only_root;	/* "only root may ..."; NULL: every client may */
	enum request_fd fd;
	/*
	 * The kind of object, "entry" or the like, that a successful request
	 * registers, to be restored after a restart of dartd, or that it ends.
	 */
	const char *keeps;
	const char *ends;
	bool is_short;	/* DART_REGISTRATION_SHORT is @name, and the line is not JSON */
};

/* A table of types and the subject of their requests. */
struct request_table {
	const struct request_type *types;	/* NULL ends a list of tables */
	void *subject;
};

/* Told of requests that are to outlive this process; see agent/registration/. */
struct request_recorder {
	/*
	 * A request of a type that keeps or ends an object has succeeded, and its reply will be
	 * sent.  On failure @request->error is the warning for the client.
	 */
	int (*succeeded)(struct request_recorder *recorder, const struct request_type *type,
			 struct request *request);
	/*
	 * The object that a request would have ended does not exist.  Returns
	 * true if it was waiting to be restored, which is over now.
	 */
	bool (*forget)(struct request_recorder *recorder, const struct request_type *type,
		       struct request *request);
};

/* Replaces @request->kept, and takes over @kept: see struct request. */
void request__keep(struct request *request, json_t *kept);

/* Unpacks the members; refuses a request with others. */
int request__unpack(struct request *request, const char *format, ...);
/* Returns -EPERM unless the peer is root or @owner, who owns @name. */
int request__check_owner(struct request *request, uid_t owner, const char *name);

/* Replies: new references, NULL if out of memory. */

/* {"ok": true, "version": V, @key: @value}; takes over @value, may be NULL. */
json_t *reply__ok(const char *key, json_t *value);
/* {"ok": false, "version": V, "error": name of -@ret, "message": @message} */
json_t *reply__error(int ret, const char *message);

/*
 * Writes @reply as a line, which the caller frees, and takes its reference.
 * The newline takes the place of the NUL.
 */
char *reply__line(json_t *reply, size_t *length);

/* The reply to a short form that succeeded, as reply__line(). */
char *reply__short(size_t *length);

/*
 * Appends @item and takes its reference.  If either is NULL or memory runs out,
 * frees the list and sets *@list to NULL.
 */
void reply__append(json_t **list, json_t *item);

#endif /* REQUEST_H */
