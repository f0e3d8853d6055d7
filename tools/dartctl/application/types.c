// SPDX-License-Identifier: GPL-2.0-only
/* Types of a program, whatever format they are in: names, pointers, members. */
#include "types.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Anonymous structures and unions inside a structure, at any depth. */
#define ANONYMOUS_MAX 64
#define NAME_SIZE 256

struct types {
	const struct types_format *format;
	void *state;
};

int types__open(struct types **result, const char *path, struct dart_error *error)
{
	static const struct types_format *const formats[] = { &types_dwarf, &types_btf };
	struct types *types = calloc(1, sizeof(*types));
	int ret = -ENODATA;
	size_t i;

	if (!types)
		return dart_error__no_memory(error);
	for (i = 0; ret == -ENODATA && i < sizeof(formats) / sizeof(formats[0]); i++) {
		types->format = formats[i];
		ret = types->format->open(&types->state, path, error);
	}
	if (ret == -ENODATA)
		dart_error__set(
			error, ENODATA,
			"'%s' has neither DWARF nor BTF (compile with gcc -g -c, or name the debug file)",
			path);
	if (ret)
		free(types);
	else
		*result = types;
	return ret;
}

void types__close(struct types *types)
{
	if (!types)
		return;
	types->format->close(types->state);
	free(types);
}

/* Cuts blanks and stars off the end of @name, whose bytes are @length.  Returns the stars. */
static uint32_t cut_pointers(char *name, size_t length)
{
	uint32_t pointers = 0;

	while (length && (isspace((unsigned char)name[length - 1]) || name[length - 1] == '*'))
		pointers += name[--length] == '*';
	name[length] = '\0';
	return pointers;
}

/* Definitions of one name: each source file of a program may have one. */
struct definitions {
	const struct types *types;
	struct type *first;
	uint64_t digest; /* of the first one */
	bool is_found;
};

static void mix(uint64_t *digest, const void *bytes, size_t length)
{
	const uint8_t *byte = bytes;

	/* FNV-1a */
	for (; length--; byte++)
		*digest = (*digest ^ *byte) * UINT64_C(0x100000001b3);
}

static void mix_shape(uint64_t *digest, const struct types *types, const struct type *type)
{
	struct type_shape shape;

	types__shape(types, type, &shape);
	mix(digest, &shape.kind, sizeof(shape.kind));
	mix(digest, &shape.size, sizeof(shape.size));
	mix(digest, &shape.count, sizeof(shape.count));
	mix(digest, &shape.is_signed, sizeof(shape.is_signed));
}

struct digest {
	const struct types *types;
	uint64_t value;
};

static int mix_member(void *into, const char *name, const struct type *member, uint64_t offset,
		      bool is_bit_field)
{
	struct digest *digest = into;

	mix(&digest->value, name, strlen(name) + 1);
	mix(&digest->value, &offset, sizeof(offset));
	mix_shape(&digest->value, digest->types, member);
	return 0;
}

/* 1: it differs from the first definition. */
static int see_definition(void *into, const struct type *type)
{
	struct definitions *definitions = into;
	struct digest digest = { .types = definitions->types };

	mix_shape(&digest.value, digest.types, type);
	digest.types->format->members(digest.types->state, type, mix_member, &digest);
	if (definitions->is_found)
		return digest.value != definitions->digest;
	definitions->is_found = true;
	definitions->digest = digest.value;
	*definitions->first = *type;
	return 0;
}

int types__find(const struct types *types, const char *name, struct type *type,
		struct dart_error *error)
{
	static const char *const tags[] = { "struct", "union", "enum" };
	char base[NAME_SIZE];
	const char *tag = "", *rest = base;
	struct definitions definitions = { .types = types, .first = type };
	const size_t length = strlen(name);
	uint32_t pointers;
	size_t i;

	if (length >= sizeof(base))
		return dart_error__set(error, EINVAL, "the name of a type has more than %zu bytes",
				       sizeof(base) - 1);
	memcpy(base, name, length);
	pointers = cut_pointers(base, length);
	for (i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
		if (strncmp(base, tags[i], strlen(tags[i])) || base[strlen(tags[i])] != ' ')
			continue;
		tag = tags[i];
		rest = base + strlen(tag) + strspn(base + strlen(tag), " ");
	}
	if (*rest && types->format->find(types->state, tag, rest, see_definition, &definitions))
		return dart_error__set(
			error, ENOTUNIQ,
			"source files of the program have different types '%s' (take the types of one object file, or compile a source file with this type alone)",
			base);
	if (!definitions.is_found)
		return dart_error__set(
			error, ENOENT,
			"the types have no '%s' (compile a source file that uses it)", base);
	type->pointers = pointers;
	return 0;
}

void types__shape(const struct types *types, const struct type *type, struct type_shape *shape)
{
	*shape = (struct type_shape){ .kind = TYPE_POINTER, .size = sizeof(uint64_t) };
	if (type->pointers)
		return;
	*shape = (struct type_shape){};
	types->format->shape(types->state, type, shape);
}

void types__target(const struct types *types, const struct type *type, struct type *target)
{
	if (type->pointers) {
		*target = *type;
		target->pointers--;
		return;
	}
	types->format->target(types->state, type, target);
	target->pointers = 0;
}

/* A search for a member through structures that have no name. */
struct search {
	const struct types *types;
	const char *name;
	struct {
		struct type type;
		uint64_t offset;
	} anonymous[ANONYMOUS_MAX];
	uint32_t known, next;
	struct type *member;
	uint64_t *offset;
};

static int see_member(void *into, const char *name, const struct type *member, uint64_t offset,
		      bool is_bit_field)
{
	struct search *search = into;
	struct type_shape shape;

	offset += search->anonymous[search->next].offset;
	if (!strcmp(name, search->name)) {
		*search->member = *member;
		*search->offset = offset;
		return is_bit_field ? -EOPNOTSUPP : 1;
	}
	if (*name || is_bit_field)
		return 0;
	types__shape(search->types, member, &shape);
	if (shape.kind == TYPE_STRUCTURE && search->known < ANONYMOUS_MAX) {
		search->anonymous[search->known].type = *member;
		search->anonymous[search->known++].offset = offset;
	}
	return 0;
}

int types__member(const struct types *types, const struct type *type, const char *name,
		  struct type *member, uint64_t *offset)
{
	struct search search = {
		.types = types, .name = name, .member = member, .offset = offset, .known = 1
	};
	int ret = 0;

	search.anonymous[0].type = *type;
	for (; !ret && search.next < search.known; search.next++)
		ret = types->format->members(types->state, &search.anonymous[search.next].type,
					     see_member, &search);
	return ret == 1 ? 0 : ret ?: -ENOENT;
}
