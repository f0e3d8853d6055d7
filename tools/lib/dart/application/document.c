// SPDX-License-Identifier: LGPL-2.1-or-later
/* Takes values of keys: see document_internal.h. */
#include <stdlib.h>
#include <string.h>

#include <libdart/table/schema.h>
#include <libdart/table/value.h>

#include "document_internal.h"

int dart_document__take_number(struct dart_yaml *yaml, const yaml_node_t *node, uint64_t most,
			       uint64_t *number)
{
	const char *text = dart_yaml__text(node);

	if (dart_application_number__parse(text, most, number))
		return 0;
	return dart_yaml__refuse(yaml, node, "expected a whole number up to %llu, not '%s'",
				 (unsigned long long)most, text ?: "?");
}

int dart_document__take_u64(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_document__take_number(yaml, node, UINT64_MAX, into);
}

int dart_document__take_text(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	const char *text = dart_yaml__text(node);
	char **copy = into;

	if (!text || !*text || !dart_text__is_valid(text))
		return dart_yaml__refuse(yaml, node,
					 "expected a text of 1 to %d characters of ASCII",
					 DART_CONTROL_NAME_MAX - 1);
	*copy = strdup(text);
	return *copy ? 0 : dart_error__no_memory(yaml->error);
}

int dart_document__take_build_id(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	const char *text = dart_yaml__text(node);

	if (text && dart_application_build_id__parse(into, text))
		return 0;
	return dart_yaml__refuse(
		yaml, node, "'%s' is not a build-id: 2 to %d hexadecimal digits (see file BINARY)",
		text ?: "?", 2 * DART_APPLICATION_BUILD_ID_MAX);
}

int dart_document__take_kind(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	static const enum dart_control_field_kind kinds[] = { DART_CONTROL_FIELD_COUNTER,
							      DART_CONTROL_FIELD_GAUGE,
							      DART_CONTROL_FIELD_TEXT };
	const char *text = dart_yaml__text(node);
	size_t i;

	for (i = 0; text && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!strcmp(dart_field_kind__name(kinds[i]), text)) {
			*(enum dart_control_field_kind *)into = kinds[i];
			return 0;
		}
	}
	return dart_yaml__refuse(yaml, node, "'%s' is not a kind: counter, gauge or text",
				 text ?: "?");
}

void *dart_document__grow(void *list, uint32_t count, size_t size)
{
	/* Powers of two are the sizes at which the memory is full. */
	if (count & (count - 1))
		return list;
	return reallocarray(list, count ? 2 * (size_t)count : 1, size);
}
