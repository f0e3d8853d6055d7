/* SPDX-License-Identifier: GPL-2.0-only */
/* Requests of commands to dartd: see <dart/registration.h>. */
#ifndef CLIENT_H
#define CLIENT_H

#include <jansson.h>

#include <libdart/registration/client.h>

#include "options.h"
#include "reply.h"
#include "table.h"

/* A request that consists of operands only. */
struct client_request {
	const char *name;
	const char *members[2];	/* of the request, which take the operands */
	const char *answer;	/* member of the reply */
	/* How to print the answer without --json: as a table with @columns, or by @print. */
	const struct table_column *columns;
	int (*print)(json_t *answer);	/* returns an exit status */
};

/*
 * Sends @request, whose reference it takes, with @fd unless that is -1, and returns @member of the
 * reply: a borrowed reference into *@reply, which the caller releases.  Unless @received is NULL,
 * *@received becomes the descriptor that came with the reply, which the caller closes, or -1.
 * Returns NULL after a failure, with its message printed.
 */
json_t *client__ask(const struct options *options, json_t *request, int fd,
		    const char *member, json_t **reply, int *received);

/*
 * Asks likewise, and prints @member as @form says without making a tree of the reply.  Returns an
 * exit status.
 */
int client__print(const struct options *options, json_t *request, int fd, const char *member,
		  const struct reply_form *form);

/* Asks like client__ask(), but prints @member with --json, and returns an exit status. */
int client__do(const struct options *options, json_t *request, int fd, const char *member);
/*
 * Asks dartd to create an object, likewise.  Unless @file is NULL the object's memory is that file,
 * which is created if needed: the request names it, and carries its descriptor.  A file that this
 * function created goes after a refusal, and stays, with a warning, if the reply is lost: dartd may
 * use it.
 */
int client__create(const struct options *options, json_t *request, const char *file,
		   const char *member);
/* A new member of a request; NULL if the number is negative, which stands for none. */
json_t *client__optional(long long number);
/* Makes the request from the operands @argv, and prints the answer likewise. */
int client__run(const struct options *options,
		const struct client_request *request, int argc, char **argv);

/* Connects for more than one request; see above for messages and statuses. */
int client__open(const struct options *options, struct dart_registration_client *client);
/* Prints the warning of a reply: dartd carried out the request, with a caveat. */
void client__print_warning(const json_t *reply);
/*
 * Prints why a request failed.  If @reply, which may be NULL, comes from another release of dartd,
 * also tells whether to upgrade dartd or dartctl.  Returns an exit status.
 */
int client__fail(int ret, const json_t *reply, struct dart_error *error);

#endif /* CLIENT_H */
