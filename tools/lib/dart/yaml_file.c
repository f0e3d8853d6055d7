// SPDX-License-Identifier: LGPL-2.1-or-later
/* Parses YAML files that may be hostile: see yaml_file.h. */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/text_file.h>
#include <libdart/yaml_file.h>

static unsigned int count_lines(const char *bytes, size_t length)
{
	unsigned int lines = 1;

	for (; length; bytes++, length--)
		lines += *bytes == '\n';
	return lines;
}

/* The error of libyaml, which for a wrong byte knows its offset and no line. */
static int refuse_syntax(const yaml_parser_t *parser, const char *bytes, size_t length,
			 const char *path, struct dart_error *error)
{
	size_t line = parser->problem_mark.line + 1, offset;

	if (parser->error == YAML_MEMORY_ERROR)
		return dart_error__no_memory(error);
	if (parser->error == YAML_READER_ERROR) {
		offset = parser->problem_offset;
		line = count_lines(bytes, offset < length ? offset : length);
		return dart_error__set(
			error, EINVAL,
			"%s:%zu: not a text file: %s (write it in UTF-8, without control characters)",
			path, line, parser->problem ?: "?");
	}
	return dart_error__set(error, EINVAL, "%s:%zu: not YAML: %s%s%s", path, line,
			       parser->problem ?: "?", parser->context ? " " : "",
			       parser->context ?: "");
}

/* The state of the pass over all events before nodes are made of them. */
struct limits {
	unsigned int nodes_max;
	unsigned int nodes, depth, documents;
};

