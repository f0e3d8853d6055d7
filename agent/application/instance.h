/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An instance: a process whose program has a layout, and its entries.  The module gathers an entry,
 * or a writer (writer.h) does.
 *
 * The seam for memory that describes itself (mapped.h): an instance takes any layout that
 * application_process__attach() takes.  Such a layout is made by a thread, because that sleeps, and
 * again when a check fails; applications.c then offers it in place of the one that layouts__find()
 * returns.
 */
#ifndef APPLICATION_INSTANCE_H
#define APPLICATION_INSTANCE_H

#include <limits.h>
#include <sys/queue.h>
#include <systemd/sd-event.h>

#include <libdart/application/layout.h>
#include <libdart/error.h>

#include "agent/table/registry.h"
#include "process.h"
#include "writer.h"

struct instance {
	TAILQ_ENTRY(instance) link;
	struct entry_group *group; /* of its entries */
	struct application_process process;
	int pidfd;
	sd_event_source *end; /* of the process */
	struct dart_application_build_id build_id;
	char executable[PATH_MAX]; /* as /proc calls it */
	char label[NAME_MAX + 1];
	char *names[DART_APPLICATION_ENTRIES_MAX]; /* of the entries */
	bool are_gathered_by_module[DART_APPLICATION_ENTRIES_MAX];
	uint32_t entry_count;
	struct writer *writer; /* NULL: the module gathers all entries */
	bool is_staged; /* its entries are not published yet */
};

/* What instances are made with. */
struct instance_rooms {
	struct registry *registry;
	struct writers *writers;
	uint64_t last_object; /* number of the last entry */
};

/*
 * Makes an instance of a process with @layout, whose entries belong to @group, in a batch of the
 * registry.  @pidfd becomes the instance's, but not on error.  Returns 0; -ENOEXEC if a check of the
 * layout fails, perhaps because the program has only started; -ESRCH; or another -errno.
 */
int instance__new(struct instance_rooms *rooms, int pidfd, struct entry_group *group,
		  const struct dart_application_layout *layout, uint32_t gather_ms,
		  struct instance **instance, struct dart_error *error);
/* In a batch: takes the entries out of the table; @has_ended: for good, after the process. */
void instance__withdraw(struct instance_rooms *rooms, struct instance *instance, bool has_ended);
/* Its entries have left the table, or are about to.  Their rows keep their values. */
void instance__free(struct instance *instance);

#endif /* APPLICATION_INSTANCE_H */
