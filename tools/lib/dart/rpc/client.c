// SPDX-License-Identifier: LGPL-2.1-or-later
/* Asks for the table and for values, whatever the connection: see client.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <dart/control.h>
#include <libdart/rpc/rpc_rdma_internal.h>

#include "client.h"
#include "epochs.h"

struct dart_rpc_client {
	struct dart_rpc_transport *transport;
	bool is_connected;
	unsigned int limit;	/* messages that are taken at a time; 0: all */

	/* The request without an answer. */
	enum { NONE, TABLE, VALUES, BYTES } asked;
	uint32_t id;
	uint32_t received;	/* bytes of the answer */
	uint8_t *memory;	/* of the caller: for a table, or bytes about epochs */
	uint32_t least, size;	/* bytes that the answer has */
	struct dart_rpc_landing landing;	/* of values */

	uint32_t followed;	/* requests whose change the agent may still tell */
	uint32_t followed_id;	/* of the last one */
};

int dart_rpc_client__new(struct dart_rpc_transport *transport, struct dart_rpc_client **result,
			 struct dart_error *error)
{
	*result = calloc(1, sizeof(**result));
	if (!*result) {
		transport->operations->free(transport);
		return dart_error__no_memory(error);
	}
	(*result)->transport = transport;
	return 0;
}

int dart_rpc_client__connect_rdma(const char *host, uint16_t port, uint8_t dscp,
				  struct dart_rpc_client **result, struct dart_error *error)
{
	struct dart_rpc_transport *transport;

	return dart_rpc_rdma__open(host, port, dscp, &transport, error) ?:
		       dart_rpc_client__new(transport, result, error);
}

void dart_rpc_client__tell_interval(struct dart_rpc_client *client, uint32_t interval_ms)
{
	client->transport->interval_ms = interval_ms;
}

void dart_rpc_client__free(struct dart_rpc_client *client)
{
	if (!client)
		return;
	client->transport->operations->free(client->transport);
	free(client);
}

unsigned int dart_rpc_client__wait(const struct dart_rpc_client *client,
				   struct pollfd descriptors[2])
{
	return client->transport->operations->wait(client->transport, descriptors);
}

void dart_rpc_client__limit(struct dart_rpc_client *client, unsigned int messages)
{
	client->limit = messages;
}

int dart_rpc_client__failure(const struct dart_rpc_client *client)
{
	return client->transport->failure;
}

const struct dart_rpc_welcome_values *dart_rpc_client__welcome(const struct dart_rpc_client *client)
{
	return &client->transport->welcome;
}

void dart_rpc_client__clock(const struct dart_rpc_client *client,
			    int64_t *offset_ns, uint64_t *uncertainty_ns)
{
	*offset_ns = client->transport->clock_offset_ns;
	*uncertainty_ns = client->transport->clock_uncertainty_ns;
}

void dart_rpc_client__path(const struct dart_rpc_client *client, struct dart_endpoint_path *path)
{
	client->transport->operations->path(client->transport, path);
}

uint32_t dart_rpc_client__window(const struct dart_rpc_client *client)
{
	return client->transport->window;
}

uint32_t dart_rpc_client__length(const struct dart_rpc_client *client)
{
	return client->received;
}

static int client__begin(struct dart_rpc_client *client, void **bytes)
{
	if (!client->is_connected)
		return -ENOTCONN;
	if (client->asked != NONE)
		return -EBUSY;
	*bytes = client->transport->operations->request(client->transport);
	return *bytes ? 0 : -EBUSY;
}

/* A request of @length bytes is in the room for it. */
static int client__ask(struct dart_rpc_client *client, size_t length, struct dart_error *error)
{
	client->received = 0;
	return client->transport->operations->send(client->transport, length, error);
}

static int client__begin_table(struct dart_rpc_client *client, void *memory, uint32_t size,
			       void **request)
{
	int ret;

	if (size < sizeof(struct dart_control_header))
		return -EINVAL;
	ret = client__begin(client, request);
	if (ret)
		return ret;
	client->asked = TABLE;
	client->memory = memory;
	client->least = sizeof(struct dart_control_header);
	client->size = size;
	return 0;
}

int dart_rpc_client__get_table(struct dart_rpc_client *client, void *memory,
			       uint32_t size, struct dart_error *error)
{
	void *bytes;
	int ret = client__begin_table(client, memory, size, &bytes);

	if (ret)
		return ret;
	return client__ask(client, dart_rpc__put_get_table(bytes, ++client->id, size), error);
}

int dart_rpc_client__follow_table(struct dart_rpc_client *client, void *memory, uint32_t size,
				  struct dart_error *error)
{
	void *bytes;
	int ret = client__begin_table(client, memory, size, &bytes);

