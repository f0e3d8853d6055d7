/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The figures of an output: numbers, losses by reason and the last error, copied at one moment
 * for the status of the controller and for /metrics.
 *
 * A number is one row of the table in output_figures.c, from which the members of the status and
 * the families of /metrics are made.  An output sets only the numbers that it has.
 */
#ifndef CONTROLLER_OUTPUT_FIGURES_H
#define CONTROLLER_OUTPUT_FIGURES_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum output_figure {
	/* What waits now. */
	OUTPUT_WAITING_SAMPLES,
	OUTPUT_OLDEST_WAITING_NS, /* the age of the oldest sample that waits; 0: none */
	OUTPUT_QUEUE_BYTES,
	OUTPUT_QUEUE_LIMIT_BYTES,
	OUTPUT_SPOOL_BYTES,
	OUTPUT_SPOOL_LIMIT_BYTES,
	OUTPUT_FAILING, /* 1: the last attempt failed */
	OUTPUT_COLLIDED_LABELS, /* that have another name, for a label that had theirs */
	/* Counted since the output was opened. */
	OUTPUT_SENT_SAMPLES, /* that the receiver took */
	OUTPUT_SENT_BYTES,
	OUTPUT_REQUESTS, /* that were answered */
	OUTPUT_RETRIES, /* further attempts of the same request */
	OUTPUT_REPEATED_SAMPLES, /* not later than the sample before: not sent */
	OUTPUT_RECORDED_SCRAPES,
	OUTPUT_DROPPED_TEXTS, /* scrapes as JSON, and screens, that nobody read in time */
	OUTPUT_DROPPED_SCRAPES, /* that were not recorded */
	OUTPUT_FIGURE_COUNT,
};

/* How a number is shown; all texts are constants. */
struct output_figure_row {
	const char *member; /* of the status */
	/* Of /metrics, without OUTPUT_FAMILY_PREFIX; a counter's ends with "_total". */
	const char *family;
	const char *help;
	const char *unit; /* as that of struct metric_family */
	bool is_time; /* ns, of which /metrics shows seconds */
};

#define OUTPUT_FAMILY_PREFIX "dart_controller_output_"

extern const struct output_figure_row output_figure_rows[OUTPUT_FIGURE_COUNT];

/* Samples that one output lost for one reason. */
struct output_loss {
	char *reason; /* as "queue_full"; of few different texts */
	char *agent; /* HOST:PORT, whose samples they were; NULL: not known */
	uint64_t samples;
};

struct output_losses {
	struct output_loss *all;
	size_t count;
};

#define OUTPUT_ERROR_KIND_MAX 64
#define OUTPUT_ERROR_TEXT_MAX 400

/* The last error of an output; all zeros: there was none. */
struct output_error {
	int64_t time_ns; /* CLOCK_REALTIME */
	char kind[OUTPUT_ERROR_KIND_MAX]; /* as "queue_full"; of few different texts */
	char text[OUTPUT_ERROR_TEXT_MAX]; /* a sentence, which may quote the receiver */
};

struct output_figures {
	const char *kind; /* as in the configuration: "remote_write", "record" ... */
	char *name; /* where it goes: a URL without a password, a path; owned */
	uint64_t numbers[OUTPUT_FIGURE_COUNT];
	bool has[OUTPUT_FIGURE_COUNT];
	struct output_losses refused; /* by the receiver, which will never take them */
	struct output_losses dropped; /* before they reached the receiver */
	struct output_error error;
	bool has_failed; /* out of memory: what is there is not all */
};

/* @kind is a constant; @name is copied, as DART_ESCAPE_SENTENCE of escape.h makes it. */
void output_figures__name(struct output_figures *figures, const char *kind, const char *name);
void output_figures__set(struct output_figures *figures, enum output_figure figure,
			 uint64_t number);
/*
 * Adds a loss to figures->refused or figures->dropped; nothing if @samples is 0, unless the reason
 * is to be seen before its first loss: @is_shown.  @agent may be NULL.
 */
void output_figures__lose(struct output_figures *figures, struct output_losses *losses,
			  const char *reason, const char *agent, uint64_t samples, bool is_shown);
uint64_t output_losses__sum(const struct output_losses *losses);
void output_figures__clear(struct output_figures *figures);

/* The last error of an output, set in its thread and copied in any. */
struct output_error_holder {
	pthread_mutex_t lock;
	struct output_error error;
};

void output_error_holder__open(struct output_error_holder *holder);
void output_error_holder__close(struct output_error_holder *holder);
/* Now.  Both texts are copied as DART_ESCAPE_SENTENCE makes them. */
void output_error_holder__set(struct output_error_holder *holder, const char *kind,
			      const char *text);
void output_error_holder__copy(struct output_error_holder *holder, struct output_error *error);

#endif /* CONTROLLER_OUTPUT_FIGURES_H */
