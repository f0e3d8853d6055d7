// SPDX-License-Identifier: GPL-2.0-only
/* Options of outputs of metrics: where they are served, and who is sent them. */
#include "options_outputs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/controller/base/http_address.h"

static int set_address(char **address, const char *value,
		       struct dart_error *error)
{
	if (value && !http_address__is_valid(value))
		return dart_error__set(
			error, EINVAL,
			"'%s' is not an address to listen at (expected HOST:PORT, [V6]:PORT or :PORT)",
			value);
	free(*address);
	*address = strdup(value ?: HTTP_ADDRESS_DEFAULT);
	return *address ? 0 : dart_error__no_memory(error);
}

static int add_receiver(struct output_settings *outputs,
			const char *format, const char *url,
			struct dart_error *error)
{
	struct receiver_settings receiver = {
		.format = format,
		.url = strdup(url),
	};
	int err = receiver.url ?
			  output_settings__add_receiver(outputs, &receiver,
							error) :
			  dart_error__no_memory(error);

	receiver_settings__clear(&receiver);
	return err;
}

static int set_text(char **text, const char *value,
		    struct dart_error *error)
{
	free(*text);
	*text = strdup(value);
	return *text ? 0 : dart_error__no_memory(error);
}

static int add_name(struct http_settings *http, const char *value,
		    struct dart_error *error)
{
	int ret = http_settings__add_name(http, value);

	if (ret == -EINVAL)
		return dart_error__set(
			error, EINVAL,
			"'%s' is not a name of a server (expected such as metrics.example.org, without a port)",
			value);
	if (ret == -E2BIG)
		return dart_error__set(error, EINVAL,
				       "there are more than %d names",
				       HTTP_NAMES_MAX);
	return ret ? dart_error__no_memory(error) : 0;
}

/* Options of both servers, of metrics and of the page. */
static int set_http(struct http_settings *http, enum option_code code,
		    const char *value, struct dart_error *error)
{
	switch (code) {
	case OPTION_HTTP_CERTIFICATE:
		return set_text(&http->certificate, value, error);
	case OPTION_HTTP_KEY:
		return set_text(&http->key, value, error);
	case OPTION_HTTP_USER:
		return set_text(&http->user, value, error);
	case OPTION_HTTP_PASSWORD_FILE:
		return set_text(&http->password_path, value, error);
	default:
		return add_name(http, value, error);
	}
}

int options_outputs__parse(struct output_settings *outputs,
			   enum option_code code, const char *value,
			   struct dart_error *error)
{
	switch (code) {
	case OPTION_LISTEN:
		return set_address(&outputs->listen.address, value, error);
	case OPTION_WEB:
		return set_address(&outputs->web.address, value, error);
	case OPTION_WEB_TOKEN_FILE:
		return set_text(&outputs->web.token_path, value, error);
	case OPTION_LISTEN_TOKEN_FILE:
		return set_text(&outputs->listen.token_path, value, error);
	case OPTION_HTTP_CERTIFICATE:
	case OPTION_HTTP_KEY:
	case OPTION_HTTP_USER:
	case OPTION_HTTP_PASSWORD_FILE:
	case OPTION_HTTP_NAME:
		return set_http(&outputs->listen, code, value, error) ?:
			       set_http(&outputs->web, code, value, error);
	case OPTION_REMOTE_WRITE:
		return add_receiver(outputs, "remote_write", value,
				    error);
	default:
		return add_receiver(outputs, "influx", value, error);
	}
}
