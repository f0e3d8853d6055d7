// SPDX-License-Identifier: GPL-2.0-only
/* Metrics of hosts that do not exist: see invented_metrics.h. */
#include "invented_metrics.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/random.h>

#define FAMILY_SERIES 25
#define GENERATIONS 10
#define TEXT_MAX 96

/* A series with its texts. */
struct invented_series {
	struct metric_series series;
	struct metric_label labels[2];
	uint32_t id;
	char family[TEXT_MAX];
	char row[16];
	char text[TEXT_MAX];
};

struct invented_plan {
	struct metric_plan plan;
	atomic_uint holders;
	struct invented_series *invented; /* in the order of the plan */
	struct metric_family *families;
	struct metric_series *series;
};

static void *allocate(size_t count, size_t size)
{
	void *memory = calloc(count, size);

	if (memory)
		return memory;
	fprintf(stderr, "invented_metrics: out of memory\n");
	exit(EXIT_FAILURE);
}

static void invent(struct invented_series *invented, uint32_t id)
{
	static const char *const subjects[] = {
		"cpu",	  "memory",   "network",  "disk",  "filesystem",
		"vmstat", "netstat",  "softnet",  "cgroup", "schedstat",
	};
	static const char *const verbs[] = {
		"reads_completed", "seconds", "receive_bytes", "errors",
		"written_bytes",   "events",  "processed",
	};
	static const char *const modes[] = { "idle", "iowait", "irq", "system", "user" };
	const uint32_t family = id / FAMILY_SERIES;

	invented->id = id;
	snprintf(invented->family, sizeof(invented->family), "node_%s_%s_%03u_total",
		 subjects[family % 10], verbs[family % 7], family);
	snprintf(invented->row, sizeof(invented->row), "%u", id % FAMILY_SERIES / 5);
	invented->labels[0].name = family % 2 ? "cpu" : "device";
	invented->labels[1].name = "mode";
	invented->labels[1].value = modes[id % 5];
	snprintf(invented->text, sizeof(invented->text), "%s=\"%s\",mode=\"%s\"",
		 invented->labels[0].name, invented->row, modes[id % 5]);
}

static int compare(const void *one, const void *other)
{
	const struct invented_series *a = one, *b = other;

	return strcmp(a->family, b->family) ?: strcmp(a->text, b->text);
}

/* Families and series in the given order. */
static void list(struct invented_plan *plan, uint32_t count)
{
	struct metric_family *family = plan->families - 1;
	struct invented_series *invented = plan->invented;
	uint32_t i;

	for (i = 0; i < count; i++, invented++) {
		/* Now that it no longer moves. */
		invented->labels[0].value = invented->row;
		if (!i || strcmp(invented->family, family->name))
			*++family = (struct metric_family){
				.name = invented->family,
				.help = "A number of events that did not happen.",
				.unit = "",
				.type = METRIC_COUNTER,
				.first_series = i,
			};
		family->series_count++;
		plan->series[i] = (struct metric_series){
			.family = family - plan->families,
			.label_count = 2,
			.name = family->name,
			.labels = invented->labels,
			.text = invented->text,
		};
	}
	plan->plan = (struct metric_plan){
		.families = plan->families,
		.family_count = family + 1 - plan->families,
		.series = plan->series,
		.series_count = count,
	};
}

struct metric_plan *invented_plan__new(uint32_t series, unsigned int generation)
{
	struct invented_plan *plan = allocate(1, sizeof(*plan));
	uint32_t count = 0, id;

	atomic_init(&plan->holders, 1);
	plan->invented = allocate(series + 1, sizeof(*plan->invented));
	plan->families = allocate(series + 1, sizeof(*plan->families));
	plan->series = allocate(series + 1, sizeof(*plan->series));
	for (id = 0; count < series; id++) {
		if (id % GENERATIONS != generation % GENERATIONS)
			invent(plan->invented + count++, id);
	}
	qsort(plan->invented, count, sizeof(*plan->invented), compare);
	list(plan, count);
	return &plan->plan;
}

struct metric_plan *metric_plan__get(struct metric_plan *plan)
{
	atomic_fetch_add(&((struct invented_plan *)plan)->holders, 1);
	return plan;
}

void metric_plan__put(struct metric_plan *plan)
{
	struct invented_plan *invented = (struct invented_plan *)plan;

	if (atomic_fetch_sub(&invented->holders, 1) != 1)
		return;
	free(invented->invented);
	free(invented->families);
	free(invented->series);
	free(invented);
}

double invented_plan__value(const struct metric_plan *plan, uint32_t series, uint32_t target,
			    uint32_t scrape, unsigned int changing)
{
	const struct invented_plan *invented = (const struct invented_plan *)plan;
	const uint32_t id = invented->invented[series].id;
	struct dart_random random = dart_random__of((uint64_t)target << 32 | id);
	const uint64_t begin = dart_random__next(&random) >> (20 + dart_random__below(&random, 40));
	const uint64_t step = 1 + dart_random__below(&random, 100000);

	if (dart_random__below(&random, 100) >= changing)
		return begin;
	/* Steps differ, or all of them would be the same bytes. */
	random.state += scrape;
	if (id % 3 == 0)
		return 1e-9 * (begin + scrape * 1000000000ULL / 4 +
			       dart_random__below(&random, step));
	return begin + step * scrape + dart_random__below(&random, step);
}
