// SPDX-License-Identifier: GPL-2.0-only
/* Copies a schema, with everything that it points to, unless the store contains an equal one. */
#include "shared_schema.h"

#include <stdlib.h>
#include <string.h>

/* The numbers of a field, without padding, so that they can be hashed and compared. */
struct numbers {
	uint32_t offset, width, count;
	uint16_t kind;
	uint8_t is_signed, lags;
};

static struct numbers numbers_of(const struct dart_field *field)
{
	return (struct numbers){
		.offset = field->offset,
		.width = field->width,
		.count = field->count,
		.kind = field->kind,
		.is_signed = field->is_signed,
		.lags = field->lags,
	};
}

static int compare_fields(const struct dart_field *one, const struct dart_field *other)
{
	const struct numbers a = numbers_of(one), b = numbers_of(other);

	return memcmp(&a, &b, sizeof(a))	      ?:
		       strcmp(one->name, other->name) ?:
							strcmp(one->unit, other->unit);
}

static int compare_u32(uint32_t one, uint32_t other)
{
	return (one > other) - (one < other);
}

static int compare(const struct content *a, const struct content *b)
{
	const struct dart_schema *one = &((const struct shared_schema *)a)->schema;
	const struct dart_schema *other = &((const struct shared_schema *)b)->schema;
	int order;

	order = compare_u32(one->length, other->length)			  ?:
			compare_u32(one->field_count, other->field_count) ?:
			strcmp(one->name, other->name);
	for (uint32_t i = 0; !order && i < one->field_count; i++)
		order = compare_fields(&one->fields[i], &other->fields[i]);
	return order;
}

static void shared_schema__free(struct content *content)
{
	free(content);
}

const struct content_kind shared_schema__kind = {
	.compare = compare,
	.free = shared_schema__free,
};

static uint64_t hash(struct content_store *store, const struct dart_schema *schema)
{
	XXH3_state_t *state = content_store__hash(store);
	struct numbers numbers;
	uint32_t i;

	XXH3_64bits_update(state, &schema->length, sizeof(schema->length));
	XXH3_64bits_update(state, schema->name, strlen(schema->name) + 1);
	for (i = 0; i < schema->field_count; i++) {
		const struct dart_field *field = &schema->fields[i];

		numbers = numbers_of(field);
		XXH3_64bits_update(state, &numbers, sizeof(numbers));
		XXH3_64bits_update(state, field->name, strlen(field->name) + 1);
		XXH3_64bits_update(state, field->unit, strlen(field->unit) + 1);
	}
	return XXH3_64bits_digest(state);
}

static size_t text_bytes(const struct dart_schema *schema)
{
	size_t bytes = strlen(schema->name) + 1;
	uint32_t i;

	for (i = 0; i < schema->field_count; i++)
		bytes += strlen(schema->fields[i].name) + strlen(schema->fields[i].unit) + 2;
	return bytes;
}

/* Copies @text to @room, and advances @room past the copy. */
static char *put(char **room, const char *text)
{
	char *copy = *room;

	*room = stpcpy(copy, text) + 1;
	return copy;
}

static struct shared_schema *copy_of(const struct dart_schema *schema)
{
	const uint32_t count = schema->field_count;
	const size_t fields = count * sizeof(*schema->fields);
	struct shared_schema *copy;
	struct dart_field *field;
	char *room;

	copy = malloc(sizeof(*copy) + fields + text_bytes(schema));
	if (!copy)
		return NULL;
	content__init(&copy->content, &shared_schema__kind);
	copy->schema = *schema;
	copy->schema.fields = (struct dart_field *)(copy + 1);
	if (count)
		memcpy(copy->schema.fields, schema->fields, fields);
	room = (char *)(copy->schema.fields + count);
	copy->schema.name = put(&room, schema->name);
	for (field = copy->schema.fields; field < copy->schema.fields + count; field++) {
		field->name = put(&room, field->name);
		field->unit = put(&room, field->unit);
	}
	return copy;
}

struct shared_schema *shared_schema__get(struct content_store *store,
					 const struct dart_schema *schema)
{
	struct shared_schema key = {
		.content.kind = &shared_schema__kind,
		.content.hash = hash(store, schema),
		.schema = *schema,
	};
	struct shared_schema *shared;

	shared = (struct shared_schema *)content_store__find(store, &key.content);
	if (shared)
		return shared;
	shared = copy_of(schema);
	if (!shared)
		return NULL;
	shared->content.hash = key.content.hash;
	if (content_store__add(store, &shared->content)) {
		content__release(&shared->content);
		return NULL;
	}
	return shared;
}
