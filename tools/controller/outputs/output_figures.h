/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The figures of an output: numbers, losses by reason and the last error, copied at one moment for
 * the status of the controller and for /metrics.
 *
 * Each number is one row of the table in output_figures.c, from which the members of the status and
 * the families of /metrics are made. An output sets only the numbers that apply to it.
 */
#ifndef CONTROLLER_OUTPUT_FIGURES_H
#define CONTROLLER_OUTPUT_FIGURES_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum output_figure {
	/* Levels: the amount that waits now. */
	OUTPUT_WAITING_SAMPLES,
	OUTPUT_OLDEST_WAITING_NS, /* age of the oldest waiting sample; 0 if none waits */
	OUTPUT_QUEUE_BYTES,
	OUTPUT_QUEUE_LIMIT_BYTES,
	OUTPUT_SPOOL_BYTES,
	OUTPUT_SPOOL_LIMIT_BYTES,
	OUTPUT_FAILING, /* 1 if the last attempt failed */
	OUTPUT_COLLIDED_LABELS, /* labels renamed because another label used their name */
	OUTPUT_SERIES, /* of all targets */
	OUTPUT_UNPLANNED_SCRAPES, /* without metrics: see sink_metrics__bound_plans() */
	OUTPUT_OVER_LIMIT, /* targets whose metrics it lacks, because they exceed a limit */
	/* Counters since the output was opened. */
	OUTPUT_SENT_SAMPLES, /* that the receiver accepted */
	OUTPUT_SENT_BYTES,
	OUTPUT_REQUESTS, /* that the receiver answered */
	OUTPUT_RETRIES, /* further attempts of the same request */
	OUTPUT_REPEATED_SAMPLES, /* not sent: no later than the previous sample */
	OUTPUT_RECORDED_SCRAPES,
	OUTPUT_DROPPED_TEXTS, /* JSON scrapes and screens that the reader was too slow for */
	OUTPUT_DROPPED_SCRAPES, /* scrapes that were not recorded */
	OUTPUT_FIGURE_COUNT,
};

/* How a number is shown; all texts are constants. */
struct output_figure_row {
	const char *member; /* member of the status */
	/*
	 * Name in /metrics, without OUTPUT_FAMILY_PREFIX; the name of a counter ends with "_total".
	 */
	const char *family;
	const char *help;
	const char *unit; /* as in struct metric_family */
	bool is_time; /* in ns; /metrics shows seconds */
};

#define OUTPUT_FAMILY_PREFIX "dart_controller_output_"

extern const struct output_figure_row output_figure_rows[OUTPUT_FIGURE_COUNT];

/* Samples that one output lost for one reason. */
struct output_loss {
	char *reason; /* such as "queue_full"; one of few different texts */
	char *agent; /* HOST:PORT, the source of the samples; NULL if unknown */
	uint64_t samples;
};

struct output_losses {
	struct output_loss *all;
	size_t count;
};

#define OUTPUT_ERROR_KIND_MAX 64
#define OUTPUT_ERROR_TEXT_MAX 400

/* The last error of an output; zeroed if no error has occurred. */
struct output_error {
	int64_t time_ns; /* CLOCK_REALTIME */
	char kind[OUTPUT_ERROR_KIND_MAX]; /* such as "queue_full"; one of few different texts */
	char text[OUTPUT_ERROR_TEXT_MAX]; /* a sentence, which may quote the receiver */
};

struct output_figures {
	const char *kind; /* as in the configuration: "remote_write", "record" ... */
	char *name; /* destination: a URL without a password, or a path; owned */
	uint64_t numbers[OUTPUT_FIGURE_COUNT];
	bool has[OUTPUT_FIGURE_COUNT];
	struct output_losses refused; /* by the receiver, which will never accept them */
	struct output_losses dropped; /* before they reached the receiver */
	struct output_error error;
	bool has_failed; /* out of memory: the figures are incomplete */
};

/*
 * Sets the name. @kind is a constant; @name is copied, escaped with DART_ESCAPE_SENTENCE of
 * escape.h.
 */
void output_figures__name(struct output_figures *figures, const char *kind, const char *name);
void output_figures__set(struct output_figures *figures, enum output_figure figure,
			 uint64_t number);
/*
 * Adds a loss to figures->refused or figures->dropped. Skips it if @samples is 0, unless @is_shown:
 * then the reason appears before its first loss. @agent may be NULL.
 */
void output_figures__lose(struct output_figures *figures, struct output_losses *losses,
			  const char *reason, const char *agent, uint64_t samples, bool is_shown);
uint64_t output_losses__sum(const struct output_losses *losses);
void output_figures__clear(struct output_figures *figures);

/* The last error of an output: the output's thread sets it, and any thread copies it. */
struct output_error_holder {
	pthread_mutex_t lock;
	struct output_error error;
};

void output_error_holder__open(struct output_error_holder *holder);
void output_error_holder__close(struct output_error_holder *holder);
/*
 * Stores the error with the current time. Both texts are copied, escaped with DART_ESCAPE_SENTENCE.
 */
void output_error_holder__set(struct output_error_holder *holder, const char *kind,
			      const char *text);
void output_error_holder__copy(struct output_error_holder *holder, struct output_error *error);

#endif /* CONTROLLER_OUTPUT_FIGURES_H */
