/* SPDX-License-Identifier: GPL-2.0-only */
/* Entries on the standard output, as texts that parser.h reads, or for people. */
#ifndef LOOKUP_PRINTER_H
#define LOOKUP_PRINTER_H

#include <stdio.h>

#include "layout.h"

/* A form of output. */
struct lookup_printer {
	const char *name;
	/* prints a heading; NULL: there is none */
	void (*begin)(FILE *file, const struct lookup_layout *layout);
	void (*entry)(FILE *file, const struct lookup_layout *layout, const uint8_t *entry);
};

/* Finds the form called @name, csv, json or table; returns NULL if there is none. */
const struct lookup_printer *lookup_printer__find(const char *name);

#endif /* LOOKUP_PRINTER_H */
