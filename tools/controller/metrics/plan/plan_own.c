// SPDX-License-Identifier: GPL-2.0-only
/* Adds dart_scrape_... and dart_host_info. */
#include "plan_own.h"

#include <math.h>
#include <stdio.h>

#include "plan.h"
#include "plan_entry.h"

static const struct built_family families[] = {
	[PLAN_OWN_HOST_INFO] = {
		"dart_host_info",
		"The host that the values are of, its boot and its name, as labels.",
		"", METRIC_GAUGE,
	},
	[PLAN_OWN_DURATION] = {
		"dart_scrape_duration_seconds",
		"Time from the request for the values to their last byte.",
		"seconds", METRIC_GAUGE,
	},
	[PLAN_OWN_READS] = {
		"dart_scrape_reads",
		"READs of the scrape, or requests.",
		"", METRIC_GAUGE,
	},
	[PLAN_OWN_BYTES] = {
		"dart_scrape_bytes",
		"Bytes that the scrape fetched.",
		"bytes", METRIC_GAUGE,
	},
	[PLAN_OWN_MISSED] = {
		"dart_scrape_missed_total",
		"Scrapes that were due before the previous one ended.",
		"", METRIC_COUNTER,
	},
	[PLAN_OWN_FAILED] = {
		"dart_scrape_failed_total",
		"Scrapes that were due while the host was unreachable.",
		"", METRIC_COUNTER,
	},
	[PLAN_OWN_CLOCK_OFFSET] = {
		"dart_scrape_clock_offset_seconds",
		"Clock of the host, less that of the controller.",
		"seconds", METRIC_GAUGE,
	},
	[PLAN_OWN_CLOCK_UNCERTAINTY] = {
		"dart_scrape_clock_uncertainty_seconds",
		"Greatest error of the clock offset.",
		"seconds", METRIC_GAUGE,
	},
	[PLAN_OWN_CLOCK_OFF] = {
		"dart_scrape_clock_off",
		"Whether the clock offset is beyond the controller's bound (1 = yes, 0 = no).",
		"", METRIC_GAUGE,
	},
	[PLAN_OWN_TORN] = {
		"dart_scrape_torn_samples_total",
		"Samples that are missing, because the host was writing their row when it was READ.",
		"", METRIC_COUNTER,
	},
	[PLAN_OWN_DROPPED] = {
		"dart_scrape_dropped_series",
		"Series of the host that are left out: they equal others, or are too many.",
		"", METRIC_GAUGE,
	},
};

static void print_id(const uint8_t id[16], char text[static 33])
{
	int i;

	for (i = 0; i < 16; i++)
		sprintf(text + 2 * i, "%02x", id[i]);
}

static void add_host(struct label_list *list, const struct dart_table *table,
		     char name[static LABEL_VALUE_MAX], char boot[static 33], char host[static 33])
{
	label_value__of_node(table, name);
	print_id(table->boot_id, boot);
	print_id(table->host_id, host);
	label_list__add(list, "node_name", name);
	label_list__add(list, "boot_id", boot);
	label_list__add(list, "host_id", host);
}

void plan_own__add(struct plan_builder *builder)
{
	char name[LABEL_VALUE_MAX], boot[33], host[33];
	struct label_list labels;
	int own;

	labels.count = 0;
	add_host(&labels, builder->sample->table, name, boot, host);
	for (own = 0; own < PLAN_OWN_COUNT; own++) {
		plan_builder__add_own(builder, plan_builder__family(builder, &families[own]),
				      &labels, &builder->plan->own[own]);
		labels.count = 0;
	}
}

double plan_own__value(enum plan_own own, const struct plan *plan, const struct sample *sample,
		       uint64_t torn)
{
	const struct sample_head *head = &sample->head;
	const struct sample_clock *clock = &sample->clock;

	switch (own) {
	case PLAN_OWN_HOST_INFO:
		return 1;
	case PLAN_OWN_DURATION:
		return (head->landed_ns - head->start_ns) / 1e9;
	case PLAN_OWN_READS:
		return head->reads;
	case PLAN_OWN_BYTES:
		return head->bytes;
	case PLAN_OWN_MISSED:
		return head->missed;
	case PLAN_OWN_FAILED:
		return head->failed;
	case PLAN_OWN_CLOCK_OFFSET:
		return clock->uncertainty_ns ? clock->offset_ns / 1e9 : NAN;
	case PLAN_OWN_CLOCK_UNCERTAINTY:
		return clock->uncertainty_ns ? clock->uncertainty_ns / 1e9 : NAN;
	case PLAN_OWN_CLOCK_OFF:
		return clock->uncertainty_ns ? clock->is_off : NAN;
	case PLAN_OWN_TORN:
		return torn;
	case PLAN_OWN_DROPPED:
	case PLAN_OWN_COUNT:
		break;
	}
	return plan->metrics.dropped_count;
}

static const struct metric_family up_families[PLAN_UP_SERIES] = {
	{
		.name = "dart_up",
		.help = "Whether the values of the host can be read.",
		.unit = "",
		.type = METRIC_GAUGE,
		.first_series = 0,
		.series_count = 1,
	},
	{
		.name = "up",
		.help = "Whether the values of the host can be read.",
		.unit = "",
		.type = METRIC_GAUGE,
		.first_series = 1,
		.series_count = 1,
	},
};

static const struct metric_series up_series[PLAN_UP_SERIES] = {
	{ .family = 0, .name = "dart_up", .text = "" },
	{ .family = 1, .name = "up", .text = "" },
};

const struct metric_plan plan_up__of_pages = {
	.families = up_families,
	.family_count = 1,
	.series = up_series,
	.series_count = 1,
};

struct metric_plan *plan_up__new(void)
{
	struct plan *plan = plan__new();

	if (!plan)
		return NULL;
	plan->metrics = (struct metric_plan){
		.families = up_families,
		.family_count = PLAN_UP_SERIES,
		.series = up_series,
		.series_count = PLAN_UP_SERIES,
	};
	return &plan->metrics;
}
