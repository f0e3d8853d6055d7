// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes metrics of the figures of outputs.  Each series carries the labels "output", the kind of
 * the output, and "to", its destination.
 */
#include "exposition_outputs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An output, and its labels. */
struct described {
	const struct output_figures *figures;
	char *to;
};

/*
 * Sets described[index].to.  Two outputs may share a destination, for instance as two users: the
 * second is called "DESTINATION (2)".
 */
static int describe(struct described *described, size_t index)
{
	const struct output_figures *figures = described[index].figures;
	unsigned int same = 1;
	size_t i;

	for (i = 0; i < index; i++)
		same += !strcmp(described[i].figures->kind, figures->kind) &&
			!strcmp(described[i].figures->name, figures->name);
	if (same == 1)
		described[index].to = strdup(figures->name);
	else if (asprintf(&described[index].to, "%s (%u)", figures->name, same) < 0)
		described[index].to = NULL;
	return described[index].to ? 0 : -ENOMEM;
}

static struct label_list labels_of(const struct described *described)
{
	struct label_list labels = { .count = 0 };

	label_list__add(&labels, "output", described->figures->kind);
	label_list__add(&labels, "to", described->to);
	return labels;
}

static enum metric_type type_of(const char *family)
{
	const size_t length = strlen(family);

	return length > 6 && !strcmp(family + length - 6, "_total") ? METRIC_COUNTER : METRIC_GAUGE;
}

static void add_numbers(struct own_metrics *metrics, const struct described *described,
			size_t count, enum output_figure figure)
{
	const struct output_figure_row *row = &output_figure_rows[figure];
	char *name = NULL, *kept = NULL;
	struct label_list labels;
	double value;
	size_t i;

	if (asprintf(&name, OUTPUT_FAMILY_PREFIX "%s", row->family) >= 0) {
		kept = arena__copy(&metrics->arena, name, strlen(name));
		free(name);
	}
	if (!kept) {
		metrics->has_failed = true;
		return;
	}
	own_metrics__begin(metrics, kept, row->help, row->unit, type_of(row->family));
	for (i = 0; i < count; i++) {
		if (!described[i].figures->has[figure])
			continue;
		labels = labels_of(&described[i]);
		value = described[i].figures->numbers[figure];
		own_metrics__add(metrics, &labels, row->is_time ? value / 1e9 : value);
	}
}

static void add_losses(struct own_metrics *metrics, const struct described *described,
		       const struct output_losses *losses)
{
	struct label_list labels;
	size_t i;

	for (i = 0; i < losses->count; i++) {
		labels = labels_of(described);
		label_list__add(&labels, "reason", losses->all[i].reason);
		label_list__add(&labels, "agent", losses->all[i].agent ?: "");
		own_metrics__add(metrics, &labels, losses->all[i].samples);
	}
}

static void add_errors(struct own_metrics *metrics, const struct described *described, size_t count)
{
	const struct output_error *error;
	struct label_list labels;
	size_t i;

	own_metrics__begin(
		metrics, OUTPUT_FAMILY_PREFIX "last_error_timestamp_seconds",
		"When the last error was, by its kind; dart-controller status has its text.",
		"seconds", METRIC_GAUGE);
	for (i = 0; i < count; i++) {
		error = &described[i].figures->error;
		if (!error->time_ns)
			continue;
		labels = labels_of(&described[i]);
		label_list__add(&labels, "error", error->kind);
		own_metrics__add(metrics, &labels, error->time_ns / 1e9);
	}
}

static void add_all(struct own_metrics *metrics, const struct described *described, size_t count)
{
	size_t i;

	for (i = 0; i < OUTPUT_FIGURE_COUNT; i++)
		add_numbers(metrics, described, count, i);
	own_metrics__begin(metrics, OUTPUT_FAMILY_PREFIX "refused_samples_total",
			   "Samples that the receiver will never take, by reason.", "",
			   METRIC_COUNTER);
	for (i = 0; i < count; i++)
		add_losses(metrics, &described[i], &described[i].figures->refused);
	own_metrics__begin(metrics, OUTPUT_FAMILY_PREFIX "dropped_samples_total",
			   "Samples that never reached the receiver, by reason.", "",
			   METRIC_COUNTER);
	for (i = 0; i < count; i++)
		add_losses(metrics, &described[i], &described[i].figures->dropped);
	add_errors(metrics, described, count);
}

int exposition_outputs__add(struct own_metrics *metrics, struct output_list *list)
{
	struct output_figures *figures;
	struct described *described;
	size_t count, i;
	int err;

	err = output_list__read(list, &figures, &count);
	if (err)
		return err;
	described = calloc(count + 1, sizeof(*described));
	err = described ? 0 : -ENOMEM;
	for (i = 0; !err && i < count; i++) {
		described[i].figures = figures + i;
		err = describe(described, i);
	}
	if (!err)
		add_all(metrics, described, count);
	for (i = 0; described && i < count; i++)
		free(described[i].to);
	free(described);
	output_list__free(figures, count);
	return err ?: metrics->has_failed ? -ENOMEM : 0;
}
