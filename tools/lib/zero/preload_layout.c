// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reads layouts line by line: see preload_layout.h. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload_layout.h"

#define INDENT_OF_ITEM "  - "
#define INDENT_OF_KEY "    "
#define INDENT_OF_FIELD "      - "

struct parser {
	struct preload_layout *layout;
	enum { NOWHERE, IN_MODULES, IN_CHECKS, IN_ENTRIES } section;
	const char *objection; /* to the line, or NULL */
};

/*
 * Called with each key and value of a mapping in one line; returns false if it knows no such key.
 */
typedef bool take_pair(void *into, const char *key, char *value);

/* ---- values */

static char *skip_blanks(char *at)
{
	return at + strspn(at, " ");
}

/* True if @text is a whole number, decimal or hexadecimal after 0x. */
static bool take_number(const char *text, uint64_t most, uint64_t *number)
{
	const int base = text[0] == '0' && text[1] == 'x' ? 16 : 10;
	char *end;

	if (!isxdigit((unsigned char)text[base == 16 ? 2 : 0]))
		return false;
	errno = 0;
	*number = strtoull(base == 16 ? text + 2 : text, &end, base);
	return !errno && !*end && *number <= most;
}

static bool take_u32(const char *text, uint32_t most, uint32_t *number)
{
	uint64_t wide;

	if (!take_number(text, most, &wide))
		return false;
	*number = wide;
	return true;
}

/*
 * Ends the quoted text that begins at @at, and sets *@end to the bytes after it; NULL: it is open.
 */
static char *take_quoted(char *at, char **end)
{
	const char quote = *at;
	char *text = at + 1, *to = text, *from = text;

	for (; *from; from++) {
		if (*from == quote && (quote == '"' || from[1] != quote))
			break;
		if (*from == '\\' && quote == '"')
			return NULL;
		from += *from == quote;
		*to++ = *from;
	}
	if (!*from)
		return NULL;
	*end = from + 1;
	*to = '\0';
	return text;
}

/*
 * Ends the value at *@at, and sets *@at to the "," or "}" after it, in *@after; NULL: there is
 * none.
 */
static char *take_value(char **at, char *after)
{
	char *value = skip_blanks(*at), *end;

	if (*value == '\'' || *value == '"') {
		value = take_quoted(value, &end);
		if (!value)
			return NULL;
		end = skip_blanks(end);
	} else if (*value == '[') {
		end = strchr(value, ']');
		if (!end)
			return NULL;
		*end = '\0';
		end = skip_blanks(end + 1);
	} else {
		end = value + strcspn(value, ",}");
	}
	*after = *end;
	*at = end;
	if (*after != ',' && *after != '}')
		return NULL;
	*end = '\0';
	while (end > value && end[-1] == ' ')
		*--end = '\0';
	return value;
}

/* Takes "{key: value, ...}" apart. */
static bool take_mapping(char *at, take_pair *take, void *into)
{
	char after, *key, *value;

	if (*at++ != '{')
		return false;
	if (!strcmp(at, "}"))
		return true;
	do {
		key = skip_blanks(at);
		at = strstr(key, ": ");
		if (!at)
			return false;
		*at = '\0';
		at += 2;
		value = take_value(&at, &after);
		if (!value || !take(into, key, value))
			return false;
		at++;
	} while (after == ',');
	return !*skip_blanks(at);
}

/* ---- modules */

static bool take_of_module(void *into, const char *key, char *value)
{
	struct preload_module *module = into;

	if (!strcmp(key, "soname"))
		module->soname = value;
	else if (!strcmp(key, "build_id"))
		module->build_id = value;
	else
		return false;
	return true;
}

static bool add_module(struct preload_layout *layout, char *text)
{
	if (layout->module_count == PRELOAD_MODULES_MAX)
		return false;
	return take_mapping(text, take_of_module, &layout->modules[layout->module_count++]);
}

/* ---- entries */

/* "[ADDRESS" or "[ADDRESS, OFFSET...": the closing bracket is gone. */
static bool take_location(struct preload_field *field, char *text)
{
	char *comma = strchr(text, ',');

	if (*text != '[')
		return false;
	field->is_pointed_to = comma;
	if (comma)
		*comma = '\0';
	return take_number(skip_blanks(text + 1), INT64_MAX, &field->address);
}

static bool take_kind(struct dart_zero_field *field, const char *kind)
{
	static const char *const kinds[] = {
		[DART_ZERO_KIND_COUNTER] = "counter",
		[DART_ZERO_KIND_GAUGE] = "gauge",
		[DART_ZERO_KIND_TEXT] = "text",
	};
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (!kinds[i] || strcmp(kind, kinds[i]))
			continue; /* sequences are in no layout */
		field->kind = i;
		return true;
	}
	return false;
}

static bool take_of_field(void *into, const char *key, char *value)
{
	struct preload_field *field = into;

	if (!strcmp(key, "name"))
		field->shown.name = value;
	else if (!strcmp(key, "unit"))
		field->shown.unit = value;
	else if (!strcmp(key, "at"))
		return take_location(field, value);
	else if (!strcmp(key, "module"))
		return take_u32(value, PRELOAD_MODULES_MAX - 1, &field->module);
	else if (!strcmp(key, "width"))
		return take_u32(value, PRELOAD_LAYOUT_BYTES_MAX, &field->shown.width);
	else if (!strcmp(key, "count"))
		return take_u32(value, PRELOAD_FIELDS_MAX, &field->shown.count);
	else if (!strcmp(key, "signed"))
		field->shown.is_signed = !strcmp(value, "true");
	else
		return !strcmp(key, "kind") && take_kind(&field->shown, value);
	return true;
}

