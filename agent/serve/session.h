/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One peer of <dart/rpc.h>, whatever its connection: takes its requests, whose bytes are hostile,
 * and makes the messages of the answers, each when it can be sent.
 */
#ifndef SESSION_H
#define SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include <libdart/error.h>

#include "agent/base/counts.h"
#include "agent/base/epoch_service.h"
#include "agent/base/lookup_service.h"
#include "agent/table/values.h"
#include "snapshot.h"

/* Callers over RDMA, and as many over TCP, unless the configuration sets another number. */
#define CALLERS_MAX 64

/* Shared by the sessions of one transport; the snapshots are shared by all transports. */
struct sessions {
	struct control_region *control_region;
	struct snapshots *snapshots;
	/* Set after sessions__open(), and outlives the sessions.  NULL: no store has epochs. */
	const struct epoch_service *epochs;
	/* The same.  NULL: no caller may change lookup tables. */
	const struct lookup_service *lookups;
	/* Names of callers that may; they belong to the configuration. */
	const char *const *changers;
	size_t changer_count;
	struct serve_counts *counts;
};

struct session {
	struct sessions *sessions;
	struct sockaddr_storage address;
	const char *name;	/* that its certificate proves; NULL: none */
	enum session_state {
		SESSION_IDLE,		/* waits for a request */
		SESSION_TABLE,		/* these answer one */
		SESSION_VALUES,
		SESSION_LIST,		/* of epochs, or about lookup tables */
		SESSION_EPOCH,
		SESSION_ERROR,		/* one is to be sent */
	} state;
	bool is_over;		/* after the error */
	struct audience_member member;
	uint32_t id;		/* of the request */
	uint32_t sent;		/* bytes of the answer */
	struct snapshot *snapshot;	/* of a table */
	uint32_t length;	/* bytes of the answer that is a table or a list */
	uint8_t *list;		/* that is sent, or NULL */
	struct dart_rpc_epoch_bytes epoch;	/* that were asked for */
	int epoch_fd;		/* its file; -1: none */
	struct values values;
	bool has_header;	/* the header is being sent, after the values */
	uint8_t header[sizeof(struct dart_control_header)];
	uint32_t header_sent;
	enum dart_rpc_error_code code;
	struct dart_error error;

	/* Called when there is a message without a request. */
	void (*has_message)(struct session *session);
	struct table_watcher watcher;
	bool follows;		/* the peer is to be told that the table is another one than */
	uint64_t followed;	/* this generation, which */
	uint32_t followed_id;	/* this request was answered with */
};

/* The caller owns @snapshots, which outlive the sessions. */
void sessions__open(struct sessions *sessions, struct snapshots *snapshots,
		    struct serve_counts *counts);

/*
 * @address: of the peer; copied.  @has_message is called, until the session is closed, when a
 * message is to be sent that answers no request under way: session__next() has it.
 */
void session__open(struct session *session, struct sessions *sessions,
		   const struct sockaddr *address, void (*has_message)(struct session *session));
void session__close(struct session *session);
/* The certificate of the peer proves that it has this name, which outlives the session. */
void session__name(struct session *session, const char *name);
/* The peer told how often it asks for values; 0: it did not. */
void session__join_audience(struct session *session, uint32_t interval_ms);

/* The values of a welcome that is sent now. */
struct dart_rpc_welcome_values session__welcome(const struct sessions *sessions);

/*
 * Takes a request.  Returns 0; or, if it is none or none may come now, -errno with a
 * sentence in @error: the peer is told of it by the next message, and the session is
 * over.
 */
int session__take(struct session *session, const void *bytes, size_t length,
		  struct dart_error *error);
/* The session is over after an error, which is the next message. */
void session__refuse(struct session *session, enum dart_rpc_error_code code,
		     const struct dart_error *error);
/* No message is to be sent now. */
bool session__is_idle(const struct session *session);

/*
 * Writes the next message of the answer to @bytes, at most @size, which is not less than
 * DART_RPC_ANSWER_MIN.  Returns its length; 0 if there is none, or the session is over.
 */
size_t session__next(struct session *session, void *bytes, size_t size);

#endif /* SESSION_H */
