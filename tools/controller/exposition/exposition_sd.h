/* SPDX-License-Identifier: GPL-2.0-only */
/* Targets as Prometheus' HTTP service discovery has them. */
#ifndef CONTROLLER_EXPOSITION_SD_H
#define CONTROLLER_EXPOSITION_SD_H

#include <jansson.h>

#include "tools/controller/shared_text.h"

/*
 * Adds target @name to the array @list: it is to be scraped at @address, this controller,
 * with ?target=@name.  @labels are those of its settings; NULL: none.  Returns 0 or -ENOMEM.
 */
int exposition_sd__add(json_t *list, const char *address, const char *name,
		       const struct shared_text *labels);

#endif /* CONTROLLER_EXPOSITION_SD_H */
