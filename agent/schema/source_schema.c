// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "btf_layout.h"
#include "source_schema.h"

/* What has been found so far, in any order. */
struct finds {
	const struct source *source;
	const struct btf *btf;
	struct dart_error *error;
	struct dart_field *fields;
	uint32_t count;
};

struct known_schema {
	SLIST_ENTRY(known_schema) link;
	const struct source *source;
	struct dart_zero_extent extent;
	struct dart_schema *schema;
};

static int does_not_fit(const struct finds *finds, const char *detail)
{
	return dart_error__set(
		finds->error, EPROTONOSUPPORT,
		"layout of %s does not fit this kernel's BTF: %s",
		finds->source->name, detail);
}

static const struct source_counter *find_known(const struct source_part *part,
					       const char *name)
{
	const struct source_counter *known = part->known;

	for (; known && known->name; known++)
		if (!strcmp(known->name, name))
			return known;
	return NULL;
}

/* In lower case; the name is copied. */
static int finds__add(struct finds *finds, const struct source_part *part,
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

	fields = reallocarray(finds->fields, finds->count + 1,
			      sizeof(*fields));
	if (!fields)
		return -ENOMEM;
	finds->fields = fields;
	field = &fields[finds->count];
	is_gauge = known ? known->is_gauge : part->is_gauge;
	*field = (struct dart_field){
		.name = strdup(lower),
		.unit = (char *)(known ? known->unit : part->unit),
		.offset = offset,
		.width = width,
		.count = 1,
		.kind = is_gauge ? DART_CONTROL_FIELD_GAUGE :
				   DART_CONTROL_FIELD_COUNTER,
		/* What one CPU counts up another may count down. */
		.is_signed = is_gauge,
	};
	if (!field->name)
		return -ENOMEM;
	finds->count++;
	return 0;
}

static void finds__free(struct finds *finds)
{
	while (finds->count)
		free(finds->fields[--finds->count].name);
	free(finds->fields);
}

/* Adds element @index, "member.element" or "element" without what is cut. */
static int add_element(struct finds *finds, const struct source_part *part,
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

	if (snprintf(text, sizeof(text), "%s%s%.*s",
		     part->is_qualified ? part->member : "",
		     part->is_qualified ? "." : "", (int)length,
		     name) >= (int)sizeof(text))
		return -ENAMETOOLONG;
	return finds__add(finds, part, text, offset, width);
}

static int add_array(struct finds *finds, const struct source_part *part,
		     const struct btf_type *type, uint32_t offset)
{
	const struct btf_type *elements =
		btf_layout__enum(finds->btf, part->elements);
	const struct btf_array *array = btf_array(type);
	uint32_t width = btf_layout__counter_width(finds->btf, array->type), i;
	const char *name;
	int ret;

	if (!width)
		return does_not_fit(finds, "its array has no counters");
	if (!elements)
		return does_not_fit(finds, "nothing names its elements");

	for (i = part->first; i < array->nelems; i++) {
		name = btf_layout__element(finds->btf, elements, i);
		if (!name)
			return does_not_fit(finds, "an element has no name");
		ret = add_element(finds, part, name, offset + i * width, width);
		if (ret)
			return does_not_fit(finds, strerror(-ret));
	}
	return 0;
}

static int add_member(struct finds *finds, const struct source_part *part,
		      const struct btf_type *variable)
{
	const char *name = part->member;
	const struct btf_type *type;
	uint32_t type_id, width, offset = 0;
	char detail[128];
	int ret;

	type = btf_layout__member(finds->btf, variable, &name, &type_id,
				  &offset);
	if (!type && part->is_optional)
		return 0;
	if (type && part->elements && btf_is_array(type))
		return add_array(finds, part, type, offset);

	width = type && !part->elements ?
			btf_layout__counter_width(finds->btf, type_id) :
			0;
	if (!width) {
		snprintf(detail, sizeof(detail), "there is no %s '%s' in it",
			 part->elements ? "array" : "counter", part->member);
		return does_not_fit(finds, detail);
	}
	ret = finds__add(finds, part, name, offset, width);
	return ret ? does_not_fit(finds, strerror(-ret)) : 0;
}

