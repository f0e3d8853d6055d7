/* SPDX-License-Identifier: GPL-2.0-only */
/* What an HTTP server of a controller is told: where it listens, and who may ask it. */
#ifndef CONTROLLER_HTTP_SETTINGS_H
#define CONTROLLER_HTTP_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include <libdart/error.h>

#define HTTP_NAMES_MAX 16

/* Texts are NULL where the user does not say. */
struct http_settings {
	char *address; /* see http_address.h; NULL: no server */
	char *token_path; /* see http_access.h */
	char *user; /* of basic authentication */
	char *password_path;
	char *certificate; /* paths of PEM files: it is served by TLS */
	char *key;
	/* Further names by which requests may call the server: see http_access.h. */
	char *names[HTTP_NAMES_MAX];
	size_t name_count;
};

/*
 * Has a user a password, and a certificate a key?  Returns 0, or -EINVAL with a sentence in
 * @error.
 */
int http_settings__check(const struct http_settings *settings,
			 struct dart_error *error);
/* Copies @name.  Returns 0, -EINVAL if it is not a name, -E2BIG or -ENOMEM. */
int http_settings__add_name(struct http_settings *settings, const char *name);
bool http_settings__equal(const struct http_settings *one,
			  const struct http_settings *other);
/* @copy may be cleared also after -ENOMEM, which it returns, or 0. */
int http_settings__copy(struct http_settings *copy,
			const struct http_settings *settings);
void http_settings__clear(struct http_settings *settings);

#endif /* CONTROLLER_HTTP_SETTINGS_H */
