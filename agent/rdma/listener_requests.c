// SPDX-License-Identifier: GPL-2.0-only
/* The requests about connected peers: controllers, and readers of stores and tables. */
#include <errno.h>
#include <string.h>

#include "agent/base/clock.h"
#include "listener.h"

static json_t *connection__describe(const struct connection *connection)
{
	const struct peer_object *object = connection->object;

	return json_pack("{s:s, s:s, s:s*, s:I}", "peer", connection->peer,
			 "kind", connection->kind->name,
			 object ? object->noun : "store",
			 object ? object->name : NULL, "age_s",
			 (json_int_t)clock__age_s(connection->established));
}

static int list_controllers(struct request *request)
{
	const struct listener *listener = request->subject;
	const struct connection *connection;

	request->result = json_array();
	TAILQ_FOREACH(connection, &listener->connections, link)
		if (connection->established)
			reply__append(&request->result,
				      connection__describe(connection));
	return 0;
}

static int disconnect_controller(struct request *request)
{
	struct listener *listener = request->subject;
	struct connection *connection;

	TAILQ_FOREACH(connection, &listener->connections, link)
		if (connection->established &&
		    !strcmp(connection->peer, request->text))
			break;
	if (!connection)
		return dart_error__set(
			&request->error, ENOENT,
			"no controller or reader is connected from '%s'",
			request->text);
	request->result = connection__describe(connection);
	listener__end(listener, connection, "is disconnected on request");
	return 0;
}

const struct request_type listener_requests[] = {
	{ "controller-list", "controllers", list_controllers, .member = "" },
	{ "controller-disconnect", "controller", disconnect_controller,
	  .member = "peer", .only_root = "disconnect a controller" },
	{ }
};
