/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which servers of a policy are up: checks by connections over TCP, in the event loop of the
 * caller.  Nothing blocks, and only so many checks are under way at a time.  A server is up until
 * a check says otherwise: its first result counts at once, and later ones when there are as many
 * in turn as the policy says.
 */
#ifndef FLOWS_HEALTH_H
#define FLOWS_HEALTH_H

#include <systemd/sd-event.h>

#include "tools/flows/settings/policy.h"

/*
 * A server that is silent occupies a place for the time-out.  Two turns do for all servers that a
 * policy can have, within the 1,024 descriptors that a process usually has.
 */
#define HEALTH_AT_ONCE 512

struct health;

/* Called with the subject; must not call health__set_policy() or health__free(). */
struct health_handlers {
	/* @server: its number in the policy; @reason why it is down: a constant */
	void (*changed)(void *subject, size_t server, bool is_up, const char *reason);
};

/* The policy outlives @health or its place in it.  Returns 0, or -errno with a sentence. */
int health__new(sd_event *event, const struct policy *policy,
		const struct health_handlers *handlers, void *subject, struct health **health,
		struct dart_error *error);
void health__free(struct health *health);
/*
 * Takes another policy, after all others did; servers that it has, too, keep their state.  If it
 * fails no server is checked until the next policy.
 */
int health__set_policy(struct health *health, const struct policy *policy,
		       struct dart_error *error);

struct health_result {
	uint64_t checks, failures;
	const char *reason; /* of the last failure; NULL: none so far, or no checks */
};

struct health_result health__result(const struct health *health, size_t server);

#endif /* FLOWS_HEALTH_H */
