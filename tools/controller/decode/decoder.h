/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Takes over the scrapes of one target once they have landed: the target's worker decodes them and
 * passes the samples to the sink, in order, and likewise the news that the target was lost.
 */
#ifndef CONTROLLER_DECODER_H
#define CONTROLLER_DECODER_H

#include "host_clock.h"
#include "ring.h"
#include "sink.h"
#include "tap.h"
#include "tools/controller/base/validity.h"
#include "workers.h"

struct decoder;

/* Gets news of the clocks of targets, called in their workers. */
struct clock_listener {
	/* Called when host_clock__take() returns @news other than 0. */
	void (*heard)(struct clock_listener *listener, const struct decoder *decoder,
		      unsigned int news, const struct sample *sample);
	uint64_t bound_ns;
};

/*
 * The target fills this in and changes nothing of it afterwards except is_muted; it outlives the
 * workers.
 */
struct decoder {
	struct workers *workers;
	struct sink *sink;
	struct tap *tap; /* NULL: nothing is recorded */
	const struct target_settings *settings;
	struct summary *summary; /* struct summary says which thread writes which part */
	atomic_bool is_down_queued; /* the last report still waits for the worker */
	const struct validity *validity; /* sink and tap get nothing without it; NULL: it holds */
	/* Set by the control loop: sink and tap get nothing, as the target is on standby. */
	atomic_bool is_muted;
	struct clock_listener *clocks; /* NULL: no listener, and the default bound */
	struct host_clock clock; /* the worker's; zeroed before the first sample */
};

/*
 * Called in the I/O thread of the target: hands over the scrape that landed in the current slot of
 * @ring, and lets the next READs land in another slot. Returns false if the worker lags behind, so
 * that no slot or no place in its queue is free: the scrape is dropped. The worker starts when
 * @batch ends.
 */
bool decoder__hand_over(struct decoder *decoder, struct ring *ring, const struct sample_head *head,
			struct work_batch *batch);

/*
 * Called in the control loop, while no I/O thread owns the target or it is not the I/O thread's
 * turn: reports that the target cannot be scraped any more, or not until its table settles, for
 * @reason. Returns 0 or -ENOMEM.
 */
int decoder__lose(struct decoder *decoder, const char *reason);

/*
 * Called under the same conditions: reports that the target was lost, or is still lost, at
 * @time_ns, CLOCK_REALTIME of the controller; see sink_operations.down(). Returns 0 or -ENOMEM.
 */
int decoder__report_down(struct decoder *decoder, int64_t time_ns, const char *reason);

#endif /* CONTROLLER_DECODER_H */