	if (ret)
		return ret;
	client->followed_id = ++client->id;
	client->followed++;
	return client__ask(client, dart_rpc__put_follow_table(bytes, client->id, size), error);
}

int dart_rpc_client__get_values(struct dart_rpc_client *client, const struct dart_rpc_plan *plan,
				void *memory, struct dart_error *error)
{
	void *bytes;
	int ret;

	ret = client__begin(client, &bytes);
	if (ret)
		return ret;
	client->asked = VALUES;
	dart_rpc_landing__begin(&client->landing, plan, memory);
	return client__ask(client,
			   dart_rpc_landing__put_request(&client->landing, ++client->id, bytes),
			   error);
}

/* Begins a request that is answered by @least to @size bytes, which land in @memory. */
static int client__begin_bytes(struct dart_rpc_client *client, void *memory, size_t least,
			       size_t size, void **request)
{
	int ret = client__begin(client, request);

	if (ret)
		return ret;
	client->asked = BYTES;
	client->memory = memory;
	client->least = least;
	client->size = size;
	return 0;
}

int dart_rpc_client__get_epochs(struct dart_rpc_client *client, const char *store,
				uint64_t since_ns, uint64_t until_ns, void *memory,
				struct dart_error *error)
{
	void *bytes;
	int ret = client__begin_bytes(client, memory, sizeof(struct dart_rpc_epochs),
				      DART_RPC_EPOCHS_LENGTH_MAX, &bytes);

	if (ret)
		return ret;
	return client__ask(
		client, dart_rpc__put_get_epochs(bytes, ++client->id, store, since_ns, until_ns),
		error);
}

int dart_rpc_client__get_epoch(struct dart_rpc_client *client,
			       const struct dart_rpc_epoch_bytes *wanted, void *memory,
			       struct dart_error *error)
{
	void *bytes;
	int ret = client__begin_bytes(client, memory, wanted->length, wanted->length, &bytes);

	if (ret)
		return ret;
	return client__ask(client, dart_rpc__put_get_epoch(bytes, ++client->id, wanted), error);
}

int dart_rpc_client__get_lookups(struct dart_rpc_client *client,
				 const struct dart_rpc_lookups_wanted *wanted, void *memory,
				 struct dart_error *error)
{
	void *bytes;
	int ret = client__begin_bytes(client, memory, sizeof(struct dart_rpc_lookups),
				      DART_RPC_LOOKUPS_LENGTH_MAX, &bytes);

	if (ret)
		return ret;
	return client__ask(client, dart_rpc__put_get_lookups(bytes, ++client->id, wanted), error);
}

int dart_rpc_client__change_lookups(struct dart_rpc_client *client,
				    const struct dart_rpc_lookup_changes *changes, void *memory,
				    struct dart_error *error)
{
	void *bytes;
	int ret;

	if (!changes->count || !changes->length || changes->length > DART_RPC_RECORDS_LENGTH_MAX)
		return -EINVAL;
	ret = client__begin_bytes(client, memory, changes->count, changes->count, &bytes);
	if (ret)
		return ret;
	return client__ask(client, dart_rpc__put_change_lookups(bytes, ++client->id, changes),
			   error);
}

/* The next request of the same plan. */
static int client__ask_on(struct dart_rpc_client *client, struct dart_error *error)
{
	void *bytes = client->transport->operations->request(client->transport);

	/* The last one has been answered. */
	if (!bytes)
		return dart_error__set(error, EBADMSG,
				       "the agent answered a request that was not sent");
	return client__ask(client,
			   dart_rpc_landing__put_request(&client->landing, ++client->id, bytes),
			   error);
}

static int wrong_length(const struct dart_rpc_client *client, struct dart_error *error)
{
	return dart_error__set(
		error, EBADMSG,
		"the agent's answer has another length than what it answers, after %u bytes",
		client->received);
}

/* Returns 1 if the request has been answered, 0 if not yet, -errno. */
static int client__take_bytes(struct dart_rpc_client *client,
			      const struct dart_rpc_message *message, struct dart_error *error)
{
	if (message->part.length > client->size - client->received)
		return wrong_length(client, error);
	memcpy(client->memory + client->received, message->part.data, message->part.length);
	client->received += message->part.length;
	if (!message->is_last)
		return 0;
	if (client->received < client->least)
		return wrong_length(client, error);
	return 1;
}

