/* SPDX-License-Identifier: GPL-2.0-only */
/* A journal that can be read: of dartd on this host, mapped, or of another host. */
#ifndef JOURNAL_MAP_H
#define JOURNAL_MAP_H

#include <jansson.h>

#include <libdart/journal/journal_reader.h>

#include "tools/dartctl/cli/options.h"

struct journal_map {
	struct dart_journal_reader *reader;
	json_t *description; /* as in <dart/registration.h>; NULL: of another host */
	json_t *reply; /* holds the description */
	void *memory;
	size_t length; /* bytes */
};

/*
 * Opens journal @name of @from, "HOST" or "HOST:PORT", or of this host if that is NULL.  Returns an
 * exit status; after a failure its message has been printed.
 */
int journal_map__open(struct journal_map *map, const struct options *options, const char *name,
		      const char *from);
void journal_map__close(struct journal_map *map);

#endif /* JOURNAL_MAP_H */