static bool is_whole(const struct preload_layout *layout, const struct preload_field *field)
{
	const struct dart_zero_field *shown = &field->shown;

	if (!shown->name || !field->address || field->module >= layout->module_count)
		return false;
	if (shown->kind == DART_ZERO_KIND_TEXT)
		return shown->width && shown->count == 1;
	return shown->count &&
	       (shown->width == 1 || shown->width == 2 || shown->width == 4 || shown->width == 8);
}

static bool add_field(struct preload_layout *layout, char *text)
{
	struct preload_field field = {
		.shown = { .unit = "", .count = 1, .kind = DART_ZERO_KIND_GAUGE },
	};
	struct preload_field *fields;
	struct preload_entry *entry;

	if (!layout->entry_count)
		return false;
	entry = &layout->entries[layout->entry_count - 1];
	if (entry->field_count == PRELOAD_FIELDS_MAX ||
	    !take_mapping(text, take_of_field, &field) || !is_whole(layout, &field))
		return false;
	fields = reallocarray(entry->fields, entry->field_count + 1, sizeof(*fields));
	if (!fields)
		return false;
	entry->fields = fields;
	fields[entry->field_count++] = field;
	return true;
}

static bool add_entry(struct preload_layout *layout, char *text)
{
	static const char key[] = "name: ";
	struct preload_entry *entries;
	char *name = text + strlen(key), *end;

	if (strncmp(text, key, strlen(key)) || layout->entry_count == PRELOAD_ENTRIES_MAX)
		return false;
	if (*name == '\'' || *name == '"') {
		name = take_quoted(name, &end);
		if (!name || *end)
			return false;
	}
	entries = reallocarray(layout->entries, layout->entry_count + 1, sizeof(*entries));
	if (!entries)
		return false;
	layout->entries = entries;
	entries[layout->entry_count++] = (struct preload_entry){ .name = name };
	return *name;
}

/* "rows: N", "stride: N" or "fields:" */
static bool take_of_entry(struct preload_layout *layout, const char *text)
{
	if (!layout->entry_count)
		return false;
	if (!strncmp(text, "rows: ", strlen("rows: ")))
		layout->entries[layout->entry_count - 1].has_rows = true;
	else if (strncmp(text, "stride: ", strlen("stride: ")) && strcmp(text, "fields:"))
		return false;
	return true;
}

/* ---- lines */

static bool starts(const char *line, const char *with)
{
	return !strncmp(line, with, strlen(with));
}

static bool take_section(struct parser *parser, const char *line)
{
	if (!strcmp(line, "modules:"))
		parser->section = IN_MODULES;
	else if (!strcmp(line, "checks:"))
		parser->section = IN_CHECKS; /* the build-id tells more */
	else if (!strcmp(line, "entries:"))
		parser->section = IN_ENTRIES;
	else if (starts(line, "description: "))
		parser->section = NOWHERE;
	else
		return false;
	return true;
}

static bool take_line(struct parser *parser, char *line)
{
	struct preload_layout *layout = parser->layout;

	if (*line != ' ')
		return !*line || *line == '#' || take_section(parser, line);
	if (parser->section == IN_CHECKS)
		return true;
	if (parser->section == IN_MODULES && starts(line, INDENT_OF_ITEM))
		return add_module(layout, line + strlen(INDENT_OF_ITEM));
	if (parser->section != IN_ENTRIES)
		return false;
	if (starts(line, INDENT_OF_ITEM))
		return add_entry(layout, line + strlen(INDENT_OF_ITEM));
	if (starts(line, INDENT_OF_FIELD))
		return add_field(layout, line + strlen(INDENT_OF_FIELD));
	return starts(line, INDENT_OF_KEY) && take_of_entry(layout, line + strlen(INDENT_OF_KEY));
}

static int parse(struct preload_layout *layout, const char *path, char *reason)
{
	struct parser parser = { .layout = layout };
	char *line = layout->text, *end;
	unsigned int number;

	for (number = 1; *line; number++, line = end) {
		end = strchrnul(line, '\n');
		if (*end)
			*end++ = '\0';
		if (take_line(&parser, line))
			continue;
		snprintf(reason, PRELOAD_REASON_MAX,
			 "line %u of %.160s is not as dartctl application describe writes it",
			 number, path);
		return -EINVAL;
	}
	return 0;
}

/* Reads the file into @layout->text. */
static int load(struct preload_layout *layout, int fd)
{
	struct stat status;
	size_t length = 0;
	ssize_t got;

	if (fstat(fd, &status))
		return -errno;
	if (!S_ISREG(status.st_mode) || status.st_size > PRELOAD_LAYOUT_BYTES_MAX)
		return -EFBIG;
	layout->text = malloc(status.st_size + 1);
	if (!layout->text)
		return -ENOMEM;
	while (length < (size_t)status.st_size) {
		got = read(fd, layout->text + length, status.st_size - length);
		if (got <= 0)
			break;
		length += got;
	}
	layout->text[length] = '\0';
	return 0;
}

int preload_layout__read(const char *path, struct preload_layout *layout,
			 char reason[static PRELOAD_REASON_MAX])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), ret;

	*layout = (struct preload_layout){};
	ret = fd < 0 ? -errno : load(layout, fd);
	if (fd >= 0)
		close(fd);
	if (ret)
		snprintf(reason, PRELOAD_REASON_MAX, "cannot read %.160s: %s", path,
			 strerror(-ret));
	else
		ret = parse(layout, path, reason);
	if (ret)
		preload_layout__free(layout);
	return ret;
}

void preload_layout__free(struct preload_layout *layout)
{
	while (layout->entry_count)
		free(layout->entries[--layout->entry_count].fields);
	free(layout->entries);
	free(layout->text);
	*layout = (struct preload_layout){};
}
