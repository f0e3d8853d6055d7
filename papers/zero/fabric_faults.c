// SPDX-License-Identifier: GPL-2.0-only
/* Random faults, and the rules that hold in spite of them. */
#include <stddef.h>

#include "fabric.h"
#include "tools/controller/flow/credit.h"

/* From @least to @most (splitmix64). */
static uint64_t draw(uint64_t *state, uint64_t least, uint64_t most)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return least + (x ^ (x >> 31)) % (most - least + 1);
}

void fabric__random_settings(uint64_t seed, struct fabric_settings *settings)
{
	uint64_t state = seed;

	*settings = (struct fabric_settings){
		.hosts = draw(&state, 1, 200),
		.bytes = draw(&state, 1, 200000),
		.interval_ns = draw(&state, 1000000, 20000000),
		.scrapes = draw(&state, 1, 6),
		.spread = draw(&state, 0, 1),
		.link_bytes_ns = draw(&state, 1, 25),
		.host_bytes_ns = draw(&state, 1, 25),
		.round_trip_ns = draw(&state, 2000, 50000),
		.post_ns = draw(&state, 50, 500),
		.poll_ns = draw(&state, 50, 500),
		.credit = draw(&state, 1, 4 << 20),
		.flow_credit = draw(&state, 1, 100000),
		.loss = draw(&state, 0, 20) / 1000.,
		.retry_ns = draw(&state, 200000, 1000000),
		.mortality = draw(&state, 0, 100) / 1000.,
		.seed = seed,
	};
	settings->first_class = draw(&state, 0, settings->hosts);
	settings->buffer = settings->credit > CREDIT_FRAGMENT ? settings->credit : CREDIT_FRAGMENT;
	/* A READ is not sent again while its first answer may still be in the queue. */
	settings->retry_ns += settings->buffer / settings->link_bytes_ns +
			      CREDIT_FLOW_MAX * CREDIT_FRAGMENT / settings->host_bytes_ns;
}

/*
 * A flow waits until all others had a turn, 16 fragments each.  A turn ends when its last
 * fragment lands, after retries: schedules contain at most 8 for a fragment.
 */
static double wait_limit_ns(const struct fabric_settings *settings)
{
	double fragments = 16. * settings->hosts;
	double credits = settings->buffer / CREDIT_FRAGMENT;
	double each = CREDIT_FRAGMENT / settings->link_bytes_ns +
		      CREDIT_FRAGMENT / settings->host_bytes_ns +
		      settings->post_ns + settings->poll_ns;

	return fragments * each +
	       (fragments / credits + 1) * (settings->round_trip_ns +
					    8 * (settings->retry_ns + settings->round_trip_ns));
}

const char *fabric__broken_rule(const struct fabric_settings *settings,
				const struct fabric_result *result)
{
	if (result->in_flight_max > settings->buffer)
		return "more is in flight than the credit";
	if (result->queue_max > settings->buffer)
		return "the queue of the switch is longer than the credit";
	if (result->dropped)
		return "a switch with a buffer of the credit drops an answer";
	if (result->wait_max_ns > wait_limit_ns(settings))
		return "a flow waits for longer than the turns of all others take";
	if (result->scrapes + result->missed + result->failed !=
	    (uint64_t)settings->hosts * settings->scrapes)
		return "a scrape has neither landed nor been missed nor failed";
	return NULL;
}
