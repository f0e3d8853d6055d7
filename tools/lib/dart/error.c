// SPDX-License-Identifier: LGPL-2.1-or-later
/* Errors as sentences: see error.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <libdart/error.h>
#include <libdart/escape.h>

int dart_error__vset(struct dart_error *error, int code, const char *format, va_list arguments)
{
	char sentence[DART_ERROR_MAX];

	vsnprintf(sentence, sizeof(sentence), format, arguments);
	dart_escape__text(sentence, sizeof(sentence), DART_ESCAPE_SENTENCE,
			  error->text, sizeof(error->text));
	return -code;
}

int dart_error__set(struct dart_error *error, int code, const char *format, ...)
{
	va_list arguments;
	int ret;

	va_start(arguments, format);
	ret = dart_error__vset(error, code, format, arguments);
	va_end(arguments);
	return ret;
}

int dart_error__system(struct dart_error *error, int code, const char *format, ...)
{
	char sentence[DART_ERROR_MAX];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(sentence, sizeof(sentence), format, arguments);
	va_end(arguments);
	return dart_error__set(error, code, "%s: %s", sentence, strerror(code));
}

int dart_error__no_memory(struct dart_error *error)
{
	return dart_error__set(error, ENOMEM, "out of memory");
}
