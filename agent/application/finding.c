// SPDX-License-Identifier: GPL-2.0-only
/* Attaches the process of a finding: see finding.h. */
#include "finding.h"

#include <errno.h>
#include <stdlib.h>

#include "reader.h"

/*
 * Reads the values of an entry once, which maps their pages into the process.  The module takes no
 * page fault, and fork(2) copies no mapping of shared memory: the master of nginx, whose workers
 * count, would never have mapped the page of its counters.
 */
static void map_values(const struct application_process *process,
		       const struct dart_application_entry *entry)
{
	struct application_reader *reader;
	struct dart_error ignored;
	void *rows;

	if (application_reader__new(&reader, entry, &ignored))
		return;
	rows = calloc(entry->rows, entry->schema->length);
	if (rows)
		application_reader__read(reader, process, rows, NULL, 0);
	free(rows);
	application_reader__free(reader);
}

void finding__attach(struct finding *finding, int pidfd,
		     const struct dart_application_layout *layout)
{
	uint32_t i;

	finding->ret = application_process__attach(&finding->process, pidfd, layout, &finding->why);
	if (finding->ret) {
		finding->process.memory = -1;
		return;
	}
	for (i = 0; i < layout->entry_count; i++)
		map_values(&finding->process, &layout->entries[i]);
}

void finding__describe(struct finding *finding, int pidfd, enum application_format format)
{
	finding->ret = application_mapped__describe(pidfd, format, &finding->layout, &finding->why);
	if (finding->ret) {
		finding->layout = NULL;
		return;
	}
	finding__attach(finding, pidfd, finding->layout);
	/* The program has changed its memory since: look again. */
	if (finding->ret == -ENOEXEC)
		finding->ret = -EAGAIN;
}

struct finding finding__take(struct finding *finding)
{
	struct finding taken = *finding;

	*finding = (struct finding){ .ret = -ENOENT, .process.memory = -1 };
	return taken;
}

void finding__clear(struct finding *finding)
{
	if (finding->process.memory >= 0)
		application_process__detach(&finding->process);
	dart_application_layout__free(finding->layout);
	*finding = (struct finding){ .ret = -ENOENT, .process.memory = -1 };
}
