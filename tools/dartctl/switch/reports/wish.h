/* SPDX-License-Identifier: GPL-2.0-only */
/* The wish for a switch that reports to stores: collectors, and the ports that lead to them. */
#ifndef REPORT_WISH_H
#define REPORT_WISH_H

#include <libdart/report/collectors.h>

#include "tools/dartctl/switch/engine/hosts.h"

#define REPORT_ROWS_LOG2	15 /* of a program that gathers postcards */
#define REPORT_AGE_US		1000000 /* by default */

/* How a switch gathers the postcards of hops, see <dart/postcard.h>; all 0 if it does not. */
struct report_translation {
	uint16_t port; /* UDP port of postcards */
	uint32_t rows; /* a power of two; 0: all that the program has */
	uint64_t age_us; /* after which a path is reported; 0: by default */
};

struct report_wish {
	struct dart_collectors collectors;
	uint16_t ports[SWITCH_HOSTS_MAX]; /* of each collector */
	bool all_copies; /* report to all slots of a key */
	struct report_translation translation;
};

/* The part of a wish that the command line gives. */
struct report_options {
	struct in_addr reporter; /* INADDR_ANY: the only one in the files */
	bool all_copies;
	struct report_translation translation;
	struct switch_ports ports;
};

/* Takes the address of the reporter into a struct in_addr, for an option_row. */
int report_options__take_reporter(void *address, const char *text);
/* Likewise: a UDP port, a number of rows, an age in us, into members of struct report_translation. */
int report_options__take_postcards(void *port, const char *text);
int report_options__take_rows(void *rows, const char *text);
int report_options__take_age(void *age_us, const char *text);

/*
 * Reads the @count files of collectors at @paths into @wish, which the caller ends with
 * dart_collectors__free().  Returns 0, or -errno with a sentence in @error.
 */
int report_wish__load(struct report_wish *wish, const char *const *paths, size_t count,
		      const struct report_options *options, struct dart_error *error);
/*
 * Completes @wish, whose collectors are set.  Returns 0, or -errno with a
 * sentence in @error if no switch can be set up like that.
 */
int report_wish__complete(struct report_wish *wish, const struct report_options *options,
			  struct dart_error *error);

#endif /* REPORT_WISH_H */
