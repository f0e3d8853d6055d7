/* SPDX-License-Identifier: GPL-2.0-only */
/* Commands of the shell that a test needs to succeed. */
#ifndef DART_TEST_COMMAND_H
#define DART_TEST_COMMAND_H

#include <stdlib.h>

#include "test.h"

static inline void run(const char *command)
{
	const int status = system(command);

	if (status)
		fail_msg("%s: status %d", command, status);
}

#endif /* DART_TEST_COMMAND_H */
