// SPDX-License-Identifier: GPL-2.0-only
/* Renames labels of targets that series also have: see label_names.h. */
#include "label_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare_name(const void *name, const void *other)
{
	return strcmp(name, *(const char *const *)other);
}

void label_names__of_target(const struct metric_plan *plan, const char *name,
			    char own[LABEL_NAMES_MAX])
{
	const bool is_taken = plan->label_name_count &&
			      bsearch(name, plan->label_names,
				      plan->label_name_count,
				      sizeof(*plan->label_names), compare_name);

	snprintf(own, LABEL_NAMES_MAX, "%s%s",
		 is_taken ? LABEL_NAMES_PREFIX : "", name);
}
