// SPDX-License-Identifier: GPL-2.0-only
/* Options of outputs of metrics: where they are served, and who is sent them. */
#include "options_outputs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "http/http_address.h"

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
			enum receiver_kind kind, const char *url,
			struct dart_error *error)
{
	struct receiver_settings receiver = {
		.kind = kind,
		.url = strdup(url),
	};
	int err = receiver.url ?
			  output_settings__add_receiver(outputs, &receiver,
							error) :
			  dart_error__no_memory(error);

	receiver_settings__clear(&receiver);
	return err;
}

static int set_token_path(char **path, const char *value,
			  struct dart_error *error)
{
	free(*path);
	*path = strdup(value);
	return *path ? 0 : dart_error__no_memory(error);
}

int options_outputs__parse(struct output_settings *outputs,
			   enum option_code code, const char *value,
			   struct dart_error *error)
{
	switch (code) {
	case OPTION_LISTEN:
		return set_address(&outputs->listen, value, error);
	case OPTION_WEB:
		return set_address(&outputs->web, value, error);
	case OPTION_WEB_TOKEN_FILE:
		return set_token_path(&outputs->web_token_path, value, error);
	case OPTION_REMOTE_WRITE:
		return add_receiver(outputs, RECEIVER_REMOTE_WRITE, value,
				    error);
	default:
		return add_receiver(outputs, RECEIVER_INFLUX, value, error);
	}
}
