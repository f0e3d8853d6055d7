/* SPDX-License-Identifier: GPL-2.0-only */
/* A tap: gets what has landed as it is, beside the sink, which gets the values: a recording. */
#ifndef CONTROLLER_TAP_H
#define CONTROLLER_TAP_H

#include "sample.h"
#include "tools/controller/settings/settings.h"

struct ring;
struct tap;

/* Nothing blocks, and nothing fails: a tap that is behind counts what it has to leave out. */
struct tap_operations {
	/* Both by the control loop: before the first of all calls for @target, and after the last. */
	void (*added)(struct tap *tap, const struct target_settings *target);
	void (*removed)(struct tap *tap, const struct target_settings *target);
	/*
	 * Both in the worker of the target.  All that is passed is valid during the call only:
	 * then the next READs may land there.
	 */
	void (*landed)(struct tap *tap, const struct target_settings *target, struct ring *ring,
		       const void *landing, const struct sample *sample);
	void (*lost)(struct tap *tap, const struct target_settings *target, const char *reason);
};

struct tap {
	const struct tap_operations *operations;
};

/* What a tap keeps of a ring: the bytes of its table as they were fetched. */
struct tap_table {
	void *bytes; /* NULL: the tap has taken them, or there is no tap */
	uint32_t length;
	uint64_t number; /* of the tap, once it has taken them */
};

#endif /* CONTROLLER_TAP_H */
