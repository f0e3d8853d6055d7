// SPDX-License-Identifier: GPL-2.0-only
/* Reads small files of the kernel. */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "text_file.h"

static bool read_line(char *line, size_t size, const char *path)
{
	FILE *file = fopen(path, "re");

	*line = '\0';
	if (!file)
		return false;
	if (!fgets(line, size, file))
		*line = '\0';
	fclose(file);
	line[strcspn(line, "\n")] = '\0';
	return *line;
}

bool text_file__line(char *line, size_t size, const char *path_format, ...)
{
	char path[PATH_MAX];
	va_list arguments;

	va_start(arguments, path_format);
	vsnprintf(path, sizeof(path), path_format, arguments);
	va_end(arguments);
	return read_line(line, size, path);
}

long long text_file__number(const char *path_format, ...)
{
	char path[PATH_MAX], line[32], *end;
	va_list arguments;
	long long number;

	va_start(arguments, path_format);
	vsnprintf(path, sizeof(path), path_format, arguments);
	va_end(arguments);
	if (!read_line(line, sizeof(line), path))
		return -1;
	number = strtoll(line, &end, 10);
	return *end || number < 0 ? -1 : number;
}

bool text_file__exists(const char *path_format, ...)
{
	char path[PATH_MAX];
	va_list arguments;

	va_start(arguments, path_format);
	vsnprintf(path, sizeof(path), path_format, arguments);
	va_end(arguments);
	return !access(path, F_OK);
}
