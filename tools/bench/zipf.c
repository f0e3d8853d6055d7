// SPDX-License-Identifier: GPL-2.0-only
/*
 * Walker's alias method, as Vose fills it ("A linear algorithm for generating random
 * numbers with a given distribution", 1991): each number shares its place with at most
 * one other number.
 */
#include "zipf.h"

#include <err.h>
#include <math.h>
#include <stdlib.h>

struct zipf {
	uint32_t count;
	double skew;
	double sum;
	double *own;		/* fraction of a place that is its number's */
	uint32_t *other;	/* the number that takes the rest */
};

static double weight(const struct zipf *zipf, uint32_t number)
{
	return pow(number + 1., -zipf->skew);
}

/* @places: from the start numbers below their share, from the end numbers above it. */
static void fill(struct zipf *zipf, uint32_t *places)
{
	uint32_t small = 0, large = zipf->count, i;

	for (i = 0; i < zipf->count; i++) {
		zipf->own[i] = weight(zipf, i) / zipf->sum * zipf->count;
		zipf->other[i] = i;
		if (zipf->own[i] < 1)
			places[small++] = i;
		else
			places[--large] = i;
	}
	while (small && large < zipf->count) {
		const uint32_t less = places[--small];
		const uint32_t more = places[large];

		zipf->other[less] = more;
		zipf->own[more] -= 1 - zipf->own[less];
		if (zipf->own[more] < 1) {
			large++;
			places[small++] = more;
		}
	}
	/* The rest is 1 except for rounding. */
	while (small)
		zipf->own[places[--small]] = 1;
}

struct zipf *zipf__new(uint32_t count, double skew)
{
	struct zipf *zipf = calloc(1, sizeof(*zipf));
	uint32_t *places = calloc(count, sizeof(*places));
	uint32_t i;

	if (!zipf || !places)
		err(EXIT_FAILURE, "zipf");
	zipf->count = count;
	zipf->skew = skew;
	zipf->own = calloc(count, sizeof(*zipf->own));
	zipf->other = calloc(count, sizeof(*zipf->other));
	if (!zipf->own || !zipf->other)
		err(EXIT_FAILURE, "zipf");
	for (i = count; i; i--)
		zipf->sum += weight(zipf, i - 1);
	fill(zipf, places);
	free(places);
	return zipf;
}

void zipf__free(struct zipf *zipf)
{
	free(zipf->other);
	free(zipf->own);
	free(zipf);
}

uint32_t zipf__next(const struct zipf *zipf, struct dart_random *random)
{
	const uint32_t place = dart_random__below(random, zipf->count);

	return dart_random__fraction(random) < zipf->own[place] ? place : zipf->other[place];
}

double zipf__below(const struct zipf *zipf, uint32_t count)
{
	double sum = 0;

	if (count > zipf->count)
		count = zipf->count;
	while (count)
		sum += weight(zipf, --count);
	return sum / zipf->sum;
}
