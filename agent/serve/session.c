// SPDX-License-Identifier: GPL-2.0-only
/* Answers the requests of one peer. */
#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libdart/clock.h>
#include <libdart/rpc/epochs.h>

#include "agent/base/log.h"
#include "session.h"

void sessions__open(struct sessions *sessions, struct snapshots *snapshots,
		    struct serve_counts *counts)
{
	*sessions = (struct sessions){
		.control_region = snapshots->control_region,
		.snapshots = snapshots,
		.counts = counts,
	};
}

void session__open(struct session *session, struct sessions *sessions,
		   const struct sockaddr *address, void (*has_message)(struct session *session))
{
	session->sessions = sessions;
	session->has_message = has_message;
	session->watcher.changed = NULL;
	session->follows = false;
	memcpy(&session->address, address,
	       address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) :
						sizeof(struct sockaddr_in));
	session->state = SESSION_IDLE;
	session->is_over = false;
	session->id = 0;
	session->snapshot = NULL;
	session->name = NULL;
	session->list = NULL;
	session->epoch_fd = -1;
	session->member.interval_ms = 0;
}

/* The answer has ended. */
static void session__finish(struct session *session)
{
	if (session->snapshot)
		snapshots__release(session->sessions->snapshots, session->snapshot);
	session->snapshot = NULL;
	free(session->list);
	session->list = NULL;
	if (session->epoch_fd >= 0)
		close(session->epoch_fd);
	session->epoch_fd = -1;
	session->state = SESSION_IDLE;
}

void session__close(struct session *session)
{
	session__finish(session);
	audience__leave(&session->member);
	table_watchers__leave(&session->watcher);
}

void session__name(struct session *session, const char *name)
{
	session->name = name;
}

void session__join_audience(struct session *session, uint32_t interval_ms)
{
	audience__join(&session->sessions->control_region->audience, &session->member,
		       interval_ms);
}

struct dart_rpc_welcome_values session__welcome(const struct sessions *sessions)
{
	return (struct dart_rpc_welcome_values){
		.length = control_region__capacity(),
		.used = sessions->control_region->used,
		.time_ns = dart_clock__ns(CLOCK_REALTIME),
	};
}

/* The peer is to be told of a change of the table, after the answer under way. */
static bool session__has_change(const struct session *session)
{
	return session->follows && session->sessions->control_region->generation != session->followed;
}

bool session__is_idle(const struct session *session)
{
	return session->state == SESSION_IDLE && !session__has_change(session);
}

/* The next message is an error; the session goes on. */
static void session__answer_error(struct session *session, enum dart_rpc_error_code code,
				  const struct dart_error *error)
{
	session__finish(session);
	session->state = SESSION_ERROR;
	session->code = code;
	session->error = *error;
	count__add(&session->sessions->counts->errors, 1);
}

void session__refuse(struct session *session, enum dart_rpc_error_code code,
		     const struct dart_error *error)
{
	session__answer_error(session, code, error);
	session->is_over = true;
	session->follows = false;
}

static void on_table_changed(struct table_watcher *watcher)
{
	struct session *session =
		(struct session *)((char *)watcher - offsetof(struct session, watcher));

	if (session->state == SESSION_IDLE && session__has_change(session))
		session->has_message(session);
}

static void session__follow_table(struct session *session)
{
	session->follows = true;
	session->followed = session->snapshot->generation;
	session->followed_id = session->id;
	if (!session->watcher.changed)
		table_watchers__join(&session->sessions->control_region->mirrors.watchers,
				     &session->watcher, on_table_changed);
}

static void session__begin_table(struct session *session, uint32_t length, bool is_followed)
{
	struct dart_error error;

	session->follows = false;
	session->snapshot = snapshots__take(session->sessions->snapshots);
	if (!session->snapshot) {
		dart_error__set(&error, EBUSY,
				"there is no memory for a copy of the table: ask again");
		session__answer_error(session, DART_RPC_ERROR_BUSY, &error);
		return;
	}
	session->length = length < session->snapshot->length ? length : session->snapshot->length;
	session->state = SESSION_TABLE;
	if (is_followed)
		session__follow_table(session);
}

static int session__begin_values(struct session *session, const struct dart_rpc_message *request,
				 struct dart_error *error)
{
	int ret =
		values__begin(&session->values, session->sessions->control_region, request, error);

	session->has_header = false;
	session->state = SESSION_VALUES;
	if (ret != -ESTALE)
		return ret;
	session__answer_error(session, DART_RPC_ERROR_STALE, error);
	return 0;
}

static enum dart_rpc_error_code code_of(int ret)
{
	switch (ret) {
	case -ENOMEM:
	case -EBUSY:
		return DART_RPC_ERROR_BUSY;
	case -ESTALE:
		return DART_RPC_ERROR_STALE;
	case -EINVAL:
		return DART_RPC_ERROR_REFUSED;
	default:
		return DART_RPC_ERROR_NOT_FOUND;
	}
}

