/* SPDX-License-Identifier: GPL-2.0-only */
/* Entries on the standard output, as texts that parser.h reads, or for people. */
#ifndef LOOKUP_PRINTER_H
#define LOOKUP_PRINTER_H

#include <stdio.h>

#include "layout.h"

/* How to print. */
struct lookup_printer {
	const char *name;
	/* NULL if nothing is in front of the entries. */
	void (*begin)(FILE *file, const struct lookup_layout *layout);
	void (*entry)(FILE *file, const struct lookup_layout *layout, const uint8_t *entry);
};

/* Returns that with this name, csv, json or table, or NULL. */
const struct lookup_printer *lookup_printer__find(const char *name);

#endif /* LOOKUP_PRINTER_H */
