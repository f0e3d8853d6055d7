/* SPDX-License-Identifier: GPL-2.0-only */
/* Between the thread of a source, source.c, and the readers, one for each kind. */
#ifndef CONTROLLER_SOURCE_PRIVATE_H
#define CONTROLLER_SOURCE_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "source.h"

/* Until the next look at a source that does not say how long that may take. */
#define SOURCE_FILE_REFRESH_MS 300000
#define SOURCE_HTTP_REFRESH_MS 60000
/* A source that has failed is asked again after so long, or after its refresh if less. */
#define SOURCE_RETRY_MS 10000

/* All in the thread of the source. */
struct source_reader {
	const char *kind;
	bool waits_first; /* for source__look() */
	int pause_ms; /* between looks, at least, whatever changes or asks */
	/*
	 * Sets source->state.  Returns 0, or -errno with a sentence in @error, and is called
	 * again later, after close(); may be NULL.
	 */
	int (*open)(struct source *source, struct dart_error *error);
	/*
	 * One look.  Fills in the list of @news, or the settings; their result is 0, or -errno
	 * with a sentence in the error.  Returns how long to wait for the next look in ms; -1:
	 * until asked for it.
	 */
	int (*read)(struct source *source, struct source_news *news);
	/*
	 * Sleeps for @ms at most, until there may be news, or source->wake is readable.  NULL:
	 * until the latter.
	 */
	void (*wait)(struct source *source, int ms);
	/* Also if open() has failed; resets source->state.  NULL if open is. */
	void (*close)(struct source *source);
};

extern const struct source_reader source_configuration_reader;
extern const struct source_reader source_dns_reader;
extern const struct source_reader source_file_reader;
extern const struct source_reader source_http_reader;

struct source {
	const struct source_reader *reader; /* these do not change */
	struct settings settings; /* one source, or of the command line */
	struct target_defaults defaults; /* with an interval; of the settings */
	struct shared_text *name;
	int wake; /* eventfd: look, or end */
	int ready; /* eventfd: there are news */

	atomic_uint holders; /* the event loop, the thread */
	atomic_bool is_ending;
	atomic_bool has_ended; /* the thread, but for its last lines; @ready tells */
	pthread_mutex_t lock;
	struct source_news *news; /* under the lock; NULL: none */

	pthread_t thread; /* of the event loop */
	sd_event_source *event_source;
	source_handler *handler;
	void *data;

	void *state; /* of the reader */
	struct target_list last; /* of the thread: what was found last */
	bool has_last;
};

static inline bool source__is_ending(const struct source *source)
{
	return atomic_load(&source->is_ending);
}

/* What the source is about; not of a configuration. */
static inline const struct source_settings *source__settings(const struct source *source)
{
	return source->settings.sources;
}

/* The refresh of the settings, or else @ms. */
static inline int source__refresh_ms(const struct source *source, int ms)
{
	uint64_t refresh_ns = source__settings(source)->refresh_ns;

	return refresh_ns ? (refresh_ns + 999999) / 1000000 : (uint64_t)ms;
}

/* After a look that has failed. */
static inline int source__retry_ms(const struct source *source)
{
	int ms = source__refresh_ms(source, SOURCE_RETRY_MS);

	return ms < SOURCE_RETRY_MS ? ms : SOURCE_RETRY_MS;
}

#endif /* CONTROLLER_SOURCE_PRIVATE_H */
