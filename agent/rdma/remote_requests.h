/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests of <dart/registration.h> that stores and lookup tables have in common.  The subject of
 * each request is a struct remote_objects.
 */
#ifndef REMOTE_REQUESTS_H
#define REMOTE_REQUESTS_H

#include "agent/base/request.h"
#include "remote_objects.h"

/* -ENOENT if there is no object called @name. */
int remote_requests__find(struct request *request, const char *name, struct remote_object **object);
/* Answers the creation of @object, and keeps @kept for the next dartd, whose reference it takes. */
void remote_requests__tell_created(struct request *request, const struct remote_object *object,
				   const struct remote_origin *origin, json_t *kept);

/* The object and the peer that a request names. */
struct named_peer {
	struct remote_object *object;
	const char *text;
	struct in_addr address;
	struct remote_peer *peer; /* NULL if there is none */
};

/* -ENOENT if there is no such peer; -EEXIST if there is one. */
int remote_requests__find_peer(struct request *request, struct named_peer *named);
int remote_requests__find_no_peer(struct request *request, struct named_peer *named);
/* Answers with the peer. */
void remote_requests__tell_peer(struct request *request, const struct named_peer *named);

/* Handlers.  The request names an object, in its only member. */
int remote_requests__delete(struct request *request);
int remote_requests__open(struct request *request);
int remote_requests__export(struct request *request);
int remote_requests__list(struct request *request);
/* The peers of all objects, or of the object that the request names. */
int remote_requests__list_peers(struct request *request);

#endif /* REMOTE_REQUESTS_H */
