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
	return settings->listen.address || settings->web.address || settings->receiver_count;
}

bool output_settings__equal(const struct output_settings *one,
			    const struct output_settings *other)
{
	size_t i;

	if (!http_settings__equal(&one->listen, &other->listen) ||
	    !http_settings__equal(&one->web, &other->web) ||
	    one->receiver_count != other->receiver_count)
		return false;
	for (i = 0; i < one->receiver_count; i++)
		if (!receiver_settings__equal(&one->receivers[i],
					      &other->receivers[i]))
			return false;
	return true;
}

int output_settings__copy(struct output_settings *copy,
			  const struct output_settings *settings)
{
	int ret = 0;
	size_t i;

	*copy = (struct output_settings){ };
	ret = http_settings__copy(&copy->listen, &settings->listen);
	ret = http_settings__copy(&copy->web, &settings->web) ?: ret;
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

	http_settings__clear(&settings->listen);
	http_settings__clear(&settings->web);
	for (i = 0; i < settings->receiver_count; i++)
		receiver_settings__clear(&settings->receivers[i]);
	*settings = (struct output_settings){ };
}
