/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decides which targets are wanted: the targets of the command line, of the configuration and of
 * all sources.  If several of these name the same target, the settings of the configuration
 * count, or else of the first source.  When a source fails, the targets that it named last stay.
 * Of these, the ones that fall to other members of the shard are not wanted, and some are wanted on
 * standby: see shard.h.
 *
 * Only the thread of the event loop calls it; each source looks in a thread of its own.
 */
#ifndef CONTROLLER_DISCOVERY_H
#define CONTROLLER_DISCOVERY_H

#include <systemd/sd-event.h>

#include <libdart/error.h>

#include "target_faults.h"
#include "target_list.h"

struct discovery;

struct discovery_operations {
	/* From now on, exactly the targets of @list are wanted. */
	void (*want)(void *data, const struct target_list *list);
	/* Prints a sentence for people, which includes the name of the source. */
	void (*say)(void *data, const char *sentence);
	/* The configuration was read again, and taken unless @is_refused.  May be NULL. */
	void (*reloaded)(void *data, bool is_refused);
	/* The configuration was taken, with these settings for outputs.  May be NULL. */
	void (*configured)(void *data, const struct output_settings *outputs);
	/*
	 * Called before each want(): @count targets were given labels equal to those of another
	 * target, see equal_labels.h.  May be NULL.
	 */
	void (*separated)(void *data, size_t count);
	/* Rules drop @count targets of all sources and of the configuration.  May be NULL. */
	void (*dropped)(void *data, size_t count);
	/*
	 * Called before each want(), and when the file of members fails or does not any more: what
	 * the own member does with all targets.  May be NULL.
	 */
	void (*sharded)(void *data, const struct membership *membership,
			const struct shard_parts *parts, bool is_failing);
	/*
	 * Called after want(), and for each list of members: until when this one is valid,
	 * CLOCK_BOOTTIME; 0: without an end.  May be NULL.
	 */
	void (*valid)(void *data, uint64_t until_ns);
	/* See discovery__leave().  May be NULL. */
	void (*left)(void *data);
	/* Targets of which another member has the first rank are never wanted. */
	bool never_stands_by;
};

/* The state of a source, for users that look at the controller from outside. */
struct discovery_source {
	const char *name;
	const char *kind; /* "file_sd", "dns_srv" or "http_sd" */
	size_t targets; /* targets in the current list */
	size_t left_out; /* targets and groups that the last look left out as unusable */
	/* Targets that its rules dropped, the first of which are named by the faults. */
	size_t dropped;
	const struct target_faults *faults; /* of the last look that succeeded */
	uint64_t looks, failures;
	uint64_t heard_ns; /* CLOCK_MONOTONIC of the last look that succeeded; or 0 */
	/* Why the last look failed, or left out its first fault; NULL: neither. */
	const char *error;
};

/*
 * Starts all sources of @settings.  @own are the settings of the command line, @path the
 * configuration file, or NULL.  want() may be called at once.  Returns 0, or -errno with a
 * sentence in @error.
 */
int discovery__new(sd_event *event, const struct settings *own, const struct settings *settings,
		   const char *path, const struct discovery_operations *operations, void *data,
		   struct discovery **discovery, struct dart_error *error);
/* NULL is allowed. */
void discovery__free(struct discovery *discovery);

/* Makes the threads read the configuration file again, and look at all sources. */
void discovery__reload(struct discovery *discovery);

/*
 * This controller is about to end: until then it goes on with its targets, whatever list of members
 * comes, and left() is called as soon as all other members use a list without this one.  Returns
 * false if no other member can take over.
 */
bool discovery__leave(struct discovery *discovery);
bool discovery__is_leaving(const struct discovery *discovery);

/* True once the first look at each source ended. */
bool discovery__is_complete(const struct discovery *discovery);

/* The targets of the configuration that were left out or dropped. */
const struct target_faults *discovery__configured_faults(const struct discovery *discovery);

size_t discovery__source_count(const struct discovery *discovery);
void discovery__source(const struct discovery *discovery, size_t index,
		       struct discovery_source *source);
/*
 * The members, and what the own member does with all targets; @error is why the list of members
 * cannot be read, or NULL.  Valid until the event loop runs on.
 */
const struct membership *discovery__membership(const struct discovery *discovery,
					       struct shard_parts *parts, const char **error);
/* How often the configuration was read again, and how often it was refused. */
void discovery__reloads(const struct discovery *discovery, uint64_t *reloads, uint64_t *refused);

#endif /* CONTROLLER_DISCOVERY_H */
