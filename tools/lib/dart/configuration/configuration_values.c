// SPDX-License-Identifier: LGPL-2.1-or-later
/* Values that several lists of a configuration file have. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/configuration/configuration_loader_internal.h>

int dart_configuration__take_power(struct dart_yaml *yaml,
				   const yaml_node_t *node, int most,
				   long long *log2)
{
	const char *text = dart_yaml__text(node) ?: "";
	bool is_power = !strncmp(text, "2^", 2);
	long long number;
	char *end;

	text += is_power ? 2 : 0;
	number = strtoll(text, &end, 10);
	if (!*end && *text >= '0' && *text <= '9' &&
	    (is_power || (number > 0 && !(number & (number - 1))))) {
		*log2 = is_power ? number : __builtin_ctzll(number);
		if (*log2 <= most)
			return 0;
	}
	return dart_yaml__refuse(
		yaml, node,
		"'%s' is not a power of two from 2^0 to 2^%d, such as 2^20",
		is_power ? text - 2 : text, most);
}

int dart_configuration__check_path(struct dart_yaml *yaml,
				   const yaml_node_t *node, const char *path)
{
	if (!path || (*path == '/' && strlen(path) < PATH_MAX))
		return 0;
	return dart_yaml__refuse(yaml, node, "'%s' is not a path from the root",
				 path);
}

json_t *dart_configuration__optional(long long number)
{
	return number < 0 ? NULL : json_integer(number);
}
