// SPDX-License-Identifier: GPL-2.0-only
/* Copies the figures of outputs; the table says how each is shown: see output_figures.h. */
#include "output_figures.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <libdart/clock.h>
#include <libdart/escape.h>

const struct output_figure_row output_figure_rows[OUTPUT_FIGURE_COUNT] = {
	[OUTPUT_WAITING_SAMPLES] = {
		.member = "waiting_samples",
		.family = "waiting_samples",
		.help = "Samples that wait to be sent, in memory or in the spool.",
		.unit = "",
	},
	[OUTPUT_OLDEST_WAITING_NS] = {
		.member = "oldest_waiting_ns",
		.family = "oldest_waiting_seconds",
		.help = "How long the oldest request has waited to be sent; 0 if none waits.",
		.unit = "seconds",
		.is_time = true,
	},
	[OUTPUT_QUEUE_BYTES] = {
		.member = "queue_bytes",
		.family = "queue_bytes",
		.help = "Memory of what waits to be sent or written.",
		.unit = "bytes",
	},
	[OUTPUT_QUEUE_LIMIT_BYTES] = {
		.member = "queue_limit_bytes",
		.family = "queue_limit_bytes",
		.help = "Memory that may wait to be sent or written, before scrapes are dropped.",
		.unit = "bytes",
	},
	[OUTPUT_SPOOL_BYTES] = {
		.member = "spool_bytes",
		.family = "spool_bytes",
		.help = "Bytes of the files of the spool.",
		.unit = "bytes",
	},
	[OUTPUT_SPOOL_LIMIT_BYTES] = {
		.member = "spool_limit_bytes",
		.family = "spool_limit_bytes",
		.help = "Bytes that the files of the spool may have; the oldest make room.",
		.unit = "bytes",
	},
	[OUTPUT_FAILING] = {
		.member = "failing",
		.family = "failing",
		.help = "Whether the last attempt to send or to write has failed.",
		.unit = "",
	},
	[OUTPUT_COLLIDED_LABELS] = {
		.member = "collided_labels",
		.family = "collided_labels",
		.help = "Labels of agents that have another name, because another label had theirs.",
		.unit = "",
	},
	[OUTPUT_SERIES] = {
		.member = "series",
		.family = "series",
		.help = "Series of all agents.",
		.unit = "",
	},
	[OUTPUT_UNPLANNED_SCRAPES] = {
		.member = "unplanned_scrapes",
		.family = "unplanned_scrapes_total",
		.help = "Scrapes without metrics, because the series of their agents changed too fast.",
		.unit = "",
	},
	[OUTPUT_OVER_LIMIT] = {
		.member = "agents_over_limit",
		.family = "agents_over_limit",
		.help = "Agents whose metrics this output lacks, because they exceed a limit.",
		.unit = "",
	},
	[OUTPUT_SENT_SAMPLES] = {
		.member = "sent_samples",
		.family = "sent_samples_total",
		.help = "Samples that the receiver took, stale markers included.",
		.unit = "",
	},
	[OUTPUT_SENT_BYTES] = {
		.member = "sent_bytes",
		.family = "sent_bytes_total",
		.help = "Bytes that were sent or written, those of repeated requests included.",
		.unit = "bytes",
	},
	[OUTPUT_REQUESTS] = {
		.member = "requests",
		.family = "requests_total",
		.help = "Requests that were answered, whatever the answer was.",
		.unit = "",
	},
	[OUTPUT_RETRIES] = {
		.member = "retries",
		.family = "retries_total",
		.help = "Further attempts to send the same request.",
		.unit = "",
	},
	[OUTPUT_REPEATED_SAMPLES] = {
		.member = "repeated_samples",
		.family = "repeated_samples_total",
		.help = "Values that were READ again with the same time, or an earlier one: not sent.",
		.unit = "",
	},
	[OUTPUT_RECORDED_SCRAPES] = {
		.member = "recorded_scrapes",
		.family = "recorded_scrapes_total",
		.help = "Scrapes that are in the files of the recording.",
		.unit = "",
	},
	[OUTPUT_DROPPED_TEXTS] = {
		.member = "dropped_texts",
		.family = "dropped_texts_total",
		.help = "Scrapes as text, or messages, that were dropped, because nobody read them in time.",
		.unit = "",
	},
	[OUTPUT_DROPPED_SCRAPES] = {
		.member = "dropped_scrapes",
		.family = "dropped_scrapes_total",
		.help = "Scrapes that were not recorded, because the disk was full or too slow.",
		.unit = "",
	},
};

void output_figures__name(struct output_figures *figures, const char *kind, const char *name)
{
	figures->kind = kind;
	figures->name = dart_escape__new(name, DART_ESCAPE_SENTENCE);
	if (!figures->name)
		figures->has_failed = true;
}

void output_figures__set(struct output_figures *figures, enum output_figure figure, uint64_t number)
{
	figures->numbers[figure] = number;
	figures->has[figure] = true;
}

void output_figures__lose(struct output_figures *figures, struct output_losses *losses,
			  const char *reason, const char *agent, uint64_t samples, bool is_shown)
{
	struct output_loss *all, *loss;

	if (!samples && !is_shown)
		return;
	all = reallocarray(losses->all, losses->count + 1, sizeof(*all));
	if (!all) {
		figures->has_failed = true;
		return;
	}
	losses->all = all;
	loss = &all[losses->count];
	*loss = (struct output_loss){
		.reason = dart_escape__new(reason, DART_ESCAPE_SENTENCE),
		.agent = agent ? dart_escape__new(agent, DART_ESCAPE_SENTENCE) : NULL,
		.samples = samples,
	};
	if (!loss->reason || (agent && !loss->agent)) {
		free(loss->reason);
		free(loss->agent);
		figures->has_failed = true;
		return;
	}
	losses->count++;
}

uint64_t output_losses__sum(const struct output_losses *losses)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < losses->count; i++)
		sum += losses->all[i].samples;
	return sum;
}

static void output_losses__clear(struct output_losses *losses)
{
	size_t i;

	for (i = 0; i < losses->count; i++) {
		free(losses->all[i].reason);
		free(losses->all[i].agent);
	}
	free(losses->all);
}

void output_figures__clear(struct output_figures *figures)
{
	output_losses__clear(&figures->refused);
	output_losses__clear(&figures->dropped);
	free(figures->name);
	*figures = (struct output_figures){};
}

void output_error_holder__open(struct output_error_holder *holder)
{
	*holder = (struct output_error_holder){};
	pthread_mutex_init(&holder->lock, NULL);
}

void output_error_holder__close(struct output_error_holder *holder)
{
	pthread_mutex_destroy(&holder->lock);
}

void output_error_holder__set(struct output_error_holder *holder, const char *kind,
			      const char *text)
{
	struct output_error *error = &holder->error;

	pthread_mutex_lock(&holder->lock);
	error->time_ns = dart_clock__ns(CLOCK_REALTIME);
	dart_escape__text(kind, strlen(kind), DART_ESCAPE_SENTENCE, error->kind,
			  sizeof(error->kind));
	dart_escape__text(text, strlen(text), DART_ESCAPE_SENTENCE, error->text,
			  sizeof(error->text));
	pthread_mutex_unlock(&holder->lock);
}

void output_error_holder__copy(struct output_error_holder *holder, struct output_error *error)
{
	pthread_mutex_lock(&holder->lock);
	*error = holder->error;
	pthread_mutex_unlock(&holder->lock);
}
