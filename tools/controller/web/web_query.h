/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the page asks for, as JSON: [{"family": NAME, "by": "a,b", "label": NAME, "value": TEXT,
 * "rate": true or false}, ...], in which only "family" must be.  See struct selection_query.
 */
#ifndef CONTROLLER_WEB_QUERY_H
#define CONTROLLER_WEB_QUERY_H

#include <jansson.h>

#include "selection.h"

#define WEB_QUERIES_MAX	     128
#define WEB_QUERY_BYTES_MAX  (24U << 10)

struct web_queries {
	json_t *json;	/* holds the texts */
	size_t count;
	struct selection_query *queries;
};

/* @text may be NULL.  Returns 0, -EINVAL if it is none, or -ENOMEM. */
int web_queries__parse(const char *text, struct web_queries *queries);
void web_queries__clear(struct web_queries *queries);

#endif /* CONTROLLER_WEB_QUERY_H */
