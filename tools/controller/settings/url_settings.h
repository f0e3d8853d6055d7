/* SPDX-License-Identifier: GPL-2.0-only */
/* How a URL is asked, besides its address: by TLS, with a token, with headers. */
#ifndef CONTROLLER_URL_SETTINGS_H
#define CONTROLLER_URL_SETTINGS_H

#include <jansson.h>
#include <stdbool.h>

#include <libdart/error.h>

#define URL_HEADERS_MAX 32

/* Texts are paths, or NULL where the user does not say. */
struct url_settings {
	char *authorities;	/* PEM: who signs the certificate of the server */
	char *certificate;	/* PEM, for a server that asks for one; with a key */
	char *key;
	char *token_file;	/* its first line is sent as a bearer token */
	json_t *headers;	/* further ones, an object of texts; NULL: none */
};

bool url_settings__is_empty(const struct url_settings *settings);
/* Has a certificate a key?  Returns 0, or -EINVAL with a sentence in @error. */
int url_settings__check(const struct url_settings *settings, struct dart_error *error);
/*
 * Returns 0; -EINVAL with a sentence in @error: they cannot be sent, or are not the user's to
 * choose; or -ENOMEM.
 */
int url_settings__add_header(struct url_settings *settings, const char *name, const char *value,
			     struct dart_error *error);
bool url_settings__equal(const struct url_settings *one, const struct url_settings *other);
/* @copy may be cleared also after -ENOMEM, which it returns, or 0. */
int url_settings__copy(struct url_settings *copy, const struct url_settings *settings);
void url_settings__clear(struct url_settings *settings);

#endif /* CONTROLLER_URL_SETTINGS_H */
