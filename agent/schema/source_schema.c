// SPDX-License-Identifier: GPL-2.0-only
/* Makes the schemas of windows from the kernel's BTF. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "btf_layout.h"
#include "listed_names.h"
#include "source_schema.h"

/* A source, its BTF, and the fields found so far, in any order. */
struct search {
	const struct source *source;
	const struct btf *btf;
	struct dart_error *error;
	struct dart_field *fields;
	uint32_t count;
};

static int does_not_fit(const struct search *search, const char *detail)
{
	return dart_error__set(search->error, EPROTONOSUPPORT,
			       "source %s does not match this kernel's BTF: %s",
			       search->source->name, detail);
}

static const struct source_counter *find_known(const struct source_part *part, const char *name)
{
	const struct source_counter *known = part->known;

	for (; known && known->name; known++)
		if (!strcmp(known->name, name))
			return known;
	return NULL;
}

/* Adds a copy of the name in lower case. */
static int search__add(struct search *search, const struct source_part *part,
		       const char *name, uint32_t offset, uint32_t width)
{
	const struct source_counter *known;
	struct dart_field *fields, *field;
	char lower[DART_CONTROL_NAME_MAX];
	bool is_gauge;
	size_t i;

	for (i = 0; name[i] && i < sizeof(lower) - 1; i++)
		lower[i] = tolower((unsigned char)name[i]);
	lower[i] = '\0';
	known = find_known(part, lower);
	if (!known && part->is_only_known)
		return 0;

	fields = reallocarray(search->fields, search->count + 1, sizeof(*fields));
	if (!fields)
		return -ENOMEM;
	search->fields = fields;
	field = &fields[search->count];
	is_gauge = known ? known->is_gauge : part->is_gauge;
	*field = (struct dart_field){
		.name = strdup(lower),
		.unit = (char *)(known ? known->unit : part->unit),
		.offset = offset,
		.width = width,
		.count = 1,
		.kind = is_gauge ? DART_CONTROL_FIELD_GAUGE : DART_CONTROL_FIELD_COUNTER,
		/*
		 * A gauge is a sum over CPUs: one CPU counts down an object that another counted
		 * up.
		 */
		.is_signed = is_gauge,
		.lags = search->source->lags,
	};
	if (!field->name)
		return -ENOMEM;
	search->count++;
	return 0;
}

static void search__free(struct search *search)
{
	while (search->count)
		free(search->fields[--search->count].name);
	free(search->fields);
}

/* Adds an element as "member.element" or "element", without prefix and suffix. */
static int add_element(struct search *search, const struct source_part *part,
		       const char *name, uint32_t offset, uint32_t width)
{
	char text[DART_CONTROL_NAME_MAX];
	size_t length = strlen(name), cut;

	cut = part->prefix ? strlen(part->prefix) : 0;
	if (cut && !strncmp(name, part->prefix, cut)) {
		name += cut;
		length -= cut;
	}
	cut = part->suffix ? strlen(part->suffix) : 0;
	if (cut && length > cut && !strcmp(name + length - cut, part->suffix))
		length -= cut;

	if (snprintf(text, sizeof(text), "%s%s%.*s", part->is_qualified ? part->member : "",
		     part->is_qualified ? "." : "", (int)length, name) >= (int)sizeof(text))
		return -ENAMETOOLONG;
	return search__add(search, part, text, offset, width);
}

static int add_array(struct search *search, const struct source_part *part,
		     const struct btf_type *type, uint32_t offset)
{
	const struct btf_type *elements = btf_layout__enum(search->btf, part->elements);
	const struct btf_array *array = btf_array(type);
	uint32_t width = btf_layout__counter_width(search->btf, array->type), i;
	const char *name;
	int ret;

	if (!width)
		return does_not_fit(search, "its array has no counters");
	if (!elements)
		return does_not_fit(search, "no enum names its elements");

	for (i = part->first; i < array->nelems; i++) {
		name = btf_layout__element(search->btf, elements, i);
		if (!name)
			return does_not_fit(search, "an element has no name");
		ret = add_element(search, part, name, offset + i * width, width);
		if (ret)
			return does_not_fit(search, strerror(-ret));
	}
	return 0;
}

