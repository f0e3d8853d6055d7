/* SPDX-License-Identifier: GPL-2.0-only */
/* Targets as Prometheus' HTTP service discovery has them. */
#ifndef CONTROLLER_EXPOSITION_SD_H
#define CONTROLLER_EXPOSITION_SD_H

#include <stdio.h>

#include "tools/controller/base/shared_text.h"
#include "tools/controller/metrics/labels/label_names.h"

/*
 * The names of labels that the peer takes which calls itself @agent, by HTTP's header User-Agent;
 * NULL: it says nothing.  Prometheus before 3.0 refuses the whole list for one name that is not
 * plain; it is the only one that has to be told from others.
 */
enum label_names_form exposition_sd__form(const char *agent);
/*
 * Prints target @name as an item of the JSON list: it is to be scraped at @address, this
 * controller, with ?target=@name.  @labels come from its settings; NULL: none.  The
 * text of most labels is copied unparsed, so that a list of 10,000 takes milliseconds.  Returns 0
 * or -ENOMEM.
 */
int exposition_sd__print(FILE *file, const char *address, const char *name,
			 const struct shared_text *labels, enum label_names_form form);

#endif /* CONTROLLER_EXPOSITION_SD_H */
