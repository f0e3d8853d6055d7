// SPDX-License-Identifier: GPL-2.0-only
/* Resolves the name of a target and connects to it. */
#include <errno.h>
#include <string.h>

#include "target_private.h"
#include "tools/controller/transport/transport_call.h"
#include "tools/controller/transport/transport_read.h"

/* From connect to the table, with --once to the values. */
#define CONNECT_TIMEOUT_NS	10000000000ULL

static void target__set_connect_timeout(struct target *target)
{
	target->connect_deadline_ns = monotonic_ns() + CONNECT_TIMEOUT_NS;
	timer__set_at(&target->connect_timeout, target->connect_deadline_ns);
}

static void on_connected(void *data, const struct dart_error *error)
{
	struct target *target = data;

	if (!error)
		target__hand_over(target);
	else
		target__lose(target, "%s", error->text);
}

static void on_completed(void *data, int result)
{
	struct target *target = data;

	io_target__on_completion(&target->io, result);
}

static const struct transport_handlers handlers = {
	.connected = on_connected,
	.completed = on_completed,
};

static int target__read(struct target *target, const char *numeric,
			struct dart_error *error)
{
	struct io_threads *io = &target->context->io;

	if (!target->thread)
		target->thread = io_threads__choose(io, 0);
	return transport_read__connect(io->set,
				       io_thread__number(target->thread),
				       numeric, target->settings->port,
				       &handlers, target, &target->transport,
				       error);
}

static int target__call(struct target *target, const char *numeric,
			struct dart_error *error)
{
	const struct target_settings *settings = target->settings;
	struct target_context *context = target->context;
	const struct transport_call_parts parts = {
		.event = context->event,
		.host = numeric,
		.port = settings->port,
		.handlers = &handlers,
		.data = target,
	};
	int err = io_threads__call(&context->io, &target->thread);

	if (err)
		return dart_error__system(error, -err,
					  "cannot start an I/O thread");
	if (settings->transport == SETTINGS_TRANSPORT_RPC)
		return transport_call__connect_rpc(&parts, &target->transport,
						   error);
	/* A source may name such a target at any time. */
	if (!context->tls)
		return dart_error__set(error, EINVAL, SETTINGS_TCP_NEEDS_TLS);
	return transport_call__connect_tcp(&parts, context->tls, settings->host,
					   &target->transport, error);
}

static void target__connect(struct target *target, const char *numeric)
{
	const bool is_read =
		target->settings->transport == SETTINGS_TRANSPORT_READ;
	struct dart_error error;

	target->state = TARGET_CONNECTING;
	target__set_connect_timeout(target);
	if (is_read ? target__read(target, numeric, &error) :
		      target__call(target, numeric, &error))
		target__lose(target, "%s", error.text);
}

static void on_resolved(void *data, const char *numeric,
			const struct dart_error *error)
{
	struct target *target = data;

	target->resolution = NULL;
	if (target->state != TARGET_RESOLVING)
		return;
	if (numeric)
		target__connect(target, numeric);
	else
		target__lose(target, "%s", error->text);
}

void target__on_turn(struct handshake *handshake)
{
	struct target *target =
		caa_container_of(handshake, struct target, handshake);
	const char *host = target->settings->host;
	int err;

	if (resolver__is_numeric(host)) {
		target__connect(target, host);
		return;
	}
	target->state = TARGET_RESOLVING;
	target__set_connect_timeout(target);
	/* One question a target, however long the name services take. */
	if (target->resolution)
		return;
	err = resolver__ask(target->context->resolver, host, on_resolved,
			    target, &target->resolution);
	if (err)
		target__lose(target, "cannot resolve '%s': %s", host,
			     strerror(-err));
}

void target__on_connect_timeout(void *data)
{
	struct target *target = data;

	if (target->state == TARGET_RESOLVING)
		target__lose(target,
			     "cannot resolve '%s': " TARGET_NO_ANSWER
			     " from the name services",
			     target->settings->host);
	else
		target__lose(target, TARGET_NO_ANSWER);
}
