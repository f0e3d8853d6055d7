/* SPDX-License-Identifier: GPL-2.0-only */
/* The files of the page, from page/, as parts of the program. */
#ifndef CONTROLLER_WEB_FILES_H
#define CONTROLLER_WEB_FILES_H

#include <stddef.h>

struct web_file {
	const char *path; /* "/plot.js" */
	const char *type;
	const char *begin, *end;
};

extern const struct web_file web_files[];
extern const size_t web_file_count;

#endif /* CONTROLLER_WEB_FILES_H */
