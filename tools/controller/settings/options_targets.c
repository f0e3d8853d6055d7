// SPDX-License-Identifier: GPL-2.0-only
/* Words and options that say which agents are scraped, and which of their entries. */
#include "options_targets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int options_targets__add_entries(struct settings *settings, const char *names,
				 struct dart_error *error)
{
	char *copy = strdup(names), *rest = copy, *name;
	int err = copy ? 0 : -ENOMEM;

	while (!err && (name = strsep(&rest, ","))) {
		err = settings__add_entry(settings, name);
		if (err == -EEXIST)
			err = dart_error__set(error, EINVAL,
					      "entry '%s' is named twice",
					      name);
		else if (err == -EINVAL)
			dart_error__set(
				error, 0,
				"'%s' is not an entry (expected NAME,NAME as in dartctl list)",
				name);
	}
	free(copy);
	return err;
}

int options_targets__add(struct settings *settings, const char *text,
			 struct dart_error *error)
{
	uint16_t port;
	char *host;
	int err;

	err = settings__parse_agent(text, &host, &port);
	if (err)
		return dart_error__set(
			error, -err,
			"'%s' is not an agent (expected HOST, HOST:PORT or [V6]:PORT)",
			text);
	err = settings__add_target(
		settings, host,
		port ?: settings__default_port(settings->transport), 0);
	free(host);
	if (err == -EEXIST)
		return dart_error__set(error, EINVAL,
				       "agent '%s' is named twice", text);
	if (err == -E2BIG)
		return dart_error__set(error, EINVAL,
				       "there are more than %d agents",
				       SETTINGS_TARGETS_MAX);
	if (!err && settings->transport)
		settings->targets[settings->target_count - 1].transport =
			settings->transport;
	return err;
}

int options_targets__add_source(struct settings *settings,
				enum source_kind kind, const char *place,
				struct dart_error *error)
{
	int err = settings__add_source(settings, kind, place);
	struct shared_text *name = source_kind__name(kind, place);
	const char *text = name ? name->text : "?";

	if (err == -EINVAL)
		dart_error__set(error, 0, "'%s' is not %s", text,
				source_kind__expected(kind));
	else if (err == -EEXIST)
		err = dart_error__set(error, EINVAL,
				      "source '%s' is named twice", text);
	shared_text__release(name);
	if (err == -E2BIG)
		return dart_error__set(error, EINVAL,
				       "there are more than %d sources",
				       SETTINGS_SOURCES_MAX);
	return err;
}
