// SPDX-License-Identifier: GPL-2.0-only
/* Parses what the page asks for: see web_query.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "web_query.h"

void web_queries__clear(struct web_queries *queries)
{
	json_decref(queries->json);
	free(queries->queries);
	*queries = (struct web_queries){ };
}

static int parse_one(json_t *json, struct selection_query *query)
{
	int rate = -1;

	if (json_unpack(json, "{s:s, s?s, s?s, s?s, s?b}", "family",
			&query->family, "by", &query->by, "label",
			&query->label, "value", &query->value, "rate", &rate))
		return -EINVAL;
	query->rate = rate < 0 ? SELECTION_RATE_BY_TYPE :
		      rate     ? SELECTION_RATE_ALWAYS :
				 SELECTION_RATE_NEVER;
	return !query->label == !query->value ? 0 : -EINVAL;
}

int web_queries__parse(const char *text, struct web_queries *queries)
{
	size_t i;
	int ret = 0;

	*queries = (struct web_queries){ };
	if (!text || strlen(text) > WEB_QUERY_BYTES_MAX)
		return -EINVAL;
	queries->json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	queries->count = json_array_size(queries->json);
	if (!json_is_array(queries->json) || queries->count > WEB_QUERIES_MAX)
		ret = -EINVAL;
	if (!ret) {
		queries->queries = calloc(queries->count ?: 1,
					  sizeof(*queries->queries));
		ret = queries->queries ? 0 : -ENOMEM;
	}
	for (i = 0; i < queries->count && !ret; i++)
		ret = parse_one(json_array_get(queries->json, i),
				&queries->queries[i]);
	if (ret)
		web_queries__clear(queries);
	return ret;
}
