/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reporters live without a process: what keeps one alive is pinned in a
 * directory of the interface's, under REPORTER_PINS.  Nothing else knows them.
 */
#ifndef PINS_H
#define PINS_H

#include <net/if.h>
#include <stdbool.h>

#include <libdart/error.h>
#include <libdart/rdma/read_plan.h>

#define REPORTER_PINS		"/sys/fs/bpf/dart/reporter"

#define REPORTER_PATH_MAX	64	/* with the NUL */

#define REPORTER_PIN_LINK	"link"		/* to the interface */
#define REPORTER_PIN_THROUGH	"through"	/* to the one reports leave by */
#define REPORTER_PIN_COUNTERS	"counters"	/* the map "reporter" */
#define REPORTER_PIN_REPORTS	"reports"	/* the map "reporter_to" */

/* Path of a pin, or of the directory if @pin is "". */
void reporter_pins__path(const char *interface, const char *pin,
			 char path[REPORTER_PATH_MAX]);
/* A directory's name as that of the interface. */
void reporter_pins__interface(const char *directory, char name[IF_NAMESIZE]);

/* Is a reporter there, be it that its interface has gone? */
bool reporter_pins__exist(const char *interface);

/* Makes the directory.  Returns 0 or -errno, and a sentence in @error. */
int reporter_pins__make(const char *interface, struct dart_error *error);
/* Pins @fd; returns 0 or -errno. */
int reporter_pins__add(const char *interface, const char *pin, int fd);
/* The descriptor of a pin, or -errno. */
int reporter_pins__open(const char *interface, const char *pin);
/* Removes all, and so ends the reporter. */
int reporter_pins__remove(const char *interface);

#endif /* PINS_H */
