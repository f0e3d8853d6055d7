// SPDX-License-Identifier: GPL-2.0-only
/*
 * Texts of requests over HTTP: targets with escapes, and headers Accept, Accept-Encoding and Host.
 * All get the same input.
 */
#include "tools/controller/base/gzip.h"
#include "tools/controller/http/http_accept.h"
#include "tools/controller/http/http_access.h"
#include "tools/controller/http/http_head.h"

#include "fuzz.h"

static void check_unescape(const char *input, size_t before)
{
	char *text = strdup(input), *again;
	size_t length;

	require(text);
	length = http_head__unescape(text);

	/* The text is not cut off, and gets no additional NUL. */
	require(length <= before && length == strlen(text));
	require(3 * length >= before);
	if (!strchr(input, '%'))
		require(!strcmp(text, input));
	again = strdup(text);
	require(again);
	/* An escape of an escape is unpacked once. */
	require(http_head__unescape(again) <= length);
	free(again);
	free(text);
}

static void check_accept(const char *text)
{
	static const char *const types[] = { "text/plain", "application/openmetrics-text" };
	struct http_accepted accepted;
	size_t i;

	for (i = 0; i < 2; i++) {
		accepted = http_accept__find(text, types[i], "escaping=allow-utf-8");
		require(accepted.weight <= 1000);
		require(!accepted.is_named || strcasestr(text, types[i]));
		require(!accepted.has_parameter || strcasestr(text, "escaping=allow-utf-8"));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct http_access nothing = {};
	char *text = malloc(size + 1);

	require(text);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	check_unescape(text, strlen(text));
	check_accept(text);
	require(!gzip__is_accepted(text) || strcasestr(text, "gzip") || strchr(text, '*'));
	/* The server answers to its own names only: never to the name of another domain. */
	if (http_access__names_server(&nothing, text, true) && strcasestr(text, "evil.example"))
		abort();
	free(text);
	return 0;
}
