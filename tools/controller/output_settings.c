// SPDX-License-Identifier: GPL-2.0-only
/* Settings of outputs. */
#include "output_settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int output_settings__add_receiver(struct output_settings *settings,
				  struct receiver_settings *receiver,
				  struct dart_error *error)
{
	int ret = receiver_settings__complete(receiver, error);

	if (ret)
		return ret;
	if (settings->receiver_count == RECEIVERS_MAX)
		return dart_error__set(error, EINVAL,
				       "there are more than %d receivers",
				       RECEIVERS_MAX);
	settings->receivers[settings->receiver_count++] = *receiver;
	*receiver = (struct receiver_settings){ };
	return 0;
}

bool output_settings__has_any(const struct output_settings *settings)
{
	return settings->listen || settings->web || settings->receiver_count;
}

static bool are_equal(const char *one, const char *other)
{
	return one == other || (one && other && !strcmp(one, other));
}

bool output_settings__equal(const struct output_settings *one,
			    const struct output_settings *other)
{
	size_t i;

	if (!are_equal(one->listen, other->listen) ||
	    !are_equal(one->web, other->web) ||
	    !are_equal(one->web_token_path, other->web_token_path) ||
	    one->receiver_count != other->receiver_count)
		return false;
	for (i = 0; i < one->receiver_count; i++)
		if (!receiver_settings__equal(&one->receivers[i],
					      &other->receivers[i]))
			return false;
	return true;
}

static int copy_text(char **copy, const char *text)
{
	*copy = text ? strdup(text) : NULL;
	return !*copy == !text ? 0 : -ENOMEM;
}

int output_settings__copy(struct output_settings *copy,
			  const struct output_settings *settings)
{
	int ret = 0;
	size_t i;

	*copy = (struct output_settings){ };
	ret = copy_text(&copy->listen, settings->listen) ?:
	      copy_text(&copy->web, settings->web) ?:
	      copy_text(&copy->web_token_path, settings->web_token_path);
	for (i = 0; i < settings->receiver_count; i++) {
		ret = receiver_settings__copy(&copy->receivers[i],
					      &settings->receivers[i]) ?: ret;
		copy->receiver_count++;
	}
	return ret;
}

void output_settings__clear(struct output_settings *settings)
{
	size_t i;

	free(settings->listen);
	free(settings->web);
	free(settings->web_token_path);
	for (i = 0; i < settings->receiver_count; i++)
		receiver_settings__clear(&settings->receivers[i]);
	*settings = (struct output_settings){ };
}
