/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A source of targets, which may take its time, fail, and answer differently each time: a
 * thread of its own asks it, again and again, and the event loop only hears of what is new.
 */
#ifndef CONTROLLER_SOURCE_H
#define CONTROLLER_SOURCE_H

#include <systemd/sd-event.h>

#include <libdart/error.h>

#include "target_faults.h"
#include "target_list.h"

struct source;

/* What has become known since the event loop heard last. */
struct source_news {
	int result; /* of the last look: 0 or -errno */
	struct dart_error error;
	bool has_list; /* another list than before */
	struct target_list list;
	struct target_faults faults; /* of the last look, if it succeeded */
	/* Of a configuration only, with has_list. */
	struct settings settings;
};

/* In the event loop.  @news are the source's; the handler may take members and clear them. */
typedef void source_handler(void *data, struct source *source, struct source_news *news);

/*
 * Starts to look for targets.  Those without an interval or entries get those of @all, which
 * is not used later.  Returns 0; -EINVAL with a sentence in @error; -ENOMEM or another
 * -errno.
 */
int source__new(sd_event *event, const struct source_settings *settings, const struct settings *all,
		source_handler *handler, void *data, struct source **source,
		struct dart_error *error);
/*
 * The configuration file @path, which is read when source__look() asks for it, over the
 * settings @own of the command line.
 */
int source__new_configuration(sd_event *event, const char *path, const struct settings *own,
			      source_handler *handler, void *data, struct source **source);

/* Looks now, or once more when the present look is over. */
void source__look(struct source *source);
/* What messages call it: place without a password. */
const char *source__name(const struct source *source);
/* "file_sd", "dns_srv", "http_sd" or "configuration". */
const char *source__kind(const struct source *source);
/* Was it made with these settings? */
bool source__equal(const struct source *source, const struct source_settings *settings,
		   const struct settings *all);

/* The thread begins to end; the handler is not called any more. */
void source__end(struct source *source);
/*
 * After source__end().  Waits for the thread until @deadline_ns of CLOCK_MONOTONIC and then
 * leaves it alone: name services cannot be interrupted.
 */
void source__free(struct source *source, uint64_t deadline_ns);

#endif /* CONTROLLER_SOURCE_H */
