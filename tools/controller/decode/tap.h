/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A tap receives the landed bytes unchanged, in addition to the sink, which gets the values: a
 * recording.
 */
#ifndef CONTROLLER_TAP_H
#define CONTROLLER_TAP_H

#include "sample.h"
#include "tools/controller/settings/settings.h"

struct ring;
struct tap;

/* No call blocks or fails: a tap that lags counts the scrapes that it leaves out. */
struct tap_operations {
	/*
	 * The control loop calls added() before the first of all calls for @target, and removed()
	 * after the last.
	 */
	void (*added)(struct tap *tap, const struct target_settings *target);
	void (*removed)(struct tap *tap, const struct target_settings *target);
	/*
	 * The target's worker calls both. All arguments are valid during the call only: then the
	 * next READs may overwrite the landing.
	 */
	void (*landed)(struct tap *tap, const struct target_settings *target, struct ring *ring,
		       const void *landing, const struct sample *sample);
	void (*lost)(struct tap *tap, const struct target_settings *target, const char *reason);
};

struct tap {
	const struct tap_operations *operations;
};

/* The tap's data about a ring: the bytes of its table as they were fetched. */
struct tap_table {
	void *bytes; /* NULL once the tap has taken them, or without a tap */
	uint32_t length;
	uint64_t number; /* that the tap gave the table when it took the bytes */
};

#endif /* CONTROLLER_TAP_H */
