// SPDX-License-Identifier: GPL-2.0-only
/* Headers of requests: see request_headers.h. */
#include "request_headers.h"

#include <curl/curl.h>
#include <stdio.h>

#include "secret.h"

bool request_headers__add(struct curl_slist **headers, const char *name, const char *value)
{
	struct curl_slist *longer = NULL;
	char *header;

	if (asprintf(&header, "%s: %s", name, value) >= 0) {
		longer = curl_slist_append(*headers, header);
		secret__free(header);
	}
	if (longer)
		*headers = longer;
	return longer;
}

bool request_headers__add_all(struct curl_slist **headers, const json_t *strings)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)strings, name, value)
		if (!request_headers__add(headers, name, json_string_value(value)))
			return false;
	return true;
}
