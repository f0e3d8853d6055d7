// SPDX-License-Identifier: GPL-2.0-only
/* Answers as JSON on stdout, and errors there or on stderr. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <libdart/escape.h>
#include <libdart/json.h>

#include "message.h"

static int print_json_to(FILE *out, json_t *json, size_t flags)
{
	char *text = dart_json__dumps(json, (flags & JSON_COMPACT ? 0 : JSON_INDENT(2)) |
						    JSON_ENCODE_ANY | flags);

	json_decref(json);
	if (!text)
		return fail__out_of_memory();
	fprintf(out, "%s\n", text);
	free(text);
	return EXIT_SUCCESS;
}

int print_json(json_t *json, size_t flags)
{
	return print_json_to(stdout, json, flags);
}

int print_scalar(const json_t *value)
{
	char *text = dart_json__dumps(value, JSON_ENCODE_ANY);
	size_t length = text ? strlen(text) : 0;

	if (!text)
		return -1;
	if (json_is_string(value) && !dart_json__digits(value))
		printf("%.*s", (int)length - 2, text + 1);
	else
		fputs(text, stdout);
	free(text);
	return 0;
}

/* The first -j sets it; nothing clears it. */
static bool fails_in_json;
/* Where errors in JSON go; NULL: stdout. */
static FILE *errors;

void fail__in_json(void)
{
	fails_in_json = true;
}

void fail__keep_output(void)
{
	const int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

	errors = fd < 0 ? NULL : fdopen(fd, "w");
	if (!errors)
		fails_in_json = false;
}

__attribute__((format(printf, 3, 0))) static void say(int code, const char *end, const char *format,
						      va_list arguments)
{
	char sentence[2048], text[2048];
	FILE *out = errors ?: stdout;

	/* The message may quote words that are not UTF-8, or that would steer a terminal. */
	vsnprintf(sentence, sizeof(sentence), format, arguments);
	dart_escape__text(sentence, sizeof(sentence), DART_ESCAPE_SENTENCE, text, sizeof(text));
	if (fails_in_json && !ferror(out)) {
		/* In one line, like the lines of monitor. */
		print_json_to(out,
			      json_pack("{s:s, s:s}", "error", strerrorname_np(code) ?: "EIO",
					"message", text),
			      JSON_COMPACT);
		if (errors)
			fflush(errors);
	} else {
		fprintf(stderr, "dartctl: %s%s\n", text, end);
	}
}

int fail(int code, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(code, "", format, arguments);
	va_end(arguments);
	return EXIT_FAILURE;
}

int fail__out_of_memory(void)
{
	return fail(ENOMEM, "out of memory");
}

int misuse(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(EINVAL, " (see dartctl help)", format, arguments);
	va_end(arguments);
	return EXIT_USAGE;
}

void print_warning(const char *warning)
{
	fputs("dartctl: warning: ", stderr);
	print_foreign(stderr, warning);
	fputc('\n', stderr);
}

void print_foreign(FILE *out, const char *text)
{
	size_t left = strlen(text), taken;
	char piece[DART_ESCAPE_PIECE];

	for (; left; text += taken, left -= taken) {
		taken = dart_escape__next(text, left, DART_ESCAPE_SENTENCE, piece);
		fputs(piece, out);
	}
}

/* ---- the release of dartd, which each reply tells */

static const char *version_of(const json_t *reply)
{
	return json_string_value(json_object_get(reply, "version"));
}

/*
 * Returns less than 0 if the dartd that sent @reply, or this status, is older than dartctl, and
 * more than 0 if it is newer.  A dartd that tells no version is older.
 */
static int version__compare(const json_t *reply)
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
	if (asprintf(&advice, "dartd is %s%s, %s than dartctl " DART_VERSION ": upgrade %s",
		     version ? "version " : "of an early version", version ?: "",
		     order < 0 ? "older" : "newer",
		     order < 0 ? "dartd, then systemctl restart dartd" : "dartctl") < 0)
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

void tell_manager(const char *format, ...)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *path = getenv("NOTIFY_SOCKET") ?: "";
	const socklen_t length = strlen(path);
	char text[512] = "READY=1\nSTATUS=";
	const size_t used = strlen(text);
	va_list arguments;
	int fd;

	if ((*path != '/' && *path != '@') || length > sizeof(address.sun_path))
		return;
	memcpy(address.sun_path, path, length);
	/* An abstract address. */
	if (*path == '@')
		*address.sun_path = '\0';
	va_start(arguments, format);
	vsnprintf(text + used, sizeof(text) - used, format, arguments);
	va_end(arguments);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	sendto(fd, text, strlen(text), MSG_NOSIGNAL, (const struct sockaddr *)&address,
	       offsetof(struct sockaddr_un, sun_path) + length);
	close(fd);
}