/* Begins to send the list of @length bytes, or the error that made it fail. */
static void session__begin_list(struct session *session, ssize_t length,
				const struct dart_error *error)
{
	if (length < 0) {
		session__answer_error(session, code_of(length), error);
		return;
	}
	session->length = length;
	session->state = SESSION_LIST;
}

static void session__begin_epochs(struct session *session, const struct dart_rpc_message *request)
{
	const struct epoch_service *service = session->sessions->epochs;
	struct dart_error error;
	ssize_t length;

	session->list = malloc(DART_RPC_EPOCHS_LENGTH_MAX);
	length = session->list ? service->list(service->subject, request->epochs.store,
					       request->epochs.since_ns, request->epochs.until_ns,
					       session->list, &error) :
				 dart_error__no_memory(&error);
	session__begin_list(session, length, &error);
}

static void session__begin_epoch(struct session *session, const struct dart_rpc_message *request)
{
	const struct epoch_service *service = session->sessions->epochs;
	struct dart_error error;
	int ret;

	session->epoch = request->epoch;
	ret = service->open(service->subject, &session->epoch, &session->epoch_fd, &error);
	if (ret)
		session__answer_error(session, code_of(ret), &error);
	else
		session->state = SESSION_EPOCH;
}

static bool session__may_read_stores(const struct session *session)
{
	const struct dart_prefixes *readers = session->sessions->epochs->readers;

	return readers->is_given &&
	       dart_prefixes__contain(readers, (const struct sockaddr *)&session->address);
}

static void session__begin_about_epochs(struct session *session,
					const struct dart_rpc_message *request)
{
	struct dart_error error;

	if (!session->sessions->epochs) {
		dart_error__set(&error, ENOENT, "no store has epochs here");
		session__answer_error(session, DART_RPC_ERROR_NOT_FOUND, &error);
	} else if (!session__may_read_stores(session)) {
		dart_error__set(&error, EACCES,
				"the address is not in allow: readers, as epochs of stores need");
		session__answer_error(session, DART_RPC_ERROR_NOT_FOUND, &error);
	} else if (request->type == DART_RPC_GET_EPOCHS) {
		session__begin_epochs(session, request);
	} else {
		session__begin_epoch(session, request);
	}
}

/* ---- lookup tables */

static bool session__may_change_lookups(const struct session *session)
{
	const struct sessions *sessions = session->sessions;
	size_t i;

	for (i = 0; session->name && i < sessions->changer_count; i++)
		if (!strcmp(sessions->changers[i], session->name))
			return true;
	return false;
}

static void session__refuse_lookups(struct session *session)
{
	struct dart_error error;

	if (session->name)
		dart_error__set(&error, EPERM,
				"'%s' is not in tcp: tables, as changes of lookup tables need",
				session->name);
	else
		dart_error__set(&error, EPERM, "lookup tables are changed over TCP only");
	log__peer_warning("a caller is refused: %s", error.text);
	count__add(&session->sessions->counts->refused_changes, 1);
	session__answer_error(session, DART_RPC_ERROR_REFUSED, &error);
}

static ssize_t session__change_lookups(struct session *session,
				       const struct dart_rpc_lookup_changes *changes,
				       struct dart_error *error)
{
	const struct lookup_service *service = session->sessions->lookups;

	return service->change(service->subject, changes, session->list, error) ?:
		       (ssize_t)changes->count;
}

static void session__begin_lookups(struct session *session, const struct dart_rpc_message *request)
{
	const struct lookup_service *service = session->sessions->lookups;
	const bool is_change = request->type == DART_RPC_CHANGE_LOOKUPS;
	struct dart_error error;
	ssize_t length;

	if (!service || !session__may_change_lookups(session)) {
		session__refuse_lookups(session);
		return;
	}
	session->list = malloc(is_change ? request->changes.count : DART_RPC_LOOKUPS_LENGTH_MAX);
	if (!session->list)
		length = dart_error__no_memory(&error);
	else if (is_change)
		length = session__change_lookups(session, &request->changes, &error);
	else
		length = service->list(service->subject, &request->lookups, session->list, &error);
	session__begin_list(session, length, &error);
}

/* ---- requests */

static int session__begin(struct session *session, const void *bytes,
			  size_t length, struct dart_error *error)
{
	struct dart_rpc_message request;
	int ret;

	/* The connection reads no further request, but over RDMA a peer can send all the same. */
	if (session->state != SESSION_IDLE || session->is_over)
		return dart_error__set(
			error, EBADMSG,
			"it sent a request before it had the answer to the last one");
	session->id = 0;
	ret = dart_rpc_message__decode(bytes, length, &request, error);
	if (ret)
		return ret;
	session->id = request.id;
	session->sent = 0;
	switch (request.type) {
	case DART_RPC_GET_TABLE:
	case DART_RPC_FOLLOW_TABLE:
		session__begin_table(session, request.table_length,
				     request.type == DART_RPC_FOLLOW_TABLE);
		return 0;
	case DART_RPC_GET_VALUES:
		return session__begin_values(session, &request, error);
	case DART_RPC_GET_EPOCHS:
	case DART_RPC_GET_EPOCH:
		session__begin_about_epochs(session, &request);
		return 0;
	case DART_RPC_GET_LOOKUPS:
	case DART_RPC_CHANGE_LOOKUPS:
		session__begin_lookups(session, &request);
		return 0;
	default:
		return dart_error__set(error, EBADMSG, "a message of type %u is not a request",
				       request.type);
	}
}

