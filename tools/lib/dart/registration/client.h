/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A client of the registration socket of dartd, see <dart/registration.h>.
 *
 *	struct dart_registration_client client;
 *	json_t *reply;
 *
 *	ret = dart_registration_client__open(&client,
 *					     DART_REGISTRATION_SOCKET, &error);
 *	if (!ret)
 *		ret = dart_registration_client__ask(&client, request, -1,
 *						    &reply, NULL, &error);
 *
 * Functions block unless their comment says otherwise.  Functions that return int return 0, or
 * -errno with a sentence in @error.  A client belongs to one thread at a time.
 */
#ifndef DART_REGISTRATION_CLIENT_H
#define DART_REGISTRATION_CLIENT_H

#include <jansson.h>

#include <libdart/error.h>

struct dart_registration_client {
	int socket;
	char *bytes; /* that have been received but not returned */
	size_t length, size; /* of these; and of their memory */
	int fd; /* that came with them, or -1 */

	char *line; /* the request, until all of it was sent */
	size_t line_length, line_sent;
	int line_fd; /* not yet sent with it, or -1 */
};

/* Connects to the socket @path.  After a failure there is nothing to close. */
int dart_registration_client__open(struct dart_registration_client *client,
				   const char *path, struct dart_error *error);
/* The same without blocking: -EAGAIN if dartd has not accepted others yet. */
int dart_registration_client__open_now(struct dart_registration_client *client, const char *path,
				       struct dart_error *error);
void dart_registration_client__close(struct dart_registration_client *client);

/*
 * Sends @request, with @fd unless it is -1, and waits for the reply.  The caller
 * owns both, and the results: *@reply, and *@received, the descriptor that came
 * with it, or -1.  If @received is NULL, a descriptor is closed.
 *
 * A refusal is a failure with the errno and the sentence that dartd gives; its
 * reply is in *@reply nevertheless.  After any other failure *@reply is NULL,
 * and the client is good only for being closed.
 */
int dart_registration_client__ask(struct dart_registration_client *client, const json_t *request,
				  int fd, json_t **reply, int *received, struct dart_error *error);

/*
 * The same for a reply with very many elements, which stays text: one line of JSON with its
 * newline, of *@length bytes at *@text, which the caller frees.  Only its beginning was looked
 * at: it may be invalid.  If dartd refuses, *@reply is the refusal, and otherwise NULL.  A
 * descriptor that comes with the reply is closed.
 */
int dart_registration_client__ask_text(struct dart_registration_client *client,
				       const json_t *request, int fd, char **text, size_t *length,
				       json_t **reply, struct dart_error *error);

/*
 * The two halves of ask, which do not block: begin takes a request, whose @fd
 * must stay open, and proceed is then called, whenever the socket has
 * dart_registration_client__events() for poll(2), as long as it returns -EAGAIN
 * and *@reply is NULL; @error is not set then.
 */
int dart_registration_client__begin(struct dart_registration_client *client, const json_t *request,
				    int fd, struct dart_error *error);
int dart_registration_client__proceed(struct dart_registration_client *client, json_t **reply,
				      int *received, struct dart_error *error);
short dart_registration_client__events(const struct dart_registration_client *client);

/*
 * The next line that dartd sends without being asked, after a request such as
 * "monitor"; the caller's.  -EPIPE: dartd has disconnected.
 */
int dart_registration_client__next(struct dart_registration_client *client,
				   json_t **line, struct dart_error *error);

#endif /* DART_REGISTRATION_CLIENT_H */
