// SPDX-License-Identifier: GPL-2.0-only
/* Compares the release of dartd, which each reply tells, with that of dartctl. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "version.h"

static const char *version_of(const json_t *reply)
{
	return json_string_value(json_object_get(reply, "version"));
}

int version__compare(const json_t *reply)
{
	const char *version = version_of(reply);

	return version ? strverscmp(version, DART_VERSION) : -1;
}

char *version__advice(const json_t *reply)
{
	const char *version = version_of(reply);
	int order = version__compare(reply);
	char *advice;

	if (!order)
		return NULL;
	if (asprintf(&advice,
		     "dartd is %s%s, %s than dartctl " DART_VERSION
		     ": upgrade %s",
		     version ? "version " : "of an early version",
		     version ?: "", order < 0 ? "older" : "newer",
		     order < 0 ? "dartd, then systemctl restart dartd" :
				 "dartctl") < 0)
		return NULL;
	return advice;
}

void version__explain(const json_t *reply, struct dart_error *error)
{
	const struct dart_error reason = *error;
	char *advice = version__advice(reply);

	if (advice)
		dart_error__set(error, 0, "%s (%s)", reason.text, advice);
	free(advice);
}
