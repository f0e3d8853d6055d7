/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Processes whose memory describes itself, see <libdart/application/formats.h>: the layout is made
 * of the bytes that the process has mapped, and fetched as its values are.
 *
 * Only files that the process has mapped to write to count: readers of other programs' statistics
 * have mapped them as well, and go on to when these have ended.
 */
#ifndef APPLICATION_MAPPED_H
#define APPLICATION_MAPPED_H

#include <libdart/application/formats.h>
#include <libdart/error.h>

enum application_format {
	APPLICATION_FORMAT_ANY, /* the only format of which the process maps memory */
	APPLICATION_FORMAT_MMV,
	APPLICATION_FORMAT_HSPERFDATA,
	APPLICATION_FORMAT_VARNISH,
	APPLICATION_FORMATS
};

/*
 * Makes the layout of the memory of a process, which application_process__attach() takes; the
 * caller frees it.  Make it again when application_process__check() fails, or to find values that
 * the program has added.  Sleeps like application_reader__read().  Returns 0; -ENOENT if the process
 * has mapped nothing of this format; -ENOTUNIQ if it has mapped more than one; -ENODEV if it is the
 * manager of varnishd, whose child has the counters; -ESRCH, -EACCES and others as for
 * application_process__attach(); or an error of <libdart/application/formats.h>.
 */
int application_mapped__describe(int pidfd, enum application_format format,
				 struct dart_application_layout **layout, struct dart_error *error);

/* "mmv", "jvm" or "varnish", as the entries begin; NULL for ANY. */
const char *application_format__name(enum application_format format);
/* The format with this name; ANY if no format has it. */
enum application_format application_format__find(const char *name);

#endif /* APPLICATION_MAPPED_H */
