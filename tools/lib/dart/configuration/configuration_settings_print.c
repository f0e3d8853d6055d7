// SPDX-License-Identifier: LGPL-2.1-or-later
/* Prints settings as a configuration file: JSON, which YAML includes. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>

#include "configuration.h"

static int append(json_t *list, const char *text)
{
	return json_array_append_new(list, json_string(text));
}

/* NULL, a list that is left out, if none is given. */
static json_t *prefixes_to_json(const struct dart_prefixes *prefixes)
{
	char address[INET6_ADDRSTRLEN], text[INET6_ADDRSTRLEN + 8];
	const struct dart_prefix *prefix;
	json_t *list;
	size_t i;

	if (!prefixes->is_given)
		return NULL;
	list = json_array();
	for (i = 0; i < prefixes->count; i++) {
		prefix = &prefixes->list[i];
		inet_ntop(prefix->family, prefix->address, address,
			  sizeof(address));
		snprintf(text, sizeof(text), "%s/%u", address, prefix->length);
		append(list, text);
	}
	return list;
}

/* NULL if it is empty. */
static json_t *texts_to_json(char *const *texts, size_t count)
{
	json_t *list;
	size_t i;

	if (!count)
		return NULL;
	list = json_array();
	for (i = 0; i < count; i++)
		append(list, texts[i]);
	return list;
}

static const char *name_of(enum dart_control_exposure exposure)
{
	switch (exposure) {
	case DART_CONTROL_EXPOSURE_EXACT:
		return "exact";
	case DART_CONTROL_EXPOSURE_PAGE:
		return "page";
	default:
		return NULL;
	}
}

/* 0 is not given. */
static void set_number(json_t *object, const char *name, uint32_t number)
{
	if (number)
		json_object_set_new(object, name, json_integer(number));
}

static json_t *tcp_to_json(const struct dart_configuration_tcp *tcp)
{
	json_t *object;

	if (!tcp->certificate)
		return NULL;
	object = json_pack("{s:s, s:s, s:s, s:s*, s:o*, s:o*}", "certificate",
			   tcp->certificate, "key", tcp->key, "authorities",
			   tcp->authorities, "revoked", tcp->revoked, "subjects",
			   texts_to_json(tcp->subjects, tcp->subject_count),
			   "listen",
			   texts_to_json(tcp->listen, tcp->listen_count));
	if (object)
		set_number(object, "port", tcp->port);
	return object;
}

static json_t *allow_to_json(const struct dart_configuration *configuration)
{
	if (!configuration->controllers.is_given &&
	    !configuration->readers.is_given &&
	    !configuration->callers.is_given)
		return NULL;
	return json_pack("{s:o*, s:o*, s:o*}", "controllers",
			 prefixes_to_json(&configuration->controllers),
			 "readers", prefixes_to_json(&configuration->readers),
			 "callers", prefixes_to_json(&configuration->callers));
}

int dart_configuration__print_settings(
	FILE *file, const struct dart_configuration *configuration)
{
	const struct dart_configuration_limits *limits = &configuration->limits;
	json_t *most = json_object(), *root;
	int ret;

	set_number(most, "controllers", limits->controllers);
	set_number(most, "readers", limits->readers);
	set_number(most, "callers", limits->callers);
	set_number(most, "clients", limits->clients);
	set_number(most, "per_address", limits->per_address);
	set_number(most, "half_open", limits->half_open);
	set_number(most, "entries_per_user", limits->entries_per_user);
	set_number(most, "slice_mib_per_user", limits->slice_mib_per_user);
	set_number(most, "requests_per_second_per_user",
		   limits->requests_per_second_per_user);
	root = json_pack("{s:s*, s:o*, s:s*, s:o*, s:o*, s:o*}", "device",
			 configuration->device, "listen",
			 texts_to_json(configuration->listen,
				       configuration->listen_count),
			 "exposure", name_of(configuration->exposure), "allow",
			 allow_to_json(configuration), "tcp",
			 tcp_to_json(&configuration->tcp), "limits",
			 json_object_size(most) ? most : NULL);
	if (!json_object_size(most))
		json_decref(most);
	if (!root)
		return -ENOMEM;
	set_number(root, "port", configuration->port);
	set_number(root, "keepalive", configuration->keepalive);
	ret = json_dumpf(root, file, JSON_INDENT(2)) ? -EIO : 0;
	json_decref(root);
	return ret;
}
