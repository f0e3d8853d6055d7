// SPDX-License-Identifier: GPL-2.0-only
/* Runs in the workers: decodes scrapes and passes the samples to the sink. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/prefetch.h>

#include "decoder.h"
#include "tools/controller/base/schedule.h"

/* The news that a target cannot be scraped, or is lost. */
struct loss {
	struct work work;
	struct decoder *decoder;
	int64_t time_ns; /* when the target was lost; 0 if it only cannot be scraped */
	char reason[];
};

/* Dates the sample after the tap recorded the original head: a replay dates it again. */
static void decoder__date(struct decoder *decoder, const struct ring *ring, struct sample *sample)
{
	struct clock_listener *clocks = decoder->clocks;
	const unsigned int news = host_clock__take(
		&decoder->clock, clocks ? clocks->bound_ns : HOST_CLOCK_BOUND_DEFAULT_NS,
		&ring->scraper->clock_source, sample);

	if (clocks && news)
		clocks->heard(clocks, decoder, news, sample);
}

/*
 * Asked after time stamps were taken.  The validity first: the control loop sets it after the roles
 * of another list of members.
 */
static bool decoder__passes(const struct decoder *decoder)
{
	return validity__holds(decoder->validity) && !atomic_load(&decoder->is_muted);
}

static void decode(struct work *work)
{
	struct scrape *scrape = caa_container_of(work, struct scrape, work);
	struct decoder *decoder = scrape->decoder;
	struct summary *summary = decoder->summary;
	struct sink *sink = decoder->sink;
	struct ring *ring = scrape->ring;
	struct sample *sample;
	bool passes;

	sample = scraper__decode(ring->scraper, scrape->landing);
	sample->head = scrape->head;
	sample->end_ns = scrape->end_ns ?: monotonic_ns();
	sample->is_partial = ring->is_partial;
	passes = decoder__passes(decoder);
	/* The tap reads the landing before the next READs may overwrite this slot. */
	if (decoder->tap && !ring->is_partial && passes)
		decoder->tap->operations->landed(decoder->tap, decoder->settings, ring,
						 scrape->landing, sample);
	atomic_store(&scrape->is_handed_over, false);
	decoder__date(decoder, ring, sample);

	if (!ring->is_partial)
		latency__add(&summary->decoded, sample->end_ns - sample->head.start_ns);
	if (passes &&
	    sink->operations->sample(sink, decoder->settings, sample, &summary->decoded))
		count__add(&summary->unwritten, 1);
	ring__release(ring);
}

static void decode_ahead(const struct work *work, unsigned int step)
{
	const struct scrape *scrape = caa_container_of(work, struct scrape, work);
	const struct decoder *decoder;

	if (!step) {
		dart_prefetch(scrape, sizeof(*scrape));
		return;
	}
	decoder = scrape->decoder;
	if (step == 1) {
		dart_prefetch(scrape->ring, offsetof(struct ring, slots));
		dart_prefetch(decoder, sizeof(*decoder));
	} else if (step == 2) {
		dart_prefetch(scrape->ring->scraper, sizeof(*scrape->ring->scraper));
		dart_prefetch(decoder->settings, sizeof(decoder->settings->index));
		dart_prefetch(&decoder->summary->decoded, offsetof(struct latency, buckets));
	} else {
		scraper__ahead(scrape->ring->scraper, scrape->landing);
	}
}

bool decoder__hand_over(struct decoder *decoder, struct ring *ring, const struct sample_head *head,
			struct work_batch *batch)
{
	struct scrape *scrape = ring__current(ring);

	if (!ring__turn(ring)) {
		workers__count_dropped(decoder->workers, decoder->settings->index);
		return false;
	}
	scrape->work.run = decode;
	scrape->work.ahead = decode_ahead;
	scrape->decoder = decoder;
	scrape->head = *head;
	atomic_store(&scrape->is_handed_over, true);
	ring__hold(ring);
	if (workers__hand_over(decoder->workers, decoder->settings->index, &scrape->work, batch))
		return true;
	atomic_store(&scrape->is_handed_over, false);
	ring__release(ring);
	workers__count_dropped(decoder->workers, decoder->settings->index);
	return false;
}

static void pass_loss(struct work *work)
{
	struct loss *loss = caa_container_of(work, struct loss, work);
	struct decoder *decoder = loss->decoder;
	const bool passes = decoder__passes(decoder);

	if (decoder->tap && passes)
		decoder->tap->operations->lost(decoder->tap, decoder->settings, loss->reason);
	if (passes)
		decoder->sink->operations->lost(decoder->sink, decoder->settings, loss->reason);
	free(loss);
}

static void pass_down(struct work *work)
{
	struct loss *loss = caa_container_of(work, struct loss, work);
	struct decoder *decoder = loss->decoder;
	struct sink *sink = decoder->sink;

	atomic_store(&decoder->is_down_queued, false);
	if (sink->operations->down && decoder__passes(decoder))
		sink->operations->down(sink, decoder->settings, loss->time_ns, loss->reason);
	free(loss);
}

static int decoder__tell(struct decoder *decoder, void (*pass)(struct work *work), int64_t time_ns,
			 const char *reason)
{
	struct loss *loss = malloc(sizeof(*loss) + strlen(reason) + 1);

	if (!loss)
		return -ENOMEM;
	loss->work.run = pass;
	loss->work.ahead = NULL;
	loss->decoder = decoder;
	loss->time_ns = time_ns;
	strcpy(loss->reason, reason);
	workers__hand_over_always(decoder->workers, decoder->settings->index, &loss->work);
	return 0;
}

int decoder__lose(struct decoder *decoder, const char *reason)
{
	return decoder__tell(decoder, pass_loss, 0, reason);
}

int decoder__report_down(struct decoder *decoder, int64_t time_ns, const char *reason)
{
	int err;

	atomic_store(&decoder->is_down_queued, true);
	err = decoder__tell(decoder, pass_down, time_ns, reason);
	if (err)
		atomic_store(&decoder->is_down_queued, false);
	return err;
}
