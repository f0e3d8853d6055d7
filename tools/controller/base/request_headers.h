/* SPDX-License-Identifier: GPL-2.0-only */
/* Headers of requests that libcurl sends.  Their values may be secrets. */
#ifndef CONTROLLER_REQUEST_HEADERS_H
#define CONTROLLER_REQUEST_HEADERS_H

#include <jansson.h>
#include <stdbool.h>

struct curl_slist;

/*
 * Adds "NAME: VALUE" to the list, which the caller frees by curl_slist_free_all().  False: out of
 * memory; @headers stays as it was.
 */
bool request_headers__add(struct curl_slist **headers, const char *name, const char *value);
/* Adds each string of the object, if any.  False: out of memory; some headers may be missing. */
bool request_headers__add_all(struct curl_slist **headers, const json_t *strings);

#endif /* CONTROLLER_REQUEST_HEADERS_H */
