// SPDX-License-Identifier: GPL-2.0-only
/* Work of the workers: decodes scrapes and passes them to the sink. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decoder.h"
#include "tools/controller/schedule.h"

/* A target is lost. */
struct loss {
	struct work work;
	struct decoder *decoder;
	char reason[];
};

static void decode(struct work *work)
{
	struct scrape *scrape = caa_container_of(work, struct scrape, work);
	struct decoder *decoder = scrape->decoder;
	struct summary *summary = decoder->summary;
	struct sink *sink = decoder->sink;
	struct ring *ring = scrape->ring;
	struct sample *sample;

	sample = scraper__decode(ring->scraper, scrape->landing);
	sample->head = scrape->head;
	sample->end_ns = scrape->end_ns ?: monotonic_ns();
	/* Before the slot can be READ into again. */
	if (decoder->tap)
		decoder->tap->operations->landed(decoder->tap,
						 decoder->settings, ring,
						 scrape->landing, sample);
	atomic_store(&scrape->is_handed_over, false);

	latency__add(&summary->decoded,
		     sample->end_ns - sample->head.start_ns);
	if (sink->operations->sample(sink, decoder->settings, sample,
				     &summary->decoded))
		count__add(&summary->unwritten, 1);
	ring__release(ring);
}

bool decoder__hand_over(struct decoder *decoder, struct ring *ring,
			const struct sample_head *head,
			struct work_batch *batch)
{
	struct scrape *scrape = ring__current(ring);

	if (!ring__turn(ring))
		return false;
	scrape->work.run = decode;
	scrape->decoder = decoder;
	scrape->head = *head;
	atomic_store(&scrape->is_handed_over, true);
	ring__hold(ring);
	if (workers__hand_over(decoder->workers, decoder->settings->index,
			       &scrape->work, batch))
		return true;
	atomic_store(&scrape->is_handed_over, false);
	ring__release(ring);
	return false;
}

static void pass_loss(struct work *work)
{
	struct loss *loss = caa_container_of(work, struct loss, work);
	struct decoder *decoder = loss->decoder;

	if (decoder->tap)
		decoder->tap->operations->lost(
			decoder->tap, decoder->settings, loss->reason);
	decoder->sink->operations->lost(decoder->sink, decoder->settings,
					loss->reason);
	free(loss);
}

int decoder__lose(struct decoder *decoder, const char *reason)
{
	struct loss *loss = malloc(sizeof(*loss) + strlen(reason) + 1);

	if (!loss)
		return -ENOMEM;
	loss->work.run = pass_loss;
	loss->decoder = decoder;
	strcpy(loss->reason, reason);
	workers__hand_over_always(decoder->workers, decoder->settings->index,
				  &loss->work);
	return 0;
}
