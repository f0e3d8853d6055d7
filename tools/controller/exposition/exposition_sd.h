/* SPDX-License-Identifier: GPL-2.0-only */
/* Targets in the format of Prometheus' HTTP service discovery. */
#ifndef CONTROLLER_EXPOSITION_SD_H
#define CONTROLLER_EXPOSITION_SD_H

#include <stdio.h>

#include "tools/controller/base/shared_text.h"
#include "tools/controller/metrics/labels/label_collisions.h"

/*
 * The form of label names that a peer accepts.  @agent is its header User-Agent, or NULL.
 * Prometheus before 3.0 refuses a whole list because of one name that is not plain; all other
 * peers get names in UTF-8.
 */
enum label_names_form exposition_sd__form(const char *agent);
/*
 * Prints target @name as an item of the JSON list: Prometheus should scrape it at @address, this
 * controller, with ?target=@name.  @labels come from the settings of the target; NULL: none.  The
 * text of most labels is copied unparsed, so that a list of 10,000 targets takes milliseconds.
 * Returns 0 or -ENOMEM.
 */
int exposition_sd__print(FILE *file, const char *address, const char *name,
			 const struct shared_text *labels, enum label_names_form form);

#endif /* CONTROLLER_EXPOSITION_SD_H */
