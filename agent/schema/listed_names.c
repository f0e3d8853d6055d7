// SPDX-License-Identifier: GPL-2.0-only
/* Reads the names in /proc/vmstat for the elements of an enum. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "listed_names.h"

/* The kernel prints this removed counter as 0, after all others. */
#define REMOVED_COUNTER "nr_unstable"

void listed_names__free(char **names, uint32_t count)
{
	uint32_t i;

	for (i = 0; names && i < count; i++)
		free(names[i]);
	free(names);
}

/* Returns the number of names, and stores the first @count of them. */
static uint32_t read_names(FILE *file, const char *first, char **names, uint32_t count)
{
	char *line = NULL;
	uint32_t found = 0;
	size_t size = 0;

	while (getline(&line, &size, file) > 0) {
		line[strcspn(line, " \n")] = '\0';
		if ((!found && strcmp(line, first)) || !strcmp(line, REMOVED_COUNTER))
			continue;
		if (!dart_name__is_valid(line))
			break;
		if (found < count)
			names[found] = strdup(line);
		if (found < count && !names[found])
			break;
		found++;
	}
	free(line);
	return found;
}

/* False if a name in the file is also the name of a field, but of another one. */
static bool is_in_order(char *const *names, const struct dart_field *fields, uint32_t count)
{
	uint32_t i, k;

	for (i = 0; i < count; i++)
		for (k = 0; k < count; k++)
			if (i != k && !strcmp(names[i], fields[k].name))
				return false;
	return true;
}

char **listed_names__read(const char *path, const struct dart_field *fields, uint32_t count)
{
	char **names = count ? calloc(count, sizeof(*names)) : NULL;
	FILE *file = names ? fopen(path, "re") : NULL;
	uint32_t found = 0;

	if (file) {
		found = read_names(file, fields[0].name, names, count);
		fclose(file);
	}
	if (found == count && count && is_in_order(names, fields, count))
		return names;
	listed_names__free(names, count);
	return NULL;
}
