// SPDX-License-Identifier: GPL-2.0-only
/*
 * Errors of sketches: libdart's code counts random keys once each, and the errors of their counts are
 * compared with theory.  Prints CSV, and fails if a share differs by more than a point.
 *
 * A row of a key of n others has Poisson(n / columns) of them, so with count-min
 *
 *   P(error of D rows >= x) = P(Poisson(n / columns) >= x)^D
 *
 * and in a row of a count sketch, half of them add and half subtract, so the error has the
 * distribution of Skellam.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/random.h>
#include <libdart/sketch/sketch_reader.h>

#define NS_PER_S UINT64_C(1000000000)
#define POINT 0.01
#define ERRORS_MAX 4 /* errors of 1 to this are compared */

struct point {
	uint32_t kind, rows, columns_log2;
	double load; /* keys for each column */
	uint32_t key_count;
	int64_t *errors; /* of the keys */
	struct dart_sketch_summary summary;
	double probability;
};

static void *allocate(size_t count, size_t size)
{
	void *memory = calloc(count, size);

	if (!memory) {
		fputs("sketch-sim: out of memory\n", stderr);
		exit(1);
	}
	return memory;
}

/* Counts the keys in a period, and reads this from memory. */
static struct dart_sketch_merge *count_keys(const struct dart_sketch_geometry *geometry,
					    const uint64_t *keys, uint32_t count)
{
	uint8_t *memory = allocate(1, dart_sketch_geometry__length(geometry));
	struct dart_sketch_reader *reader;
	struct dart_sketch_merge *merge;
	struct dart_sketch_write write;
	struct dart_sketcher *sketcher;
	struct dart_error error;
	uint32_t i;

	if (dart_sketcher__new(geometry, &sketcher) ||
	    dart_sketch_reader__map(geometry, memory, &reader)) {
		fputs("sketch-sim: out of memory\n", stderr);
		exit(1);
	}
	dart_sketcher__turn(sketcher, NS_PER_S, NS_PER_S);
	dart_sketcher__turn(sketcher, 2 * NS_PER_S, 2 * NS_PER_S);
	for (i = 0; i < count; i++)
		dart_sketcher__count(sketcher, &keys[i], sizeof(*keys), 1);
	dart_sketcher__turn(sketcher, 3 * NS_PER_S, 3 * NS_PER_S);
	while (dart_sketcher__next(sketcher, &write))
		memcpy(memory + write.offset, write.bytes, write.length);
	if (dart_sketch_reader__read(reader, 0, &merge, &error)) {
		fprintf(stderr, "sketch-sim: %s\n", error.text);
		exit(1);
	}
	dart_sketch_reader__close(reader);
	dart_sketcher__free(sketcher);
	free(memory);
	return merge;
}

static void measure(struct point *point, struct dart_random *random)
{
	const struct dart_sketch_geometry geometry = { 1, point->kind, point->rows,
						       point->columns_log2, 1 };
	struct dart_sketch_estimate estimate;
	struct dart_sketch_merge *merge;
	uint64_t *keys;
	uint32_t i;

	point->key_count = point->load * (1u << point->columns_log2);
	keys = allocate(point->key_count, sizeof(*keys));
	point->errors = allocate(point->key_count, sizeof(*point->errors));
	for (i = 0; i < point->key_count; i++)
		keys[i] = dart_random__next(random);
	merge = count_keys(&geometry, keys, point->key_count);
	point->summary = *dart_sketch_merge__summary(merge);
	for (i = 0; i < point->key_count; i++) {
		dart_sketch_merge__ask(merge, &keys[i], sizeof(keys[i]), &estimate);
		point->errors[i] = estimate.count - 1;
		point->probability = estimate.probability;
	}
	dart_sketch_merge__free(merge);
	free(keys);
}

/* P(Poisson(@mean) >= @least) */
static double poisson_tail(double mean, uint32_t least)
{
	double each = exp(-mean), below = 0;
	uint32_t i;

	for (i = 0; i < least; i++) {
		below += each;
		each *= mean / (i + 1);
	}
	return 1 - below;
}

/* The share of keys whose error is at least @least, in either direction. */
static double share(const struct point *point, int64_t least)
{
	uint32_t i, count = 0;

	for (i = 0; i < point->key_count; i++)
		count += llabs(point->errors[i]) >= least;
	return (double)count / point->key_count;
}

/* Returns whether both agree within a point. */
static bool print(const struct point *point, const char *what, double measured, double theory)
{
	printf("%s,%u,%g,%s,%.4f,%.4f\n", dart_sketch_kind__name(point->kind), point->rows,
	       point->load, what, measured, theory);
	return fabs(measured - theory) <= POINT;
}

static bool compare_count_min(const struct point *point)
{
	char what[32];
	bool agrees = true;
	uint32_t x;

	for (x = 1; x <= ERRORS_MAX; x++) {
		snprintf(what, sizeof(what), "error >= %u", x);
		agrees &= print(point, what, share(point, x),
				pow(poisson_tail(point->load, x), point->rows));
	}
	return agrees;
}

/* P(Skellam = 0) for @mean others, half of which add and half subtract: exp(-mean) I_0(mean). */
static double skellam_zero(double mean)
{
	double each = exp(-mean), sum = 0;
	uint32_t i;

	for (i = 1; i < 100; i++) {
		sum += each;
		each *= mean * mean / (4. * i * i);
	}
	return sum;
}

static bool compare_count_sketch(const struct point *point)
{
	return point->rows > 1 ||
	       print(point, "error >= 1", share(point, 1), 1 - skellam_zero(point->load));
}

/* No more keys may be farther off than the answers say. */
static bool check_bound(const struct point *point)
{
	const double off = share(point, point->summary.epsilon + 1);

	printf("%s,%u,%g,error > epsilon,%.4f,%.4f\n", dart_sketch_kind__name(point->kind),
	       point->rows, point->load, off, 1 - point->probability);
	return off <= 1 - point->probability + POINT;
}

int main(void)
{
	static const double loads[] = { 0.25, 0.5, 1, 2, 4, 8 };
	static const uint32_t rows[] = { 1, 2, 4, 8 };
	struct dart_random random = dart_random__of(1);
	bool agrees = true;
	size_t i, k;
	uint32_t kind;

	puts("kind,rows,keys per column,share of keys,measured,theory");
	for (kind = 0; kind < 2; kind++)
		for (i = 0; i < sizeof(rows) / sizeof(*rows); i++)
			for (k = 0; k < sizeof(loads) / sizeof(*loads); k++) {
				struct point point = { .kind = kind,
						       .rows = rows[i],
						       .columns_log2 = 16,
						       .load = loads[k] };

				measure(&point, &random);
				agrees &= kind ? compare_count_sketch(&point) :
						 compare_count_min(&point);
				agrees &= check_bound(&point);
				free(point.errors);
			}
	if (!agrees)
		fputs("sketch-sim: a share differs from theory by more than a point\n", stderr);
	return agrees ? EXIT_SUCCESS : EXIT_FAILURE;
}
