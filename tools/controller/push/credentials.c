// SPDX-License-Identifier: GPL-2.0-only
/* Credentials of requests to receivers: see credentials.h. */
#include "credentials.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tools/controller/base/request_headers.h"
#include "tools/controller/base/secret.h"

static int add_token(const struct receiver_settings *settings, const struct format *format,
		     const char *token, struct curl_slist **headers, struct dart_error *error)
{
	const char *scheme = format->token_scheme ? format->token_scheme(settings) : "Bearer";
	char *value;
	bool is_added;

	if (asprintf(&value, "%s %s", scheme, token) < 0)
		return dart_error__no_memory(error);
	is_added = request_headers__add(headers, "Authorization", value);
	secret__free(value);
	return is_added ? 0 : dart_error__no_memory(error);
}

static bool set_user(CURL *easy, const char *user, const char *password)
{
	return !curl_easy_setopt(easy, CURLOPT_USERNAME, user) &&
	       !curl_easy_setopt(easy, CURLOPT_PASSWORD, password);
}

static bool set_certificate(CURL *easy, const char *certificate, const char *key)
{
	return !curl_easy_setopt(easy, CURLOPT_SSLCERT, certificate) &&
	       !curl_easy_setopt(easy, CURLOPT_SSLKEY, key);
}

/* libcurl signs with user and password. */
static bool set_signature(CURL *easy, const struct receiver_signature *sigv4, const char *secret)
{
	char *provider;
	bool is_set;

	if (asprintf(&provider, "aws:amz:%s:%s", sigv4->region,
		     sigv4->service ?: RECEIVER_SERVICE_DEFAULT) < 0)
		return false;
	is_set = !curl_easy_setopt(easy, CURLOPT_AWS_SIGV4, provider) &&
		 set_user(easy, sigv4->access_key, secret);
	free(provider);
	return is_set;
}

/* The file of the secret that the settings name; NULL: none. */
static const char *secret_path(const struct receiver_settings *settings)
{
	const char *path = settings->token_file ?: settings->password_file;

	return path ?: settings->sigv4.secret_key_file;
}

static int set_secret(CURL *easy, const struct receiver_settings *settings,
		      const struct format *format, struct curl_slist **headers,
		      struct dart_error *error)
{
	const char *path = secret_path(settings);
	char *secret;
	int ret;

	if (!path)
		return 0;
	ret = secret__read(path, &secret, error);
	if (ret)
		return ret;
	if (settings->token_file)
		ret = add_token(settings, format, secret, headers, error);
	else if (settings->user ? !set_user(easy, settings->user, secret) :
				  !set_signature(easy, &settings->sigv4, secret))
		ret = dart_error__no_memory(error);
	secret__free(secret);
	return ret;
}

int credentials__set(CURL *easy, const struct receiver_settings *settings,
		     const struct format *format, struct curl_slist **headers,
		     struct dart_error *error)
{
	if (!set_certificate(easy, settings->certificate, settings->key) ||
	    !request_headers__add_all(headers, settings->headers))
		return dart_error__no_memory(error);
	return set_secret(easy, settings, format, headers, error);
}

bool credentials__clear(CURL *easy)
{
	return set_certificate(easy, NULL, NULL) && set_user(easy, NULL, NULL) &&
	       !curl_easy_setopt(easy, CURLOPT_AWS_SIGV4, NULL);
}

int credentials__check_files(const struct receiver_settings *settings, struct dart_error *error)
{
	const char *const paths[] = { settings->authorities, settings->certificate, settings->key };
	const char *path = secret_path(settings);
	char *secret;
	size_t i;
	int ret;

	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		if (paths[i] && access(paths[i], R_OK))
			return dart_error__system(error, errno, "cannot read '%s'", paths[i]);
	if (!path)
		return 0;
	ret = secret__read(path, &secret, error);
	if (!ret)
		secret__free(secret);
	return ret;
}
