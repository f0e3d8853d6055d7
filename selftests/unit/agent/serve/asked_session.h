/* SPDX-License-Identifier: GPL-2.0-only */
/* A session of the agent whose requests a test makes, and whose messages it takes. */
#ifndef ASKED_SESSION_H
#define ASKED_SESSION_H

#include <string.h>

#include "agent/serve/session.h"
#include "served_host.h"

#define REQUEST_ID 77

static struct serve_counts counts;

struct fixture {
	struct served_host *host;
	struct snapshots snapshots;
	struct sessions sessions;
	struct session session;
	uint8_t request[DART_RPC_REQUEST_MAX];
	uint8_t message[DART_RPC_ANSWER_MAX];
};

static const struct sockaddr loopback = { .sa_family = AF_INET, .sa_data = { 0, 0, 127, 0, 0, 1 } };

/* How often a session had a message without a request. */
static unsigned int messages;

static inline void note_message(struct session *session)
{
	assert_false(session__is_idle(session));
	messages++;
}

static inline int open_fixture(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	counts = (struct serve_counts){};
	fixture->host = served_host__new();
	snapshots__open(&fixture->snapshots, &fixture->host->control_region);
	sessions__open(&fixture->sessions, &fixture->snapshots, &counts);
	session__open(&fixture->session, &fixture->sessions, &loopback, note_message);
	*state = fixture;
	return 0;
}

static inline int close_fixture(void **state)
{
	struct fixture *fixture = *state;

	session__close(&fixture->session);
	assert_int_equal(fixture->snapshots.count, 0);
	served_host__free(fixture->host);
	free(fixture);
	return 0;
}

static inline void ask(struct fixture *fixture, size_t length)
{
	struct dart_error error;

	assert_int_equal(session__take(&fixture->session, fixture->request, length, &error), 0);
}

/* The next message, of at most @size bytes, in a buffer of exactly its length. */
static inline struct dart_rpc_message next(struct fixture *fixture, size_t size)
{
	struct dart_rpc_message message;
	struct dart_error error;
	size_t length;

	length = session__next(&fixture->session, fixture->message, size);
	assert_in_range(length, 1, size);
	assert_int_equal(dart_rpc_message__decode(fixture->message, length, &message, &error), 0);
	return message;
}

static inline void expect_error(struct fixture *fixture, enum dart_rpc_error_code code, const char *words)
{
	const struct dart_rpc_message message = next(fixture, DART_RPC_ANSWER_MIN);

	assert_int_equal(message.type, DART_RPC_ERROR);
	assert_int_equal(message.error.code, code);
	if (!strstr(message.error.reason, words))
		fail_msg("\"%s\" instead of \"%s\"", message.error.reason, words);
	assert_int_equal(session__next(&fixture->session, fixture->message, DART_RPC_ANSWER_MAX),
			 0);
}

static inline void ask_values(struct fixture *fixture, const struct seen_table *seen,
		       struct dart_rpc_landing *landing)
{
	dart_rpc_landing__begin(landing, seen->plan, seen->landing);
	ask(fixture, dart_rpc_landing__put_request(landing, REQUEST_ID, fixture->request));
}

#endif /* ASKED_SESSION_H */
