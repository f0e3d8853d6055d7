/* SPDX-License-Identifier: GPL-2.0-only */
/* Settings of an HTTP server: where it listens, and who may send it requests. */
#ifndef CONTROLLER_HTTP_SETTINGS_H
#define CONTROLLER_HTTP_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include <libdart/settings/setting.h>

#define HTTP_NAMES_MAX 16

/* Texts are NULL if the user does not give one. */
struct http_settings {
	char *address; /* see http_address.h; NULL: no server */
	char *token_path; /* see http_access.h */
	char *user; /* of basic authentication */
	char *password_path;
	char *certificate; /* paths of PEM files, for HTTPS */
	char *key;
	/* Further names by which requests may call the server: see http_access.h. */
	char *names[HTTP_NAMES_MAX];
	size_t name_count;
};

/* The keys of an output that listens, except its address. */
extern const struct dart_settings http_settings__table;

/*
 * Refuses a user without a password, and a certificate without a key.  Returns 0, or -EINVAL with
 * a sentence in @error.
 */
int http_settings__check(const struct http_settings *settings, struct dart_error *error);
/* Copies @name.  Returns 0; -EINVAL with a sentence in @error; or -ENOMEM. */
int http_settings__add_name(struct http_settings *settings, const char *name,
			    struct dart_error *error);
bool http_settings__equal(const struct http_settings *one, const struct http_settings *other);
/* Returns 0 or -ENOMEM; the caller clears @copy in both cases. */
int http_settings__copy(struct http_settings *copy, const struct http_settings *settings);
/* Moves the settings of @from that @settings lacks. */
void http_settings__merge(struct http_settings *settings, struct http_settings *from);
void http_settings__clear(struct http_settings *settings);

#endif /* CONTROLLER_HTTP_SETTINGS_H */
