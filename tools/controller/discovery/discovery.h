/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which targets are wanted: those of the command line and the configuration, and those that
 * sources name.  If several name the same target, the configuration counts, and then the
 * sources in their order.  A source that fails keeps the targets that it has named.
 *
 * For the event loop's thread only; sources look in threads of their own.
 */
#ifndef CONTROLLER_DISCOVERY_H
#define CONTROLLER_DISCOVERY_H

#include <systemd/sd-event.h>

#include <libdart/error.h>

#include "target_list.h"

struct discovery;

struct discovery_operations {
	/* From now on, all of @list are wanted. */
	void (*want)(void *data, const struct target_list *list);
	/* A sentence for people, with the name of the source. */
	void (*say)(void *data, const char *sentence);
	/* The configuration was read again; may be NULL. */
	void (*reloaded)(void *data, bool is_refused);
	/*
	 * So many of those that are wanted from now on had the labels of others, see
	 * equal_labels.h; may be NULL.
	 */
	void (*separated)(void *data, size_t count);
};

/* Of a source, for who looks at the controller from outside. */
struct discovery_source {
	const char *name;
	const char *kind; /* "file_sd", "dns_srv" or "http_sd" */
	size_t targets; /* that it named last */
	size_t left_out; /* targets and groups that it named last, and that are of no use */
	uint64_t looks, failures;
	uint64_t heard_ns; /* the last look that succeeded, CLOCK_MONOTONIC; or 0 */
	/* Of the last look, or of the first that was left out of it; NULL: there is none. */
	const char *error;
};

/*
 * Starts all sources of @settings: of the command line, @own, and of the configuration file
 * at @path, NULL if there is none.  want() may be called at once.  Returns 0, or -errno with
 * a sentence in @error.
 */
int discovery__new(sd_event *event, const struct settings *own, const struct settings *settings,
		   const char *path, const struct discovery_operations *operations, void *data,
		   struct discovery **discovery, struct dart_error *error);
/* NULL is allowed. */
void discovery__free(struct discovery *discovery);

/* Reads the configuration file again, and looks at all sources. */
void discovery__reload(struct discovery *discovery);

/* Each source has been looked at. */
bool discovery__is_complete(const struct discovery *discovery);

size_t discovery__source_count(const struct discovery *discovery);
void discovery__source(const struct discovery *discovery, size_t index,
		       struct discovery_source *source);
/* How often the configuration was read again, and how often it was refused. */
void discovery__reloads(const struct discovery *discovery, uint64_t *reloads, uint64_t *refused);

#endif /* CONTROLLER_DISCOVERY_H */
