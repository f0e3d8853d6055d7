/* SPDX-License-Identifier: GPL-2.0-only */
/* dartctl switch push of collectors: tells a P4 switch where to report to. */
#ifndef REPORT_PUSH_H
#define REPORT_PUSH_H

#include <stdbool.h>

#include "wish.h"

struct report_push {
	const char *thrift; /* of the switch, "HOST:PORT", or NULL: print commands */
	const char *program; /* file of the program that the commands are for */
	bool as_json;
	struct report_options options;
	size_t file_count;
	const char *const *files;
};

/*
 * Both push the files, and return an exit status, with the changes or a message printed; follow
 * also pushes later changes of the files, until a signal ends this process.
 */
int report_push__once(const struct report_push *push, bool is_dry);
int report_push__follow(struct report_push *push);

#endif /* REPORT_PUSH_H */
