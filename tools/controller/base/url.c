// SPDX-License-Identifier: GPL-2.0-only
/* Compares the origins of URLs. */
#include "url.h"

#include <curl/curl.h>
#include <stddef.h>
#include <strings.h>

/* "https://host:443/", which the caller frees by curl_free(); NULL if @url is invalid. */
static char *origin_of(const char *url)
{
	static const CURLUPart others[] = {
		CURLUPART_USER,	 CURLUPART_PASSWORD, CURLUPART_OPTIONS,
		CURLUPART_QUERY, CURLUPART_FRAGMENT,
	};
	CURLU *parts = curl_url();
	char *origin = NULL;
	size_t i;

	if (!parts)
		return NULL;
	if (curl_url_set(parts, CURLUPART_URL, url, 0))
		goto out;
	for (i = 0; i < sizeof(others) / sizeof(*others); i++)
		curl_url_set(parts, others[i], NULL, 0);
	if (curl_url_set(parts, CURLUPART_PATH, "/", 0) ||
	    curl_url_get(parts, CURLUPART_URL, &origin, CURLU_DEFAULT_PORT))
		origin = NULL;
out:
	curl_url_cleanup(parts);
	return origin;
}

bool url__is_same_origin(const char *one, const char *other)
{
	char *first = origin_of(one);
	char *second = origin_of(other);
	const bool are_same = first && second && !strcasecmp(first, second);

	curl_free(first);
	curl_free(second);
	return are_same;
}
