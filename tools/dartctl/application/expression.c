// SPDX-License-Identifier: GPL-2.0-only
/* Follows expressions through types: see expression.h. */
#include "expression.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The position that an expression has reached. */
struct position {
	const struct types *types;
	struct type type;
	struct type_shape shape;
	struct dart_application_location *location;
	uint64_t offset; /* from the variable, or from the last pointer */
	struct dart_error *error;
};

static int refuse(const struct position *position, const char *why)
{
	return dart_error__set(position->error, EINVAL, "%s", why);
}

/* Copies a word.  Returns the text after it; NULL if no word begins @text, or a longer one does. */
static const char *take_word(const char *text, char word[static EXPRESSION_NAME_MAX])
{
	size_t length = 0;

	if (isdigit((unsigned char)*text))
		return NULL;
	while (isalnum((unsigned char)text[length]) || text[length] == '_')
		length++;
	if (!length || length >= EXPRESSION_NAME_MAX)
		return NULL;
	memcpy(word, text, length);
	word[length] = '\0';
	return text + length;
}

const char *expression__variable(const char *text, char name[static EXPRESSION_NAME_MAX])
{
	return take_word(text, name);
}

static void position__set_type(struct position *position, const struct type *type)
{
	position->type = *type;
	types__shape(position->types, type, &position->shape);
}

/* Stores the offset of the last step, or adds it to the address of the variable. */
static int position__end_step(struct position *position)
{
	struct dart_application_location *location = position->location;

	if (position->offset >= DART_APPLICATION_OFFSET_END)
		return refuse(position, "an offset is beyond 16 MiB");
	if (location->steps)
		location->offsets[location->steps - 1] = position->offset;
	else
		location->address += position->offset;
	return 0;
}

static int position__dereference(struct position *position)
{
	struct type target;
	int ret = position__end_step(position);

	if (ret)
		return ret;
	if (position->location->steps == DART_APPLICATION_STEPS_MAX)
		return refuse(position, "it follows more than 2 pointers");
	position->location->steps++;
	position->offset = 0;
	types__target(position->types, &position->type, &target);
	position__set_type(position, &target);
	return 0;
}

static int position__enter(struct position *position, const char *name)
{
	struct type member;
	uint64_t offset;
	int ret;

	if (position->shape.kind != TYPE_STRUCTURE)
		return dart_error__set(position->error, EINVAL,
				       "'%s' is no member: there is no structure before it", name);
	if (!position->shape.size)
		return dart_error__set(
			position->error, EINVAL,
			"the types do not tell the members of the structure with '%s'", name);
	ret = types__member(position->types, &position->type, name, &member, &offset);
	if (ret == -EOPNOTSUPP)
		return dart_error__set(position->error, EINVAL, "'%s' is a bit-field", name);
	if (ret)
		return dart_error__set(position->error, EINVAL, "the structure has no member '%s'",
				       name);
	position->offset += offset;
	position__set_type(position, &member);
	return 0;
}

static int position__index(struct position *position, uint64_t index)
{
	struct type element;
	uint64_t count = UINT32_MAX;
	int ret;

	if (position->shape.kind == TYPE_POINTER) {
		ret = position__dereference(position);
		if (ret)
			return ret;
	} else if (position->shape.kind == TYPE_ARRAY) {
		count = position->shape.count;
		types__target(position->types, &position->type, &element);
		position__set_type(position, &element);
	} else {
		return refuse(position, "an index stands after neither an array nor a pointer");
	}
	if (index >= count)
		return dart_error__set(position->error, EINVAL, "the array has %llu elements",
				       (unsigned long long)count);
	if (!position->shape.size || position->shape.size >= DART_APPLICATION_OFFSET_END)
		return refuse(position, "the size of an element is not known");
	position->offset += index * position->shape.size;
	return 0;
}

/* Takes ".NAME", "->NAME" or "[NUMBER]" off the front of *@rest. */
static int position__step(struct position *position, const char **rest)
{
	char name[EXPRESSION_NAME_MAX];
	unsigned long long index;
	int ret = 0, end = 0;

	if (**rest == '[') {
		if (!isdigit((unsigned char)(*rest)[1]) ||
		    sscanf(*rest, "[%8llu]%n", &index, &end) != 1 || !end)
			return refuse(position, "expected a number up to 8 digits in brackets");
		*rest += end;
		return position__index(position, index);
	}
	if (!strncmp(*rest, "->", 2)) {
		if (position->shape.kind != TYPE_POINTER)
			return refuse(position, "'->' stands after something that is no pointer");
		ret = position__dereference(position);
		*rest += 2;
	} else if (**rest == '.') {
		*rest += 1;
	} else {
		return dart_error__set(position->error, EINVAL, "expected '.', '->' or '[' at '%s'",
				       *rest);
	}
	*rest = take_word(*rest, name);
	if (!*rest)
		return refuse(position, "expected the name of a member after '.' or '->'");
	return ret ?: position__enter(position, name);
}

static int end_at_text(struct position *position, uint32_t width, struct expression_value *value)
{
	const bool is_pointer = position->shape.kind == TYPE_POINTER;
	const uint64_t count = position->shape.count;
	struct type target;
	int ret;

	if (is_pointer ? !width : position->shape.kind != TYPE_ARRAY || width)
		return refuse(position, is_pointer ?
						"a text that a pointer leads to needs a width" :
						"only a text that a pointer leads to has a width");
	if (is_pointer) {
		ret = position__dereference(position);
		if (ret)
			return ret;
	} else {
		types__target(position->types, &position->type, &target);
		position__set_type(position, &target);
	}
	if (!position->shape.is_character)
		return refuse(position, "it is no text: char[], or char * with a width");
	value->width = is_pointer ? width : count;
	return value->width ? 0 : refuse(position, "the array has no known number of characters");
}

static int end_at_integer(struct position *position, struct expression_value *value)
{
	struct type element;

	if (position->shape.kind == TYPE_ARRAY) {
		value->count = position->shape.count;
		types__target(position->types, &position->type, &element);
		position__set_type(position, &element);
	}
	if (position->shape.kind == TYPE_POINTER)
		return refuse(position, "it is a pointer, and addresses do not leave a process");
	if (position->shape.kind != TYPE_INTEGER || position->shape.size > sizeof(uint64_t))
		return refuse(position, "it is neither an integer nor an array of integers");
	if (!value->count)
		return refuse(position, "the array has no known number of elements");
	value->width = position->shape.size;
	value->is_signed = position->shape.is_signed;
	return 0;
}

int expression__follow(const struct types *types, const char *rest, const struct type *type,
		       bool is_text, uint32_t width, struct expression_value *value,
		       struct dart_error *error)
{
	struct position position = { .types = types, .location = &value->location, .error = error };
	const char *objection;
	int ret = 0;

	value->count = 1;
	value->is_signed = false;
	position__set_type(&position, type);
	while (!ret && *rest)
		ret = position__step(&position, &rest);
	if (!ret)
		ret = is_text ? end_at_text(&position, width, value) :
				end_at_integer(&position, value);
	if (!ret)
		ret = position__end_step(&position);
	if (ret)
		return ret;
	objection =
		dart_application_location__objection(&value->location, is_text ? 1 : value->width);
	return objection ? dart_error__set(error, EINVAL, "it %s", objection) : 0;
}