static int add_member(struct search *search, const struct source_part *part,
		      const struct btf_type *variable)
{
	const char *name = part->member;
	const struct btf_type *type;
	uint32_t type_id, width, offset = 0;
	char detail[128];
	int ret;

	type = btf_layout__member(search->btf, variable, &name, &type_id, &offset);
	if (!type && part->is_optional)
		return 0;
	if (type && part->elements && btf_is_array(type))
		return add_array(search, part, type, offset);

	width = type && !part->elements ? btf_layout__counter_width(search->btf, type_id) : 0;
	if (!width) {
		snprintf(detail, sizeof(detail), "it has no %s '%s'",
			 part->elements ? "array" : "counter", part->member);
		return does_not_fit(search, detail);
	}
	ret = search__add(search, part, name, offset, width);
	return ret ? does_not_fit(search, strerror(-ret)) : 0;
}

static int add_integers(struct search *search, const struct source_part *part,
			const struct btf_type *variable)
{
	const struct btf_member *member = btf_members(variable);
	uint32_t bits, width;
	uint16_t i;
	int ret;

	for (i = 0; i < btf_vlen(variable); i++, member++) {
		bits = btf_member_bit_offset(variable, i);
		width = btf_layout__counter_width(search->btf, member->type);
		if (!width || bits % 8 || btf_member_bitfield_size(variable, i))
			continue;
		ret = search__add(search, part, btf__name_by_offset(search->btf, member->name_off),
				  bits / 8, width);
		if (ret)
			return does_not_fit(search, strerror(-ret));
	}
	return 0;
}

static struct dart_field *search__find(const struct search *search, const char *name)
{
	uint32_t i;

	for (i = 0; i < search->count; i++)
		if (!strcmp(search->fields[i].name, name))
			return &search->fields[i];
	return NULL;
}

static int rename_field(struct dart_field *field, const char *name)
{
	char *copy = strdup(name);

	if (!copy)
		return -ENOMEM;
	free(field->name);
	field->name = copy;
	return 0;
}

static int search__apply_aliases(struct search *search, const struct source_alias *alias)
{
	struct dart_field *field;
	int ret = 0;

	for (; alias->name && !ret; alias++) {
		field = search__find(search, alias->name);
		if (field && !search__find(search, alias->shown))
			ret = rename_field(field, alias->shown);
	}
	return ret;
}

/* Renames the fields from @first on after the lines of the kernel's file, if the file fits. */
static int search__apply_list(struct search *search, uint32_t first, const char *path)
{
	uint32_t i, count = search->count - first;
	struct dart_field *fields = search->fields + first;
	char **names = listed_names__read(path, fields, count);
	int ret = 0;

	for (i = 0; names && i < count && !ret; i++)
		ret = rename_field(&fields[i], names[i]);
	listed_names__free(names, count);
	return ret;
}

static int find_fields(struct search *search, const struct btf_type *variable)
{
	const struct source_part *part = search->source->parts;
	const struct source_part *end = part + SOURCE_PARTS_MAX;
	uint32_t first;
	int ret = 0;

	for (; part < end && part->unit && !ret; part++) {
		first = search->count;
		ret = part->member ? add_member(search, part, variable) :
				     add_integers(search, part, variable);
		if (!ret && part->aliases)
			ret = search__apply_aliases(search, part->aliases);
		if (!ret && part->listed_in)
			ret = search__apply_list(search, first, part->listed_in);
	}
	if (!ret && !search->count)
		return does_not_fit(search, "it has none of the counters");
	return ret;
}

static int by_offset(const void *a, const void *b)
{
	const struct dart_field *left = a, *right = b;

	return (left->offset > right->offset) - (left->offset < right->offset);
}

int source_schema__from_btf(const struct source *source, const struct btf *btf,
			    const struct dart_zero_extent *extent, struct dart_schema **result,
			    struct dart_error *error)
{
	struct search search = { .source = source, .btf = btf, .error = error };
	const struct btf_type *variable;
	struct dart_schema *schema;
	const char *name;
	uint32_t i;
	int ret;

	variable = btf_layout__variable(btf, extent->name, &name);
	if (!variable || variable->size != extent->length)
		return does_not_fit(&search, "no such variable of this size");
	schema = dart_schema__new(name, extent->length);
	if (!schema)
		return does_not_fit(&search, strerror(errno));

	ret = find_fields(&search, variable);
	if (search.count)
		qsort(search.fields, search.count, sizeof(*search.fields), by_offset);
	for (i = 0; i < search.count && !ret; i++) {
		ret = dart_schema__add(schema, &search.fields[i]);
		if (ret)
			ret = does_not_fit(&search, strerror(-ret));
	}
	search__free(&search);
	if (ret)
		dart_schema__free(schema);
	else
		*result = schema;
	return ret;
}
