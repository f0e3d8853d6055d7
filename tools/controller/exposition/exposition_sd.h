/* SPDX-License-Identifier: GPL-2.0-only */
/* Targets as Prometheus' HTTP service discovery has them. */
#ifndef CONTROLLER_EXPOSITION_SD_H
#define CONTROLLER_EXPOSITION_SD_H

#include <stdio.h>

#include "tools/controller/shared_text.h"

/*
 * Prints target @name as an item of the JSON list: it is to be scraped at @address, this
 * controller, with ?target=@name.  @labels come from its settings; NULL: none.  The
 * text of most labels is copied unparsed, so that a list of 10,000 takes milliseconds.  Returns 0
 * or -ENOMEM.
 */
int exposition_sd__print(FILE *file, const char *address, const char *name,
			 const struct shared_text *labels);

#endif /* CONTROLLER_EXPOSITION_SD_H */
