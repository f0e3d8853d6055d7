/* SPDX-License-Identifier: GPL-2.0-only */
/* Settings of requests to a URL, in addition to its address: TLS, a token, headers. */
#ifndef CONTROLLER_URL_SETTINGS_H
#define CONTROLLER_URL_SETTINGS_H

#include <jansson.h>
#include <stdbool.h>

#include <libdart/settings/setting.h>

#define URL_HEADERS_MAX 32

/* Texts are paths; NULL if the user does not give one. */
struct url_settings {
	char *authorities;	/* PEM file: authorities that sign the server's certificate */
	char *certificate;	/* PEM file, for a server that asks for one; needs a key */
	char *key;
	char *token_file;	/* its first line is sent as a bearer token */
	json_t *headers;	/* further headers, an object of texts; NULL: none */
};

/* The keys that a source has for these settings. */
extern const struct dart_settings url_settings__table;

bool url_settings__is_empty(const struct url_settings *settings);
/* Refuses a certificate without a key: returns 0, or -EINVAL with a sentence in @error. */
int url_settings__check(const struct url_settings *settings, struct dart_error *error);
/*
 * Adds a header to @headers, an object of texts that is made if it is NULL.  Returns 0; -EINVAL
 * with a sentence in @error if the header cannot be sent or is reserved; or -ENOMEM.
 */
int url_headers__add(json_t **headers, const char *name, const char *value,
		     struct dart_error *error);
/* Adds a mapping of a file.  Returns 0, or -EINVAL or -ENOMEM with a sentence in @yaml. */
int url_headers__read(struct dart_yaml *yaml, const yaml_node_t *node, json_t **headers);
bool url_settings__equal(const struct url_settings *one, const struct url_settings *other);
/* Returns 0 or -ENOMEM; the caller clears @copy in both cases. */
int url_settings__copy(struct url_settings *copy, const struct url_settings *settings);
void url_settings__clear(struct url_settings *settings);

#endif /* CONTROLLER_URL_SETTINGS_H */
