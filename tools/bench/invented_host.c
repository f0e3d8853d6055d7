// SPDX-License-Identifier: GPL-2.0-only
/* Moves the values of an invented host. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "invented_host.h"

/* The modes in the order of invented_plan.c, as parts of the busy time; idle is the rest. */
static const double parts_of_busy[] = { 0, 0.06, 0.01, 0, 0.05, 0, 0.2, 0.68 };

int invented_host__init(struct invented_host *host, struct invented_plan *plan, uint64_t seed)
{
	unsigned int i;

	*host = (struct invented_host){ .random = dart_random__of(seed) };
	host->points = calloc(plan->plan.series_count, sizeof(*host->points));
	if (!host->points)
		return -ENOMEM;
	host->plan = (struct invented_plan *)metric_plan__get(&plan->plan);
	host->load = dart_random__fraction(&host->random);
	host->load *= host->load;
	for (i = 0; i < plan->cpus; i++)
		host->busy[i] = host->load;
	for (i = 0; i < plan->plan.series_count; i++)
		if (plan->motions[i].shape == INVENTED_WALK)
			host->points[i].value = plan->motions[i].base;
	return 0;
}

void invented_host__clear(struct invented_host *host)
{
	if (host->plan)
		metric_plan__put(&host->plan->plan);
	free(host->points);
	*host = (struct invented_host){ };
}

static double noise(struct invented_host *host)
{
	return dart_random__fraction(&host->random) * 2 - 1;
}

static double between(double value, double least, double most)
{
	return value < least ? least : value > most ? most : value;
}

static void move_load(struct invented_host *host, double seconds)
{
	unsigned int i;
	double step = sqrt(seconds);

	host->load = between(host->load + 0.02 * step * noise(host), 0.01, 0.9);
	for (i = 0; i < host->plan->cpus; i++) {
		host->busy[i] += (host->load - host->busy[i]) * 0.2 * fmin(seconds, 1) +
				 0.12 * step * noise(host);
		/* One in a while is all busy for a moment. */
		if (!dart_random__below(&host->random, 600))
			host->busy[i] = 1;
		host->busy[i] = between(host->busy[i], 0, 1);
	}
}

/* Counters of time count nanoseconds. */
static double grow_seconds(double value, double seconds)
{
	return round((value + seconds) * 1e9) / 1e9;
}

static double grow_cpu(const struct invented_host *host, const struct invented_motion *motion,
		       double value, double seconds)
{
	double busy = host->busy[motion->unit];

	return grow_seconds(value, seconds * (motion->part ? busy * parts_of_busy[motion->part] :
							     1 - busy));
}

/* The share of events that take no longer than @limit: the slower, the busier the host is. */
static double share_within(const struct invented_host *host, double limit)
{
	double middle = log(8e-6) + 4 * host->load;

	return 0.5 * erfc(-(log(limit) - middle) / 1.8);
}

static double move(struct invented_host *host, const struct invented_motion *motion, double value,
		   double seconds)
{
	double grown;

	switch (motion->shape) {
	case INVENTED_CONSTANT:
		return motion->base;
	case INVENTED_WALK:
		value += motion->base * 0.03 * sqrt(seconds) * noise(host);
		value = between(value, 0, 2 * motion->base);
		return motion->base > 1e6 ? rint(value / 4096) * 4096 : rint(value * 100) / 100;
	case INVENTED_RATE:
		grown = motion->base * (0.3 + 1.4 * host->load) * seconds * (1 + 0.4 * noise(host));
		return motion->base < 1 ? grow_seconds(value, grown) : value + rint(grown);
	case INVENTED_RARE:
		return value + (dart_random__fraction(&host->random) < motion->base * seconds);
	case INVENTED_CPU:
		return grow_cpu(host, motion, value, seconds);
	case INVENTED_BUCKET:
		return value + rint(motion->base * seconds * share_within(host, motion->limit));
	}
	return value;
}

void invented_host__move(struct invented_host *host, int64_t time_ns)
{
	double seconds = host->time_ns ? (time_ns - host->time_ns) / 1e9 : 1;
	uint32_t i;

	move_load(host, seconds);
	for (i = 0; i < host->plan->plan.series_count; i++) {
		host->points[i].value =
			move(host, &host->plan->motions[i], host->points[i].value, seconds);
		host->points[i].time_ns = time_ns;
	}
	host->time_ns = time_ns;
}
