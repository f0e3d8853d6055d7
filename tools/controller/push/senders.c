// SPDX-License-Identifier: GPL-2.0-only
/* How many messages are sent at a time: see senders.h. */
#include "senders.h"

void senders__open(struct senders *senders, unsigned int max)
{
	*senders = (struct senders){ .max = max, .count = 1 };
}

static void double_count(struct senders *senders)
{
	senders->busy = 0;
	senders->count *= 2;
	if (senders->count > senders->max)
		senders->count = senders->max;
}

bool senders__take(struct senders *senders, uint64_t waiting, uint64_t now_ns)
{
	senders->idle = waiting ? 0 : senders->idle + 1;
	senders->busy = waiting > senders->count ? senders->busy + 1 : 0;
	if (senders->idle >= SENDERS_IDLE) {
		senders->idle = 0;
		if (senders->count > 1)
			senders->count /= 2;
	}
	if (senders->busy < SENDERS_BUSY || senders->count == senders->max)
		return false;
	if (!senders->are_parallel)
		return now_ns >= senders->again_ns;
	double_count(senders);
	return false;
}

void senders__take_question(struct senders *senders, bool is_answered, uint64_t now_ns)
{
	uint64_t wait_ns = SENDERS_AGAIN_MIN_NS;
	unsigned int i;

	senders->are_parallel = is_answered;
	if (is_answered) {
		senders->asked = 0;
		double_count(senders);
		return;
	}
	for (i = 0; i < senders->asked && wait_ns < SENDERS_AGAIN_MAX_NS; i++)
		wait_ns *= 2;
	senders->asked++;
	senders->again_ns =
		now_ns + (wait_ns < SENDERS_AGAIN_MAX_NS ? wait_ns : SENDERS_AGAIN_MAX_NS);
}

void senders__fail(struct senders *senders)
{
	senders->are_parallel = false;
	senders->count = 1;
	senders->busy = 0;
}
