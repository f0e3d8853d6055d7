/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the thread of a source, in source.c, and the readers, one for each kind of source. */
#ifndef CONTROLLER_SOURCE_PRIVATE_H
#define CONTROLLER_SOURCE_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "source.h"

/* Default time from one look to the next, for settings without a refresh time. */
#define SOURCE_FILE_REFRESH_MS 300000
#define SOURCE_HTTP_REFRESH_MS 60000
/* On a file system of another machine no change may be noticed. */
#define SOURCE_MEMBERS_REFRESH_MS 10000
/* Time from a failed look to the next, unless the refresh time is shorter. */
#define SOURCE_RETRY_MS 10000

/* The thread of the source calls all functions. */
struct source_reader {
	const char *kind;
	bool waits_first; /* the first look waits for source__look() */
	int pause_ms; /* shortest time between looks, even if files change or the user asks */
	/*
	 * Sets source->state.  Returns 0, or -errno with a sentence in @error: then the thread
	 * calls close(), and open() again later.  May be NULL.
	 */
	int (*open)(struct source *source, struct dart_error *error);
	/*
	 * Looks once.  Sets the list of @news, or settings and list, and the result: 0, or
	 * -errno with a sentence in the error.  Returns the time until the next look in ms; -1
	 * to wait for source__look().
	 */
	int (*read)(struct source *source, struct source_news *news);
	/*
	 * Sleeps until the source may have changed, source->wake is readable, or @ms are over.
	 * NULL if only the latter two end the sleep.
	 */
	void (*wait)(struct source *source, int ms);
	/* Resets source->state, also after open() failed.  NULL only if open is NULL. */
	void (*close)(struct source *source);
};

extern const struct source_reader source_configuration_reader;
extern const struct source_reader source_dns_reader;
extern const struct source_reader source_file_reader;
extern const struct source_reader source_http_reader;
extern const struct source_reader source_members_reader;

struct source {
	/* Constant. */
	const struct source_reader *reader;
	struct settings settings; /* one source, or the settings of the command line */
	struct target_defaults defaults; /* of the source, with an interval; borrowed */
	struct shared_text *name;
	int wake; /* eventfd, written to make the thread look or end */
	int ready; /* eventfd, written by the thread when it set news or has_ended */

	atomic_uint holders; /* the event loop and the thread */
	atomic_bool is_ending;
	atomic_bool has_ended; /* the thread does not wait any more before it ends */
	pthread_mutex_t lock;
	struct source_news *news; /* under the lock; NULL: nothing new */

	/* Of the event loop. */
	pthread_t thread;
	sd_event_source *event_source;
	source_handler *handler;
	void *data;

	/* Of the thread. */
	void *state; /* of the reader */
	struct target_list last; /* the list that was handed over last */
	bool has_last;
};

static inline bool source__is_ending(const struct source *source)
{
	return atomic_load(&source->is_ending);
}

/* The settings of the source itself; not for a configuration or members. */
static inline const struct source_settings *source__settings(const struct source *source)
{
	return source->settings.sources;
}

/* The refresh time of the settings; @ms if they do not set it. */
static inline int source__refresh_ms(const struct source *source, int ms)
{
	uint64_t refresh_ns = source__settings(source)->refresh_ns;

	return refresh_ns ? (refresh_ns + 999999) / 1000000 : (uint64_t)ms;
}

/* The time from a failed look to the next. */
static inline int source__retry_ms(const struct source *source)
{
	int ms = source__refresh_ms(source, SOURCE_RETRY_MS);

	return ms < SOURCE_RETRY_MS ? ms : SOURCE_RETRY_MS;
}

#endif /* CONTROLLER_SOURCE_PRIVATE_H */
