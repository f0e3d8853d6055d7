// SPDX-License-Identifier: GPL-2.0-only
/* Walks a type and collects its members as fields. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/log.h"
#include "btf_fields.h"

/* Limit of members and elements visited, whether they become fields or not. */
#define PARTS_MAX 4096
/*
 * Limits of nested types.  A client chooses the types, as the loader of the BTF: the kernel accepts
 * any depth if each type comes after the types that it contains.
 */
#define DEPTH_MAX 64
#define ALIASES_MAX 64

/* Facts that types cannot express: see map_schema.h for the tags that change them. */
struct btf_meaning {
	enum dart_control_field_kind kind;
	const char *unit;
	enum dart_control_copies copies_are;
};

/* A part of the value: a member, an element, or all of it. */
struct part {
	char name[DART_CONTROL_NAME_MAX];
	bool is_cut;	/* the buffer is too small for the name */
	uint32_t type_id;
	uint32_t offset;	/* bytes */
	/* the type, or the variable, whose member @member is this part */
	uint32_t holder;
	int member;
	struct btf_meaning meaning;	/* inherited from its outer parts */
};

struct walk {
	const struct btf *btf;
	struct btf_fields *fields;
	uint32_t parts;
	uint32_t depth;
	int ret;
};

static void walk__add(struct walk *walk, const struct part *part);

/* Names @part: the name of @outer and a suffix. */
__attribute__((format(printf, 3, 4))) static void
part__name(struct part *part, const struct part *outer, const char *format, ...)
{
	size_t used = strlen(outer->name), room = sizeof(part->name) - used;
	va_list arguments;
	int length;

	memcpy(part->name, outer->name, used + 1);
	va_start(arguments, format);
	length = vsnprintf(part->name + used, room, format, arguments);
	va_end(arguments);
	part->is_cut = outer->is_cut || length < 0 || (size_t)length >= room;
}

static void apply_tag(const char *tag, struct btf_meaning *meaning)
{
	static const char prefix[] = "dart:", unit[] = "unit=";

	if (strncmp(tag, prefix, sizeof(prefix) - 1))
		return;
	tag += sizeof(prefix) - 1;

	if (!strcmp(tag, "counter"))
		meaning->kind = DART_CONTROL_FIELD_COUNTER;
	else if (!strcmp(tag, "gauge"))
		meaning->kind = DART_CONTROL_FIELD_GAUGE;
	else if (!strcmp(tag, "histogram"))
		meaning->kind = DART_CONTROL_FIELD_HISTOGRAM;
	else if (!strcmp(tag, "sequence"))
		meaning->kind = DART_CONTROL_FIELD_SEQUENCE;
	else if (!strcmp(tag, "address"))
		meaning->kind = DART_CONTROL_FIELD_ADDRESS;
	else if (!strcmp(tag, "copies=cpu"))
		meaning->copies_are = DART_CONTROL_COPIES_CPU;
	else if (!strncmp(tag, unit, sizeof(unit) - 1))
		meaning->unit = tag + sizeof(unit) - 1;
	else
		log__peer_warning("unknown declaration tag dart:%s ignored", tag);
}

/*
 * Overrides @meaning with the tags of @type_id (if @member is -1) or of one of its members.  The
 * BTF owns the strings.
 */
static void apply_tags(const struct btf *btf, uint32_t type_id, int member,
		       struct btf_meaning *meaning)
{
	uint32_t i, count = btf__type_cnt(btf);

	for (i = 1; i < count; i++) {
		const struct btf_type *tag = btf__type_by_id(btf, i);

		if (btf_is_decl_tag(tag) && tag->type == type_id &&
		    btf_decl_tag(tag)->component_idx == member)
			apply_tag(btf__name_by_offset(btf, tag->name_off), meaning);
	}
}

/*
 * Strips typedefs and qualifiers and applies their tags to @meaning; the outermost tag wins.
 * Returns 0, the void type, if they are too many.
 */
