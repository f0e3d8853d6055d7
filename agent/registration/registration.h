/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A registration: a request that dartd has carried out, or was to carry out, and
 * that it carries out again after a restart.
 */
#ifndef REGISTRATION_H
#define REGISTRATION_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/queue.h>
#include <sys/types.h>

#include <libdart/error.h>

#include "agent/base/request.h"

enum registration_origin {
	REGISTRATION_BY_COMMAND,	/* over the registration socket */
	REGISTRATION_BY_CONFIGURATION,
};

struct registration {
	TAILQ_ENTRY(registration) link;
	/* Kind and name of the object, "entry cpustat"; NULL: not known yet. */
	char *name;
	json_t *request;	/* with "request", without "path" */
	char *path;	/* where the object of the request is opened, or NULL */
	json_t *kept;	/* as in struct request, or NULL */
	char *place;	/* FILE:LINE of the configuration, or NULL */
	uid_t owner;
	enum registration_origin origin;
	bool is_wanted;	/* the configuration wants it; while that is compared */
	/* Why it could not be carried out; NULL: its object is there. */
	char *missing;
	int code;	/* errno of the failure; EINPROGRESS: work for it is under way */
};

/*
 * All take new references and copies of their arguments; a registration that is
 * new is missing.  NULL: out of memory.
 */
struct registration *registration__new(const json_t *request, const char *path, uid_t owner,
				       enum registration_origin origin);
void registration__free(struct registration *registration);

/* A sentence, or NULL; without memory for it, the empty one. */
void registration__set_missing(struct registration *registration, const char *sentence);

/* The same request about the same object. */
bool registration__equals(const struct registration *registration,
			  const json_t *request, const char *path);

/* The kind of objects that end with one of @kind, "reporter" with "store", or NULL. */
const char *registration__part_of(const char *kind);
/* "store" for "reporter", or NULL if objects of @kind do not belong to another. */
const char *registration__whole_of(const char *kind);

/*
 * "entry cpustat", or "reporter STORE ADDRESS", of the result of a request about
 * an object of this kind; the caller's.  NULL: out of memory, or no such result.
 */
char *registration__name_of(const char *kind, const json_t *result);

/* The request that ends the object, which has a name; NULL: out of memory. */
json_t *registration__to_end(const struct registration *registration);

/* Takes a copy: "FILE:LINE". */
void registration__set_place(struct registration *registration,
			     const char *file, unsigned int line);

/* New references; NULL: out of memory.  @is_for_file: with "kept". */
json_t *registration__to_json(const struct registration *registration, bool is_for_file);
/* NULL: out of memory, or @json is not a registration. */
struct registration *registration__from_json(const json_t *json);

#endif /* REGISTRATION_H */
