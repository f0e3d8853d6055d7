/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An instance: a process whose program has a layout, and its entries.  The module gathers an entry,
 * or a writer (writer.h) does.  A writer gathers all entries of memory that describes itself,
 * because each copy needs checks.
 */
#ifndef APPLICATION_INSTANCE_H
#define APPLICATION_INSTANCE_H

#include <limits.h>
#include <sys/queue.h>
#include <systemd/sd-event.h>

#include <libdart/application/layout.h>
#include <libdart/error.h>

#include "agent/table/registry.h"
#include "listening.h"
#include "mapped.h"
#include "process.h"
#include "writer.h"

/* Pages that the module has found absent, which dartd lets the kernel fetch. */
struct absence {
	uint64_t fetches; /* so far */
	uint64_t due; /* the next fetch at the earliest, us, CLOCK_MONOTONIC */
	uint64_t delay_us; /* from the last fetch to @due; 0: it is the first one */
	bool are_empty[DART_APPLICATION_ENTRIES_MAX]; /* at the last look */
};

struct instance {
	TAILQ_ENTRY(instance) link; /* in its application */
	LIST_ENTRY(instance) in_bucket;
	struct entry_group *group; /* of its entries */
	struct application_process process;
	int pidfd;
	enum application_format format;
	uint32_t gather_ms;
	sd_event_source *end; /* of the process */
	struct dart_application_build_id build_id;
	char executable[PATH_MAX]; /* as /proc calls it */
	char label[NAME_MAX + 1];
	char *names[DART_APPLICATION_ENTRIES_MAX]; /* of the entries */
	bool are_gathered_by_module[DART_APPLICATION_ENTRIES_MAX];
	uint32_t entry_count;
	struct writer *writer; /* NULL: the module gathers all entries */
	struct absence absence;
	bool is_staged; /* its entries are not published yet */
};

/* What instances are made with. */
struct instance_rooms {
	struct registry *registry;
	struct writers *writers;
	struct listening listening; /* sockets, by which instances are named */
	uint64_t last_object; /* number of the last entry */
};

/* What an instance is made of. */
struct instance_parts {
	int pidfd; /* taken over, but not on error */
	struct application_process *process; /* attached with @layout; taken over, but not on error */
	const struct dart_application_layout *layout;
	enum application_format format; /* ANY: the layout is of a build, and not kept */
	/* The same as @layout, of memory that describes itself: taken over, set to NULL. */
	struct dart_application_layout **described;
	struct dart_application_build_id build_id;
	struct entry_group *group; /* of its entries */
	uint32_t gather_ms;
	const char *label; /* of the instance before, whose layout has changed; or NULL */
};

/*
 * Makes an instance in a batch of the registry.  Returns 0; -ENOEXEC if the process has only
 * started, and may open the port that names it; or another -errno.
 */
int instance__new(struct instance_rooms *rooms, const struct instance_parts *parts,
		  struct instance **instance, struct dart_error *error);
/* In a batch: takes the entries out of the table; @has_ended: for good, after the process. */
void instance__withdraw(struct instance_rooms *rooms, struct instance *instance, bool has_ended);
/* Does the module gather an entry? */
bool instance__has_row_of_module(const struct instance *instance);
/* True if the module gathers the entry at @index, whose values are not in memory now. */
bool instance__lacks_values(const struct instance_rooms *rooms, const struct instance *instance,
			    uint32_t index);
/* Its entries have left the table, or are about to.  Their rows keep their values. */
void instance__free(struct instance *instance);

#endif /* APPLICATION_INSTANCE_H */
