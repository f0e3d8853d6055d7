/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A source of targets, which may be slow, fail, and answer differently each time: a thread of
 * its own looks at it again and again, and tells the event loop only about news.
 */
#ifndef CONTROLLER_SOURCE_H
#define CONTROLLER_SOURCE_H

#include <systemd/sd-event.h>

#include <libdart/error.h>

#include "target_faults.h"
#include "target_list.h"
#include "tools/controller/settings/shard.h"

struct source;

/* The results of all looks since the last call of the handler. */
struct source_news {
	int result; /* of the last look: 0 or -errno */
	struct dart_error error; /* valid if result is not 0 */
	bool has_list; /* a look succeeded with another list than before */
	struct target_list list;
	struct target_faults faults; /* of the last look, if it succeeded */
	/* Only from a configuration: valid with has_list. */
	struct settings settings;
	/* Only from a list of members, likewise. */
	struct member_list members;
};

/* In the event loop.  The source frees @news; the handler may take over members and clear them. */
typedef void source_handler(void *data, struct source *source, struct source_news *news);

/*
 * Starts a thread that looks for targets.  If @settings do not set an interval or entries, the
 * targets get the interval or entries of @all, which is not used after the call.  Returns 0, or
 * -errno with a sentence in @error.
 */
int source__new(sd_event *event, const struct source_settings *settings, const struct settings *all,
		source_handler *handler, void *data, struct source **source,
		struct dart_error *error);
/*
 * Starts a thread that reads the configuration file @path at each source__look().  The settings
 * @own of the command line take precedence over the file.  Returns 0 or -errno.
 */
int source__new_configuration(sd_event *event, const char *path, const struct settings *own,
			      source_handler *handler, void *data, struct source **source);

/* Starts a thread that reads the list of members in the file @path.  Returns 0 or -errno. */
int source__new_members(sd_event *event, const char *path, source_handler *handler, void *data,
			struct source **source);

/* Makes the thread look now, or once more after the look in progress. */
void source__look(struct source *source);
/* The name in messages: the place of the source, without a password. */
const char *source__name(const struct source *source);
/* "file_sd", "dns_srv", "http_sd", "configuration" or "members". */
const char *source__kind(const struct source *source);
/* True if the source was started with equal settings; not for a configuration or members. */
bool source__equal(const struct source *source, const struct source_settings *settings,
		   const struct settings *all);

/* Tells the thread to end.  The handler is not called any more. */
void source__end(struct source *source);
/*
 * Frees the source after source__end().  Waits for its thread until @deadline_ns of
 * CLOCK_MONOTONIC; a thread that still waits for a name service then frees the rest when it ends.
 */
void source__free(struct source *source, uint64_t deadline_ns);

#endif /* CONTROLLER_SOURCE_H */
