/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the two halves of discovery: discovery.c hears what sources and the
 * configuration name, discovery_sources.c begins and ends sources.
 */
#ifndef CONTROLLER_DISCOVERY_PRIVATE_H
#define CONTROLLER_DISCOVERY_PRIVATE_H

#include "discovery.h"
#include "source.h"

struct discovered {
	struct source *source;
	struct target_list list; /* what it named last */
	/* What it named since, if that is too much with what others name. */
	struct target_list refused;
	bool is_looked_at;
	uint64_t looks, failures, heard_ns;
	struct dart_error error; /* said last; empty: none */
	struct target_faults faults; /* of the last look that succeeded, and said */
};

struct discovery {
	sd_event *event;
	const struct discovery_operations *operations;
	void *data;
	struct source *configuration; /* NULL: none */
	struct settings settings; /* for all; without targets and sources */
	struct target_list configured;
	struct discovered *sources;
	size_t count;
	uint64_t reloads, refused;
	size_t separated; /* targets that had the labels of others, said last */
};

/* discovery.c: a source_handler; @data is the discovery. */
void discovery__on_news(void *data, struct source *source,
			struct source_news *news);

/* discovery_sources.c; these return 0, or -errno with a sentence in @error. */

/* All targets, if they are not too many. */
int discovered__unite(const struct target_list *configured,
		      const struct discovered *sources, size_t count,
		      struct target_list *all, struct dart_error *error);
/* Frees @discovered, and waits for the threads of the sources so long at most. */
void discovered__end(struct discovered *discovered, size_t count,
		     uint64_t wait_ns);
/*
 * Takes @configured, begins and ends sources, and puts all targets that are known so far into
 * @all; or changes nothing.
 */
int discovery__configure(struct discovery *discovery,
			 const struct settings *settings,
			 struct target_list *configured,
			 struct target_list *all, struct dart_error *error);

#endif /* CONTROLLER_DISCOVERY_PRIVATE_H */