static int client__take_values(struct dart_rpc_client *client,
			       const struct dart_rpc_message *message, struct dart_error *error)
{
	if (dart_rpc_landing__take(&client->landing, message->part.data, message->part.length))
		return wrong_length(client, error);
	client->received += message->part.length;
	if (message->is_last != dart_rpc_landing__is_whole(&client->landing))
		return wrong_length(client, error);
	if (!message->is_last)
		return 0;
	if (!dart_rpc_landing__advance(&client->landing))
		return 1;
	return client__ask_on(client, error);
}

static int client__take_part(struct dart_rpc_client *client, const struct dart_rpc_message *message,
			     struct dart_error *error)
{
	if (client->asked == NONE || message->id != client->id ||
	    message->part.offset != client->received)
		return dart_error__set(
			error, EBADMSG,
			"the agent sent a part of an answer that is not the next one");
	return client->asked == VALUES ? client__take_values(client, message, error) :
					 client__take_bytes(client, message, error);
}

static enum dart_rpc_client_event client__take_error(struct dart_rpc_client *client,
						     const struct dart_rpc_message *message,
						     struct dart_error *error)
{
	dart_error__set(error, EPROTO, "the agent answered: %s", message->error.reason);
	if (client->asked == NONE || message->id != client->id)
		return DART_RPC_CLIENT_DISCONNECTED;
	client->asked = NONE;
	switch (message->error.code) {
	case DART_RPC_ERROR_STALE:
		return DART_RPC_CLIENT_STALE;
	case DART_RPC_ERROR_BUSY:
		return DART_RPC_CLIENT_BUSY;
	case DART_RPC_ERROR_NOT_FOUND:
		return DART_RPC_CLIENT_NOT_FOUND;
	case DART_RPC_ERROR_REFUSED:
		return DART_RPC_CLIENT_REFUSED;
	default:
		return DART_RPC_CLIENT_DISCONNECTED;
	}
}

/* The agent may have told of an earlier table when it got the request for a later one. */
static enum dart_rpc_client_event client__take_change(struct dart_rpc_client *client,
						      const struct dart_rpc_message *message,
						      struct dart_error *error)
{
	if (!client->followed) {
		dart_error__set(error, EBADMSG,
				"the agent told more often that the table changed than it was asked to");
		return DART_RPC_CLIENT_DISCONNECTED;
	}
	client->followed--;
	return message->id == client->followed_id ? DART_RPC_CLIENT_CHANGED :
						    DART_RPC_CLIENT_NOTHING;
}

static enum dart_rpc_client_event client__take(struct dart_rpc_client *client, const void *bytes,
					       size_t length, struct dart_error *error)
{
	struct dart_rpc_message message;
	int ret;

	if (dart_rpc_message__decode(bytes, length, &message, error))
		return DART_RPC_CLIENT_DISCONNECTED;
	if (message.type == DART_RPC_ERROR)
		return client__take_error(client, &message, error);
	if (message.type == DART_RPC_CHANGED)
		return client__take_change(client, &message, error);
	if (message.type != DART_RPC_PART) {
		dart_error__set(error, EBADMSG, "the agent sent a message of type %u",
				message.type);
		return DART_RPC_CLIENT_DISCONNECTED;
	}
	ret = client__take_part(client, &message, error);
	if (ret < 0)
		return DART_RPC_CLIENT_DISCONNECTED;
	if (!ret)
		return DART_RPC_CLIENT_NOTHING;
	client->asked = NONE;
	return DART_RPC_CLIENT_ANSWERED;
}

static enum dart_rpc_client_event
client__connect(struct dart_rpc_client *client, struct dart_error *error)
{
	struct dart_rpc_transport *transport = client->transport;
	int ret = transport->operations->connect(transport, error);

	if (ret < 0) {
		transport->failure = ret;
		return DART_RPC_CLIENT_FAILED;
	}
	client->is_connected = ret;
	return ret ? DART_RPC_CLIENT_CONNECTED : DART_RPC_CLIENT_NOTHING;
}

enum dart_rpc_client_event dart_rpc_client__on_ready(struct dart_rpc_client *client,
						     struct dart_error *error)
{
	struct dart_rpc_transport *transport = client->transport;
	enum dart_rpc_client_event event = DART_RPC_CLIENT_NOTHING;
	unsigned int taken = 0;
	const void *bytes;
	size_t length;
	int ret;

	if (!client->is_connected)
		return client__connect(client, error);
	while (event == DART_RPC_CLIENT_NOTHING) {
		if (client->limit && taken++ == client->limit)
			return DART_RPC_CLIENT_MORE;
		ret = transport->operations->receive(transport, &bytes, &length, error);
		if (ret == -EAGAIN)
			break;
		if (ret < 0)
			return DART_RPC_CLIENT_DISCONNECTED;
		event = client__take(client, bytes, length, error);
	}
	return event;
}
