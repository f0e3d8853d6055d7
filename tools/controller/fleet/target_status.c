// SPDX-License-Identifier: GPL-2.0-only
/* The status of a target, as other rooms see it. */
#include <stdlib.h>
#include <string.h>

#include "target_private.h"

/* If memory is short, the previous reason stays. */
void target__note_failure(struct target *target, const char *reason, bool was_up)
{
	char *failure = NULL;

	if (was_up)
		target->since_ns = monotonic_ns();
	if (!target->failure || strcmp(target->failure, reason))
		failure = strdup(reason);
	if (!failure)
		return;
	free(target->failure);
	target->failure = failure;
}

bool target__is_finished(const struct target *target)
{
	return target->state == TARGET_FINISHED;
}

bool target__is_draining(const struct target *target)
{
	/* It finishes only after its I/O thread released it, and its flow is closed. */
	return target->io.flow.draining;
}

const struct target_settings *target__settings(const struct target *target)
{
	return target->settings;
}

struct target_role *target__role(struct target *target)
{
	return &target->role;
}

const struct summary *target__summary(const struct target *target)
{
	return &target->summary;
}

/* While the I/O thread still owns the target, its next state is shown. */
static const char *target__releasing(const struct target *target)
{
	switch (target->next) {
	case TARGET_LOSE:
		return "waiting";
	case TARGET_MOVE:
		return "connecting";
	default:
		return "finished";
	}
}

static const char *target__state(const struct target *target)
{
	switch (target->state) {
	case TARGET_DISCONNECTED:
		return "waiting";
	case TARGET_RESOLVING:
		return "resolving";
	case TARGET_CONNECTING:
		return "connecting";
	case TARGET_READING:
		/* A later table is fetched between scrapes. */
		if (!target->io.ring)
			return "fetching";
		if (target__is_lost(target))
			return "silent";
		return target->role.standby_ns ? "standby" : "up";
	case TARGET_RELEASING:
		return target__releasing(target);
	default:
		return "finished";
	}
}

/* The I/O thread adds to the counts meanwhile, and the ring is set in the control loop only. */
void target__status(const struct target *target, struct target_status *status)
{
	const struct summary *summary = &target->summary;
	const struct latency *landed = &summary->landed;

	*status = (struct target_status){
		.state = target__state(target),
		.since_ns = target->since_ns,
		.error = target->failure,
		.interval_ns = target->interval_ns,
		.is_on_standby = target->role.standby_ns,
		.scrapes = count__of(&summary->scrapes),
		.failed = count__of(&summary->failed),
		.missed = count__of(&summary->missed),
		.discarded = count__of(&summary->discarded),
		.dropped = count__of(&summary->dropped),
		.reads = count__of(&summary->reads),
		.bytes = count__of(&summary->bytes),
		.landed_ns.min = count__of(&landed->min),
		.landed_ns.p50 = latency__percentile(landed, 50),
		.landed_ns.p90 = latency__percentile(landed, 90),
		.landed_ns.p99 = latency__percentile(landed, 99),
		.landed_ns.max = count__of(&landed->max),
	};
}
