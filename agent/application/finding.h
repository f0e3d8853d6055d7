/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an examination has found out about a process and one format: whether it is attached, and the
 * layout of memory that describes itself.
 */
#ifndef APPLICATION_FINDING_H
#define APPLICATION_FINDING_H

#include <libdart/application/layout.h>
#include <libdart/error.h>

#include "mapped.h"
#include "process.h"

struct finding {
	/*
	 * 0: @process is attached; -ENOENT: nothing of this format, as if it was never asked for; or
	 * another error of application_mapped__describe() or application_process__attach().
	 */
	int ret;
	struct dart_error why;
	struct application_process process; /* its memory is -1 after it was taken */
	struct dart_application_layout *layout; /* of described memory; NULL after it was taken */
};

/*
 * Both read the memory of the process of @pidfd, which decides how long that takes: call them from a
 * thread of their own.  finding__attach() attaches the process by @layout, finding__describe() by the
 * layout that it makes of memory of @format.
 */
void finding__attach(struct finding *finding, int pidfd,
		     const struct dart_application_layout *layout);
void finding__describe(struct finding *finding, int pidfd, enum application_format format);

/* Takes a finding out of an examination. */
struct finding finding__take(struct finding *finding);
void finding__clear(struct finding *finding);

#endif /* APPLICATION_FINDING_H */
