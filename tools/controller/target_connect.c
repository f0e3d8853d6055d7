// SPDX-License-Identifier: GPL-2.0-only
/* Resolves the name of a target and connects to it. */
#include <errno.h>
#include <string.h>

#include "target_private.h"

/* From connect to the table, with --once to the values. */
#define CONNECT_TIMEOUT_NS	10000000000ULL

static void target__set_connect_timeout(struct target *target)
{
	target->connect_deadline_ns = monotonic_ns() + CONNECT_TIMEOUT_NS;
	timer__set_at(&target->connect_timeout, target->connect_deadline_ns);
}

static void target__connect(struct target *target, const char *numeric)
{
	struct io_threads *io = &target->context->io;
	struct dart_error error;

	target->state = TARGET_CONNECTING;
	target__set_connect_timeout(target);
	if (!target->thread)
		target->thread = io_threads__choose(io, 0);
	if (dart_endpoint_set__connect(io->set,
				       io_thread__number(target->thread),
				       numeric, target->settings->port, target,
				       &target->endpoint, &error))
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

void target__on_connection(struct dart_endpoint *endpoint,
			   enum dart_endpoint_event event,
			   const struct dart_error *error)
{
	struct target *target = dart_endpoint__user(endpoint);

	if (event == DART_ENDPOINT_CONNECTED)
		target__hand_over(target);
	else
		target__lose(target, "%s", error->text);
}