/* Scalars that YAML reads as a missing value unless they are in quotes. */
static bool is_null(const yaml_event_t *event)
{
	static const char *const nulls[] = { "", "~", "null", "Null", "NULL" };
	const char *text = (const char *)event->data.scalar.value;
	size_t i;

	if (event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
		return false;
	for (i = 0; i < sizeof(nulls) / sizeof(nulls[0]); i++)
		if (event->data.scalar.length == strlen(nulls[i]) && !strcmp(text, nulls[i]))
			return true;
	return false;
}

static const char *scalar_objection(const yaml_event_t *event)
{
	if (event->data.scalar.anchor)
		return "anchors are not supported (repeat the value)";
	if (event->data.scalar.tag)
		return "tags are not supported (remove the '!')";
	if (is_null(event))
		return "a value is missing: an empty value, ~ and null are refused (write a value, quote it if it is a text, or remove the line)";
	return NULL;
}

/* Returns why the event is refused, or NULL. */
static const char *limits__objection(struct limits *limits, const yaml_event_t *event)
{
	const char *objection = NULL;

	switch (event->type) {
	case YAML_ALIAS_EVENT:
		return "aliases are not supported (repeat the value)";
	case YAML_DOCUMENT_START_EVENT:
		return limits->documents++ ? "a second document begins (remove the '---')" : NULL;
	case YAML_SCALAR_EVENT:
		objection = scalar_objection(event);
		break;
	case YAML_MAPPING_START_EVENT:
	case YAML_SEQUENCE_START_EVENT:
		/* Both have the same members in the same places. */
		if (event->data.mapping_start.anchor)
			objection = "anchors are not supported (repeat the value)";
		else if (event->data.mapping_start.tag)
			objection = "tags are not supported (remove the '!')";
		else if (++limits->depth > DART_YAML_DEPTH_MAX)
			objection = "lists and keys are nested too deeply";
		break;
	case YAML_MAPPING_END_EVENT:
	case YAML_SEQUENCE_END_EVENT:
		limits->depth--;
		return NULL;
	default:
		return NULL;
	}
	if (!objection && ++limits->nodes > limits->nodes_max)
		objection = "the file has too many values (split it)";
	return objection;
}

/* Refuses files that would take too much memory as nodes. */
static int check_events(yaml_parser_t *parser, const char *bytes, size_t length, const char *path,
			unsigned int nodes_max, bool *is_empty, struct dart_error *error)
{
	struct limits limits = { .nodes_max = nodes_max };
	const char *objection;
	yaml_event_t event;
	bool is_end;
	int ret = 0;

	do {
		if (!yaml_parser_parse(parser, &event))
			return refuse_syntax(parser, bytes, length, path, error);
		objection = limits__objection(&limits, &event);
		if (objection)
			ret = dart_error__set(error, EINVAL, "%s:%zu: %s", path,
					      event.start_mark.line + 1, objection);
		is_end = event.type == YAML_STREAM_END_EVENT;
		yaml_event_delete(&event);
	} while (!ret && !is_end);
	*is_empty = !limits.documents;
	return ret;
}

static int open_parser(yaml_parser_t *parser, const void *bytes, size_t length,
		       struct dart_error *error)
{
	if (!yaml_parser_initialize(parser))
		return dart_error__no_memory(error);
	yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(parser, bytes, length);
	return 0;
}

static const struct dart_yaml_bounds default_bounds = {
	.bytes = DART_YAML_BYTES_MAX,
	.nodes = DART_YAML_NODES_MAX,
};

static int parse(struct dart_yaml *yaml, const void *bytes, size_t length,
		 const char *path, const struct dart_yaml_bounds *bounds,
		 const yaml_node_t **root, struct dart_error *error)
{
	yaml_parser_t parser;
	bool is_empty = true;
	int ret;

	*yaml = (struct dart_yaml){ .path = path, .error = error };
	*root = NULL;
	dart_text_file__skip_mark(&bytes, &length);
	if (length > bounds->bytes)
		return dart_error__set(error, EFBIG,
				       "%s:1: the file has more than %zu bytes (split it)", path,
				       bounds->bytes);
	ret = open_parser(&parser, bytes, length, error);
	if (ret)
		return ret;
	ret = check_events(&parser, bytes, length, path, bounds->nodes, &is_empty, error);
	yaml_parser_delete(&parser);
	if (ret || is_empty)
		return ret;

	ret = open_parser(&parser, bytes, length, error);
	if (ret)
		return ret;
	if (yaml_parser_load(&parser, &yaml->document))
		*root = yaml_document_get_root_node(&yaml->document);
	else
		ret = refuse_syntax(&parser, bytes, length, path, error);
	yaml_parser_delete(&parser);
	return ret;
}

int dart_yaml__parse(struct dart_yaml *yaml, const void *bytes, size_t length, const char *path,
		     const yaml_node_t **root, struct dart_error *error)
{
	return parse(yaml, bytes, length, path, &default_bounds, root, error);
}

/* Reads @most bytes of @file at most; the caller frees *@bytes in every case. */
static int read_bytes(FILE *file, size_t most, char **bytes, size_t *length)
{
	size_t room = 0;
	char *more;

	*bytes = NULL;
	*length = 0;
	do {
		room = room ? 2 * room : 1 << 16;
		more = realloc(*bytes, room);
		if (!more)
			return -ENOMEM;
		*bytes = more;
		*length += fread(more + *length, 1, room - *length, file);
	} while (*length == room && room < most);
	return ferror(file) ? -(errno ?: EIO) : 0;
}

int dart_yaml__load(struct dart_yaml *yaml, FILE *file, const char *path,
		    const struct dart_yaml_bounds *bounds,
		    const yaml_node_t **root, struct dart_error *error)
{
	size_t length;
	char *bytes;
	int ret;

	bounds = bounds ?: &default_bounds;
	/* Read one byte more than allowed, so that the parser refuses a longer file. */
	ret = read_bytes(file, bounds->bytes + 1, &bytes, &length);
	*root = NULL;
	if (ret)
		dart_error__system(error, -ret, "%s: cannot read it", path);
	else
		ret = parse(yaml, bytes, length, path, bounds, root, error);
	free(bytes);
	return ret;
}

void dart_yaml__close(struct dart_yaml *yaml)
{
	yaml_document_delete(&yaml->document);
}

unsigned int dart_yaml__line(const yaml_node_t *node)
{
	return node->start_mark.line + 1;
}

int dart_yaml__refuse(struct dart_yaml *yaml, const yaml_node_t *node, const char *format, ...)
{
	char reason[DART_ERROR_MAX];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(reason, sizeof(reason), format, arguments);
	va_end(arguments);
	dart_error__set(yaml->error, EINVAL, "%s:%u: %s", yaml->path,
			dart_yaml__line(node), reason);
	if (yaml->mistakes)
		yaml->mistakes->tell(yaml->mistakes->subject, yaml->error->text);
	return -EINVAL;
}

bool dart_yaml__goes_on(const struct dart_yaml *yaml, int ret)
{
	return !ret || (ret == -EINVAL && yaml->mistakes);
}

/*
 * Control characters besides the ones of ASCII: C1, line breaks, the byte order mark, no
 * characters.
 */
static const char *const controls[] = {
	"\xe2\x80\xa8", "\xe2\x80\xa9", "\xef\xbb\xbf", "\xef\xbf\xbe", "\xef\xbf\xbf",
};

static bool is_control(const char *at)
{
	const unsigned char first = at[0], second = first ? at[1] : 0;
	size_t i;

	if (first < ' ' || first == 0x7f || (first == 0xc2 && second >= 0x80 && second <= 0x9f))
		return true;
	for (i = 0; i < sizeof(controls) / sizeof(controls[0]); i++)
		if (!strncmp(at, controls[i], strlen(controls[i])))
			return true;
	return false;
}

bool dart_yaml__is_text(const char *text)
{
	for (; *text; text++)
		if (is_control(text))
			return false;
	return true;
}

const char *dart_yaml__raw_text(const yaml_node_t *node)
{
	const char *text;

	if (node->type != YAML_SCALAR_NODE)
		return NULL;
	text = (const char *)node->data.scalar.value;
	return strlen(text) == node->data.scalar.length ? text : NULL;
}

const char *dart_yaml__text(const yaml_node_t *node)
{
	const char *text = dart_yaml__raw_text(node);

	return text && dart_yaml__is_text(text) ? text : NULL;
}

/* Appends the names of @members, for an unknown one. */
static int refuse_key(struct dart_yaml *yaml, const yaml_node_t *node,
		      const char *name, const struct dart_yaml_member *members)
{
	char known[256] = "";
	size_t used = 0;

	for (; members->name && used < sizeof(known); members++)
		used += snprintf(known + used, sizeof(known) - used, "%s%s", used ? ", " : "",
				 members->name);
	return dart_yaml__refuse(yaml, node, "unknown key '%s' (the keys here are %s)", name ?: "?",
				 known);
}

/* Takes a key and its value. */
static int take_pair(struct dart_yaml *yaml, const yaml_node_pair_t *pair,
		     const struct dart_yaml_member *members, uint32_t *seen, void *into)
{
	const yaml_node_t *name_node = yaml_document_get_node(&yaml->document, pair->key);
	const char *name = dart_yaml__text(name_node);
	const struct dart_yaml_member *member;

	for (member = members; name && member->name; member++)
		if (!strcmp(member->name, name))
			break;
	if (!name || !member->name)
		return refuse_key(yaml, name_node, name, members);
	if (*seen & 1U << (member - members))
		return dart_yaml__refuse(yaml, name_node, "'%s' occurs twice (remove one)", name);
	*seen |= 1U << (member - members);
	return member->take(yaml, yaml_document_get_node(&yaml->document, pair->value),
			    (char *)into + member->offset);
}

int dart_yaml__take_mapping(struct dart_yaml *yaml, const yaml_node_t *node,
			    const struct dart_yaml_member *members, void *into)
{
	const yaml_node_pair_t *pair;
	uint32_t seen = 0;
	int ret = 0, taken;

	if (node->type != YAML_MAPPING_NODE)
		return dart_yaml__refuse(yaml, node, "expected KEY: VALUE lines");
	for (pair = node->data.mapping.pairs.start;
	     dart_yaml__goes_on(yaml, ret) && pair < node->data.mapping.pairs.top; pair++) {
		taken = take_pair(yaml, pair, members, &seen, into);
		ret = taken ?: ret;
	}
	return ret;
}

int dart_yaml__take_pairs(struct dart_yaml *yaml, const yaml_node_t *node,
			  int (*take)(struct dart_yaml *yaml, const yaml_node_t *key,
				      const char *name, const yaml_node_t *value, void *into),
			  void *into)
{
	const yaml_node_pair_t *pair;
	const yaml_node_t *key;
	const char *name;
	int ret = 0, taken;

	if (node->type != YAML_MAPPING_NODE)
		return dart_yaml__refuse(yaml, node, "expected KEY: VALUE lines");
	for (pair = node->data.mapping.pairs.start;
	     dart_yaml__goes_on(yaml, ret) && pair < node->data.mapping.pairs.top; pair++) {
		key = yaml_document_get_node(&yaml->document, pair->key);
		name = dart_yaml__raw_text(key);
		taken = name ? take(yaml, key, name,
				    yaml_document_get_node(&yaml->document, pair->value), into) :
			       dart_yaml__refuse(yaml, key, "expected a text as the key");
		ret = taken ?: ret;
	}
	return ret;
}

int dart_yaml__take_list(struct dart_yaml *yaml, const yaml_node_t *node,
			 int (*take)(struct dart_yaml *yaml, const yaml_node_t *item, void *into),
			 void *into)
{
	yaml_node_item_t *item;
	int ret = 0, taken;

	if (node->type != YAML_SEQUENCE_NODE)
		return dart_yaml__refuse(yaml, node, "expected a list: lines of '- ITEM', or []");
	for (item = node->data.sequence.items.start;
	     dart_yaml__goes_on(yaml, ret) && item < node->data.sequence.items.top; item++) {
		taken = take(yaml, yaml_document_get_node(&yaml->document, *item), into);
		ret = taken ?: ret;
	}
	return ret;
}