static int add_integers(struct finds *finds, const struct source_part *part,
			const struct btf_type *variable)
{
	const struct btf_member *member = btf_members(variable);
	uint32_t bits, width;
	uint16_t i;
	int ret;

	for (i = 0; i < btf_vlen(variable); i++, member++) {
		bits = btf_member_bit_offset(variable, i);
		width = btf_layout__counter_width(finds->btf, member->type);
		if (!width || bits % 8 || btf_member_bitfield_size(variable, i))
			continue;
		ret = finds__add(finds, part,
				 btf__name_by_offset(finds->btf,
						     member->name_off),
				 bits / 8, width);
		if (ret)
			return does_not_fit(finds, strerror(-ret));
	}
	return 0;
}

static int find_fields(struct finds *finds, const struct btf_type *variable)
{
	const struct source_part *part = finds->source->parts;
	const struct source_part *end = part + SOURCE_PARTS_MAX;
	int ret = 0;

	for (; part < end && part->unit && !ret; part++)
		ret = part->member ? add_member(finds, part, variable) :
				     add_integers(finds, part, variable);
	if (!ret && !finds->count)
		return does_not_fit(finds, "none of its counters is there");
	return ret;
}

static int by_offset(const void *a, const void *b)
{
	const struct dart_field *left = a, *right = b;

	if (left->offset == right->offset)
		return 0;
	return left->offset < right->offset ? -1 : 1;
}

int source_schema__from_btf(const struct source *source, const struct btf *btf,
			    const struct dart_zero_extent *extent,
			    struct dart_schema **result,
			    struct dart_error *error)
{
	struct finds finds = { .source = source, .btf = btf, .error = error };
	const struct btf_type *variable;
	struct dart_schema *schema;
	const char *name;
	uint32_t i;
	int ret;

	variable = btf_layout__variable(btf, extent->name, &name);
	if (!variable || variable->size != extent->length)
		return does_not_fit(&finds, "no such variable of this size");
	schema = dart_schema__new(name, extent->length);
	if (!schema)
		return does_not_fit(&finds, strerror(errno));

	ret = find_fields(&finds, variable);
	if (finds.count)
		qsort(finds.fields, finds.count, sizeof(*finds.fields),
		      by_offset);
	for (i = 0; i < finds.count && !ret; i++) {
		ret = dart_schema__add(schema, &finds.fields[i]);
		if (ret)
			ret = does_not_fit(&finds, strerror(-ret));
	}
	finds__free(&finds);
	if (ret)
		dart_schema__free(schema);
	else
		*result = schema;
	return ret;
}

void source_schemas__open(struct source_schemas *schemas)
{
	SLIST_INIT(&schemas->known);
}

void source_schemas__close(struct source_schemas *schemas)
{
	struct known_schema *known;

	while ((known = SLIST_FIRST(&schemas->known))) {
		SLIST_REMOVE_HEAD(&schemas->known, link);
		dart_schema__free(known->schema);
		free(known);
	}
}

static int source_schemas__learn(struct source_schemas *schemas,
				 struct known_schema *known,
				 struct dart_error *error)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int ret;

	if (!btf)
		return dart_error__set(
			error, errno,
			"cannot read the kernel's types: %s (the kernel needs CONFIG_DEBUG_INFO_BTF)",
			strerror(errno));
	ret = source_schema__from_btf(known->source, btf, &known->extent,
				      &known->schema, error);
	btf__free(btf);
	if (!ret)
		SLIST_INSERT_HEAD(&schemas->known, known, link);
	return ret;
}

int source_schemas__get(struct source_schemas *schemas,
			const struct source *source,
			const struct dart_zero_extent *extent,
			const struct dart_schema **schema,
			struct dart_error *error)
{
	struct known_schema *known;
	int ret;

	SLIST_FOREACH(known, &schemas->known, link) {
		if (known->source == source &&
		    known->extent.length == extent->length &&
		    !strcmp(known->extent.name, extent->name)) {
			*schema = known->schema;
			return 0;
		}
	}

	known = calloc(1, sizeof(*known));
	if (!known)
		return dart_error__no_memory(error);
	known->source = source;
	known->extent = *extent;
	ret = source_schemas__learn(schemas, known, error);
	if (ret)
		free(known);
	else
		*schema = known->schema;
	return ret;
}
