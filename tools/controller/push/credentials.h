/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of a request that only the receiver of the settings may see: user and password, a
 * token, a signature, a certificate and further headers.  Files of secrets are read for each
 * request, because other programs renew them.
 */
#ifndef CONTROLLER_CREDENTIALS_H
#define CONTROLLER_CREDENTIALS_H

#include <curl/curl.h>
#include <stdbool.h>

#include <libdart/error.h>

#include "tools/controller/push/formats/format.h"
#include "tools/controller/settings/receiver_settings.h"

/*
 * Gives them to the next request of @easy, and adds headers to @headers, a list of the caller, who
 * gives it to libcurl.  @format knows the word before a token.  Returns 0, or -errno with a
 * sentence in @error: a file cannot be read, or memory runs out.
 */
int credentials__set(CURL *easy, const struct receiver_settings *settings,
		     const struct format *format, struct curl_slist **headers,
		     struct dart_error *error);
/* Takes them away, for a request to another origin.  False if memory runs out. */
bool credentials__clear(CURL *easy);
/* Checks the files that requests will need.  Returns 0, or -errno with a sentence in @error. */
int credentials__check_files(const struct receiver_settings *settings, struct dart_error *error);

#endif /* CONTROLLER_CREDENTIALS_H */
