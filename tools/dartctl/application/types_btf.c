// SPDX-License-Identifier: GPL-2.0-only
/* Types from BTF, by libbpf: of pahole -J, or of eBPF objects. */
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "types_format.h"

#define QUALIFIERS_MAX 64

static int btf_types__open(void **state, const char *path, struct dart_error *error)
{
	/* libbpf would print a complaint about each file without BTF. */
	const libbpf_print_fn_t print = libbpf_set_print(NULL);
	struct btf *btf = btf__parse(path, NULL);
	const int code = errno;

	libbpf_set_print(print);
	if (!btf)
		return code == ENOMEM ? dart_error__no_memory(error) : -ENODATA;
	*state = btf;
	return 0;
}

static void btf_types__close(void *state)
{
	btf__free(state);
}

static bool has_tag(const struct btf_type *of, const char *tag)
{
	switch (btf_kind(of)) {
	case BTF_KIND_STRUCT:
		return !strcmp(tag, "struct");
	case BTF_KIND_UNION:
		return !strcmp(tag, "union");
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		return !strcmp(tag, "enum");
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_INT:
		return !*tag;
	default:
		return false;
	}
}

static int btf_types__find(void *state, const char *tag, const char *name,
			   int (*see)(void *into, const struct type *type), void *into)
{
	const uint32_t count = btf__type_cnt(state);
	const struct btf_type *of;
	struct type type = {};
	int seen = 0;

	for (type.id = 1; !seen && type.id < count; type.id++) {
		of = btf__type_by_id(state, type.id);
		if (has_tag(of, tag) && !strcmp(btf__name_by_offset(state, of->name_off), name))
			seen = see(into, &type);
	}
	return seen;
}

/* The type itself, or NULL for void and in a broken file. */
static const struct btf_type *strip(void *state, const struct type *type)
{
	const struct btf_type *of = btf__type_by_id(state, type->id);
	int i;

	for (i = 0; of && i < QUALIFIERS_MAX; i++) {
		if (!btf_is_mod(of) && !btf_is_typedef(of))
			return of;
		of = btf__type_by_id(state, of->type);
	}
	return NULL;
}

static void btf_types__shape(void *state, const struct type *type, struct type_shape *shape)
{
	const struct btf_type *of = strip(state, type);
	const __s64 size = of ? btf__resolve_size(state, type->id) : 0;

	if (!of)
		return;
	shape->size = size > 0 ? size : 0;
	switch (btf_kind(of)) {
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		shape->kind = TYPE_STRUCTURE;
		break;
	case BTF_KIND_PTR:
		shape->kind = TYPE_POINTER;
		shape->size = sizeof(uint64_t);
		break;
	case BTF_KIND_ARRAY:
		shape->kind = TYPE_ARRAY;
		shape->count = btf_array(of)->nelems;
		break;
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		shape->kind = TYPE_INTEGER;
		shape->is_signed = btf_kflag(of);
		break;
	case BTF_KIND_INT:
		shape->kind = TYPE_INTEGER;
		shape->is_signed = btf_int_encoding(of) & BTF_INT_SIGNED;
		shape->is_character = shape->size == 1 &&
				      strstr(btf__name_by_offset(state, of->name_off), "char");
		break;
	}
}

static void btf_types__target(void *state, const struct type *type, struct type *target)
{
	const struct btf_type *of = strip(state, type);

	target->id = 0;
	if (of && btf_is_array(of))
		target->id = btf_array(of)->type;
	else if (of && btf_is_ptr(of))
		target->id = of->type;
}

static int btf_types__members(void *state, const struct type *type,
			      int (*see)(void *into, const char *name, const struct type *member,
					 uint64_t offset, bool is_bit_field),
			      void *into)
{
	const struct btf_type *of = strip(state, type);
	const struct btf_member *member;
	struct type of_member = {};
	uint32_t bits;
	int i, seen;

	if (!of || !btf_is_composite(of))
		return 0;
	for (i = 0; i < btf_vlen(of); i++) {
		member = &btf_members(of)[i];
		of_member.id = member->type;
		bits = btf_member_bit_offset(of, i);
		seen = see(into, btf__name_by_offset(state, member->name_off), &of_member, bits / 8,
			   bits % 8 || btf_member_bitfield_size(of, i));
		if (seen)
			return seen;
	}
	return 0;
}

const struct types_format types_btf = {
	.open = btf_types__open,
	.close = btf_types__close,
	.find = btf_types__find,
	.shape = btf_types__shape,
	.target = btf_types__target,
	.members = btf_types__members,
};
