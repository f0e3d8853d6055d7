/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts that all calls of BMv2's Thrift interface have in common. */
#ifndef SWITCH_CALL_H
#define SWITCH_CALL_H

#include <libdart/error.h>

#include "thrift.h"

/* Services behind the port. */
#define SWITCH_STANDARD		"standard"
#define SWITCH_SIMPLE_SWITCH	"simple_switch"

/*
 * Begins a call whose second argument is @name, an object of the program.  The
 * first argument is the context, of which BMv2 has only one.
 */
void switch_call__begin(struct thrift *thrift, const char *method,
			const char *name);

/*
 * Ends a call whose thrift__ask() has returned @asked; errors name @what, which
 * the call was about.  Returns 0, or -errno with a sentence in @error.
 */
int switch_call__end(struct thrift *thrift, int asked, const char *what,
		     struct dart_error *error);

#endif /* SWITCH_CALL_H */
