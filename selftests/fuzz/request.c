// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bytes that a client sends to the registration socket: requests are split, parsed
 * and unpacked as by the agent, and each gets one reply.  The types stand for all
 * ways in which handlers unpack; they register nothing.
 */
#include <sys/socket.h>

#include "agent/base/entry_name.h"
#include "agent/schema/schema_json.h"
#include "agent/socket/client.h"
#include "fuzz.h"

static int take_name(struct request *request)
{
	request->result = json_string(request->text);
	return entry_name__check(request->text, &request->error);
}

static int list(struct request *request)
{
	reply_text__begin(&request->answer, "entries");
	reply_text__put(&request->answer, "[]");
	return 0;
}

static int take_slice(struct request *request)
{
	json_int_t offset = 0;
	struct dart_schema *schema;
	json_t *json, *memory;
	const char *name;
	int ret;

	ret = request__unpack(request, "{s:s, s:o, s?I, s?o !}", "name", &name,
			      "schema", &json, "offset", &offset, "memory",
			      &memory) ?:
		      entry_name__check(name, &request->error) ?:
		      schema_json__new(json, &schema, &request->error);
	if (!ret)
		dart_schema__free(schema);
	return ret;
}

static int take_store(struct request *request)
{
	int value_length, redundancy = 2;
	const char *name, *file = NULL;
	json_int_t slots;

	return request__unpack(request, "{s:s, s:I, s:i, s?i, s?s !}", "name", &name, "slots_log2",
			       &slots, "value_length", &value_length, "redundancy", &redundancy,
			       "file", &file);
}

static int take_short(struct request *request)
{
	require(request->text && request->fd < 0 && request->slice);
	return entry_name__check(request->text, &request->error);
}

static const struct request_type types[] = {
	{ "+", NULL, take_short, .is_short = true },
	{ "new-slice", "entry", take_slice, .fd = REQUEST_FD_OPTIONAL },
	{ "store-create", "store", take_store, .only_root = "create a store",
	  .fd = REQUEST_FD_OPTIONAL, .keeps = "store" },
	{ "list", "entries", list, .member = "" },
	{ "show", "entry", take_name, .member = "name" },
	{ "unregister-slice", "entry", take_name, .member = "name",
	  .fd = REQUEST_FD_REQUIRED },
	{ "unregister", "entry", take_name, .member = "name", .ends = "entry" },
	{}
};

static int succeeded(struct request_recorder *recorder,
		     const struct request_type *type, struct request *request)
{
	return 0;
}

static bool forget(struct request_recorder *recorder,
		   const struct request_type *type, struct request *request)
{
	return true;
}

/* Sends as much as the socket takes, and ends the stream. */
static void send_all(int fd, const uint8_t *data, size_t size)
{
	ssize_t sent = size ? send(fd, data, size, MSG_NOSIGNAL) : 0;

	require(sent >= 0);
	shutdown(fd, SHUT_WR);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct request_table tables[] = {
		{ client_requests, NULL },
		{ types, NULL },
		{},
	};
	struct request_recorder recorder = { succeeded, forget };
	struct client_counts counts = {};
	struct changes changes;
	struct clients clients = {
		.tables = tables,
		.recorder = &recorder,
		.changes = &changes,
		.counts = &counts,
	};
	static sd_event *loop;
	char replies[4096];
	int ends[2];

	require(loop || sd_event_new(&loop) >= 0);
	changes__open(&changes);
	TAILQ_INIT(&clients.list);
	require(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends));
	require(!client__new(&clients, loop, ends[1]));
	send_all(ends[0], data, size);
	while (sd_event_run(loop, 0) > 0)
		while (recv(ends[0], replies, sizeof(replies), 0) > 0)
			;
	/* A monitor may still be served after the end of its stream. */
	close(ends[0]);
	while (sd_event_run(loop, 0) > 0)
		;
	require(TAILQ_EMPTY(&clients.list) && !counts.connected);
	clients__close(&clients);
	return 0;
}