int session__take(struct session *session, const void *bytes, size_t length,
		  struct dart_error *error)
{
	int ret = session__begin(session, bytes, length, error);

	if (ret)
		session__refuse(session, DART_RPC_ERROR_MALFORMED, error);
	else
		count__add(&session->sessions->counts->requests, 1);
	return ret;
}

/* Copies some bytes of an answer from the bytes that are ready. */
static size_t copy_ready(uint8_t *to, size_t size, const uint8_t *from,
			 uint32_t length, uint32_t sent)
{
	if (size > length - sent)
		size = length - sent;
	memcpy(to, from + sent, size);
	return size;
}

static ssize_t session__next_of_table(struct session *session, uint8_t *to, size_t size,
				      bool *is_last, struct dart_error *error)
{
	size_t copied;

	if (!session->snapshot->bytes)
		return dart_error__set(
			error, EBUSY,
			"others need the memory of this copy of the table: ask again");
	copied = copy_ready(to, size, session->snapshot->bytes, session->length, session->sent);
	*is_last = session->sent + copied == session->length;
	return copied;
}

/* The header dates from the moment when the last values were copied. */
static void session__keep_header(struct session *session)
{
	session->has_header = true;
	session->header_sent = 0;
	memcpy(session->header, session->sessions->control_region->memory, sizeof(session->header));
}

static ssize_t session__next_of_values(struct session *session, uint8_t *to, size_t size,
				       bool *is_last, struct dart_error *error)
{
	ssize_t copied = 0;
	size_t header;

	if (!session->has_header) {
		copied = values__copy(&session->values, to, size, error);
		if (copied < 0)
			return copied;
		if (session->values.run == session->values.run_count)
			session__keep_header(session);
	}
	if (session->has_header) {
		header = copy_ready(to + copied, size - copied, session->header,
				    sizeof(session->header), session->header_sent);
		session->header_sent += header;
		copied += header;
		*is_last = session->header_sent == sizeof(session->header);
	}
	return copied;
}

static ssize_t session__next_of_list(struct session *session, uint8_t *to, size_t size,
				     bool *is_last)
{
	const size_t copied = copy_ready(to, size, session->list, session->length, session->sent);

	*is_last = session->sent + copied == session->length;
	return copied;
}

static ssize_t session__next_of_epoch(struct session *session, uint8_t *to, size_t size,
				      bool *is_last, struct dart_error *error)
{
	const struct epoch_service *service = session->sessions->epochs;
	int ret;

	if (size > session->epoch.length - session->sent)
		size = session->epoch.length - session->sent;
	ret = service->read(service->subject, &session->epoch, session->epoch_fd, session->sent, to,
			    size, error);
	*is_last = session->sent + size == session->epoch.length;
	return ret ?: (ssize_t)size;
}

static size_t session__put_error(struct session *session, void *bytes)
{
	size_t length = dart_rpc__put_error(bytes, session->id, session->code, session->error.text);

	session->state = SESSION_IDLE;
	return length;
}

static size_t session__put_change(struct session *session, void *bytes)
{
	if (!session__has_change(session))
		return 0;
	session->follows = false;
	return dart_rpc__put_changed(bytes, session->followed_id);
}

size_t session__next(struct session *session, void *bytes, size_t size)
{
	uint8_t *data = (uint8_t *)bytes + DART_RPC_PART_HEAD;
	struct dart_error error;
	bool is_last = false;
	ssize_t copied = 0;
	uint32_t offset = session->sent;

	size -= DART_RPC_PART_HEAD;
	switch (session->state) {
	case SESSION_IDLE:
		return session__put_change(session, bytes);
	case SESSION_ERROR:
		return session__put_error(session, bytes);
	case SESSION_TABLE:
		copied = session__next_of_table(session, data, size, &is_last, &error);
		break;
	case SESSION_VALUES:
		copied = session__next_of_values(session, data, size, &is_last, &error);
		break;
	case SESSION_LIST:
		copied = session__next_of_list(session, data, size, &is_last);
		break;
	case SESSION_EPOCH:
		copied = session__next_of_epoch(session, data, size, &is_last, &error);
		break;
	}
	if (copied < 0) {
		session__answer_error(session, code_of(copied), &error);
		return session__put_error(session, bytes);
	}
	session->sent += copied;
	count__add(&session->sessions->counts->bytes, copied);
	if (is_last)
		session__finish(session);
	return dart_rpc__put_part(bytes, session->id, offset, copied, is_last);
}