static uint32_t resolve(const struct btf *btf, uint32_t type_id, struct btf_meaning *meaning)
{
	const struct btf_type *type = btf__type_by_id(btf, type_id);
	uint32_t ids[ALIASES_MAX], count = 0, i;

	while (btf_is_mod(type) || btf_is_typedef(type)) {
		if (count == ALIASES_MAX)
			return 0;
		ids[count++] = type_id;
		type_id = type->type;
		type = btf__type_by_id(btf, type_id);
	}
	apply_tags(btf, type_id, -1, meaning);
	for (i = count; i > 0; i--)
		apply_tags(btf, ids[i - 1], -1, meaning);
	return type_id;
}

static void walk__add_field(struct walk *walk, const struct part *part, struct dart_field field)
{
	if (part->is_cut || !dart_name__is_valid(part->name) || !field.count || !field.width ||
	    !dart_text__is_valid(part->meaning.unit)) {
		walk->fields->left_out++;
		return;
	}
	if (walk->fields->count == BTF_FIELDS_MAX) {
		walk->ret = -E2BIG;
		return;
	}

	field.offset = part->offset;
	field.unit = (char *)part->meaning.unit;
	field.name = strdup(part->name);
	if (!field.name) {
		walk->ret = -ENOMEM;
		return;
	}
	walk->fields->fields[walk->fields->count++] = field;
}

/* Adds @count adjacent integers or enums as one field. */
static void walk__add_integers(struct walk *walk, const struct part *part,
			       const struct btf_type *type, uint32_t count)
{
	bool is_int = btf_is_int(type);
	uint8_t encoding = is_int ? btf_int_encoding(type) : 0;

	if ((type->size != 1 && type->size != 2 && type->size != 4 && type->size != 8) ||
	    (is_int && !(encoding & BTF_INT_BOOL) && btf_int_bits(type) != type->size * 8)) {
		walk->fields->left_out++;
		return;
	}
	walk__add_field(walk, part, (struct dart_field){
		.width = type->size,
		.count = count,
		.kind = part->meaning.kind,
		.is_signed = encoding & BTF_INT_SIGNED,
	});
}

static bool is_char(const struct btf *btf, const struct btf_type *type)
{
	return btf_is_int(type) && !strcmp(btf__name_by_offset(btf, type->name_off), "char");
}

static void walk__add_array(struct walk *walk, const struct part *part, const struct btf_type *type)
{
	const struct btf_array *array = btf_array(type);
	const struct btf_type *element;
	struct part inner = *part;
	int64_t size;
	uint32_t i;

	size = btf__resolve_size(walk->btf, array->type);
	inner.type_id = resolve(walk->btf, array->type, &inner.meaning);
	element = btf__type_by_id(walk->btf, inner.type_id);

	if (is_char(walk->btf, element)) {
		walk__add_field(walk, part, (struct dart_field){
			.width = array->nelems,
			.count = 1,
			.kind = DART_CONTROL_FIELD_TEXT,
		});
		return;
	}
	if (part->meaning.kind == DART_CONTROL_FIELD_ADDRESS) {
		walk__add_field(walk, part, (struct dart_field){
			.width = size * array->nelems,
			.count = 1,
			.kind = DART_CONTROL_FIELD_ADDRESS,
		});
		return;
	}
	if (btf_is_int(element) || btf_is_any_enum(element)) {
		apply_tags(walk->btf, part->holder, part->member, &inner.meaning);
		walk__add_integers(walk, &inner, element, array->nelems);
		return;
	}
	for (i = 0; i < array->nelems && size > 0 && !walk->ret; i++) {
		part__name(&inner, part, "[%u]", i);
		inner.offset = part->offset + i * size;
		walk__add(walk, &inner);
	}
}

