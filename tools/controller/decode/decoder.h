/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What becomes of the scrapes of one target once they have landed: its worker decodes them
 * and passes the samples to the sink, in order, and so does it with the news that the
 * target was lost.
 */
#ifndef CONTROLLER_DECODER_H
#define CONTROLLER_DECODER_H

#include "host_clock.h"
#include "ring.h"
#include "sink.h"
#include "tap.h"
#include "workers.h"

struct decoder;

/* Hears of the clocks of targets, in their workers. */
struct clock_listener {
	/* @news as host_clock__take() returns it, if it is not 0. */
	void (*heard)(struct clock_listener *listener, const struct decoder *decoder,
		      unsigned int news, const struct sample *sample);
	uint64_t bound_ns;
};

/* Set up by the target, and not changed afterwards; outlives the workers. */
struct decoder {
	struct workers *workers;
	struct sink *sink;
	struct tap *tap; /* NULL: none */
	const struct target_settings *settings;
	struct summary *summary; /* see there who writes what */
	atomic_bool is_down_queued; /* the worker has not taken the last report yet */
	struct clock_listener *clocks; /* NULL: nobody, and the default bound */
	struct host_clock clock; /* of the worker, and all 0 before */
};

/*
 * In the I/O thread of the target: hands over what has landed in the current slot of @ring,
 * where the next READs no longer land.  False if the worker is behind: the next READs land
 * in the same slot.  The worker begins when @batch
 * ends.
 */
bool decoder__hand_over(struct decoder *decoder, struct ring *ring, const struct sample_head *head,
			struct work_batch *batch);

/*
 * In the control loop, when no I/O thread has the target or it is not its turn: the target
 * cannot be scraped any more, or not until its table settles, for @reason.  Returns 0 or
 * -ENOMEM.
 */
int decoder__lose(struct decoder *decoder, const char *reason);

/*
 * In the same places: the target is lost at @time_ns, CLOCK_REALTIME of the controller, or
 * still is; see sink_operations.down().  Returns 0 or -ENOMEM.
 */
int decoder__report_down(struct decoder *decoder, int64_t time_ns, const char *reason);

#endif /* CONTROLLER_DECODER_H */