static void walk__add_members(struct walk *walk, const struct part *part,
			      uint32_t type_id, const struct btf_type *type)
{
	const struct btf_member *member = btf_members(type);
	struct part inner = { .meaning = part->meaning, .holder = type_id };
	uint32_t bits;
	uint16_t i;

	for (i = 0; i < btf_vlen(type); i++, member++) {
		const char *name = btf__name_by_offset(walk->btf, member->name_off);

		bits = btf_member_bit_offset(type, i);
		if (bits % 8 || btf_member_bitfield_size(type, i)) {
			walk->fields->left_out++;
			continue;
		}
		part__name(&inner, part, "%s%s", *part->name && *name ? "." : "", name);
		inner.type_id = member->type;
		inner.offset = part->offset + bits / 8;
		inner.member = i;
		walk__add(walk, &inner);
	}
}

static void walk__add_variables(struct walk *walk, const struct part *part,
				const struct btf_type *section)
{
	const struct btf_var_secinfo *info = btf_var_secinfos(section);
	struct part inner = { .meaning = part->meaning, .member = -1 };
	const struct btf_type *variable;
	uint16_t i;

	for (i = 0; i < btf_vlen(section); i++, info++) {
		variable = btf__type_by_id(walk->btf, info->type);
		if (!btf_is_var(variable)) {
			walk->fields->left_out++;
			continue;
		}
		part__name(&inner, part, "%s", btf__name_by_offset(walk->btf, variable->name_off));
		inner.type_id = variable->type;
		inner.offset = info->offset;
		inner.holder = info->type;
		walk__add(walk, &inner);
	}
}

static void walk__add_part(struct walk *walk, const struct part *outer)
{
	struct part part = *outer;
	const struct btf_type *type;
	uint32_t id;

	id = resolve(walk->btf, part.type_id, &part.meaning);
	if (part.holder)
		apply_tags(walk->btf, part.holder, part.member, &part.meaning);
	else
		walk->fields->copies_are = part.meaning.copies_are;

	type = btf__type_by_id(walk->btf, id);
	if (btf_is_composite(type)) {
		walk__add_members(walk, &part, id, type);
		return;
	}
	if (btf_is_datasec(type)) {
		walk__add_variables(walk, &part, type);
		return;
	}

	if (!*part.name)
		strcpy(part.name, "value");
	if (btf_is_array(type))
		walk__add_array(walk, &part, type);
	else if (btf_is_int(type) || btf_is_any_enum(type))
		walk__add_integers(walk, &part, type, 1);
	else
		walk->fields->left_out++;
}

/* Adds the fields in @outer, unless it is nested too deeply. */
static void walk__add(struct walk *walk, const struct part *outer)
{
	if (walk->ret)
		return;
	if (walk->parts++ == PARTS_MAX) {
		walk->ret = -E2BIG;
		return;
	}
	if (walk->depth == DEPTH_MAX) {
		walk->fields->left_out++;
		return;
	}
	walk->depth++;
	walk__add_part(walk, outer);
	walk->depth--;
}

static int by_offset(const void *a, const void *b)
{
	const struct dart_field *left = a, *right = b;
	uint32_t left_size = left->width * left->count;
	uint32_t right_size = right->width * right->count;

	if (left->offset != right->offset)
		return left->offset < right->offset ? -1 : 1;
	if (left_size != right_size)
		return left_size > right_size ? -1 : 1;
	return strcmp(left->name, right->name);
}

int btf_fields__collect(struct btf_fields *fields, const struct btf *btf, uint32_t type_id)
{
	struct walk walk = { .btf = btf, .fields = fields };
	struct part all = {
		.type_id = type_id,
		.meaning = {
			.kind = DART_CONTROL_FIELD_GAUGE,
			.unit = "",
			.copies_are = DART_CONTROL_COPIES_ROW,
		},
	};

	fields->count = 0;
	fields->left_out = 0;
	walk__add(&walk, &all);
	qsort(fields->fields, fields->count, sizeof(fields->fields[0]), by_offset);
	return walk.ret;
}

void btf_fields__free(struct btf_fields *fields)
{
	while (fields->count)
		free(fields->fields[--fields->count].name);
}
