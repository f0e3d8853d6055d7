// SPDX-License-Identifier: GPL-2.0-only
/* Keeps the schemas of sources and the layouts of their records. */
#include "source_schemas.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/loop_timer.h"
#include "source_schema.h"

struct known_schema {
	SLIST_ENTRY(known_schema) link;
	const struct source *source;
	struct dart_zero_extent extent;
	struct dart_schema *schema;
	struct record_layout record; /* all 0 until it is asked for */
};

/* Who registers one source registers others soon, and reading the types takes 10 ms. */
#define FORGET_US 1000000

static int forget_types(sd_event_source *timer, uint64_t usec, void *data)
{
	struct source_schemas *schemas = data;

	btf__free(schemas->types);
	schemas->types = NULL;
	return 0;
}

int source_schemas__open(struct source_schemas *schemas, sd_event *loop)
{
	*schemas = (struct source_schemas){};
	SLIST_INIT(&schemas->known);
	return loop_timer__add(loop, &schemas->forget, CLOCK_MONOTONIC, forget_types, schemas);
}

void source_schemas__close(struct source_schemas *schemas)
{
	struct known_schema *known;

	while ((known = SLIST_FIRST(&schemas->known))) {
		SLIST_REMOVE_HEAD(&schemas->known, link);
		record_layout__clear(&known->record);
		dart_schema__free(known->schema);
		free(known);
	}
	sd_event_source_disable_unref(schemas->forget);
	btf__free(schemas->types);
}

/* For a sample: its fields do not depend on the kernel. */
static int known_schema__make(struct known_schema *known, struct dart_error *error)
{
	const struct dart_field *field = known->source->fields();
	int ret = 0;

	known->schema = dart_schema__new(known->extent.name, known->extent.length);
	if (!known->schema)
		return dart_error__no_memory(error);
	for (; field->name && !ret; field++)
		ret = dart_schema__add(known->schema, field);
	if (!ret)
		return 0;
	dart_schema__free(known->schema);
	return dart_error__system(
		error, -ret,
		"the module counts otherwise than dartd expects (install both from one release)");
}

static int source_schemas__read(struct source_schemas *schemas, struct known_schema *known,
				struct dart_error *error)
{
	if (!schemas->types)
		schemas->types = btf__load_vmlinux_btf();
	if (!schemas->types)
		return dart_error__set(
			error, errno,
			"cannot read the kernel's types: %s (the kernel needs CONFIG_DEBUG_INFO_BTF)",
			strerror(errno));
	loop_timer__start(schemas->forget, FORGET_US);
	return source_schema__from_btf(known->source, schemas->types, &known->extent,
				       &known->schema, error);
}

static int source_schemas__find(struct source_schemas *schemas, const struct source *source,
				const struct dart_zero_extent *extent, struct known_schema **result,
				struct dart_error *error)
{
	struct known_schema *known;
	int ret;

	SLIST_FOREACH(known, &schemas->known, link) {
		if (known->source == source && known->extent.length == extent->length &&
		    !strcmp(known->extent.name, extent->name)) {
			*result = known;
			return 0;
		}
	}

	known = calloc(1, sizeof(*known));
	if (!known)
		return dart_error__no_memory(error);
	known->source = source;
	known->extent = *extent;
	ret = source->fields ? known_schema__make(known, error) :
			       source_schemas__read(schemas, known, error);
	if (ret) {
		free(known);
		return ret;
	}
	SLIST_INSERT_HEAD(&schemas->known, known, link);
	*result = known;
	return 0;
}

int source_schemas__get(struct source_schemas *schemas, const struct source *source,
			const struct dart_zero_extent *extent, const struct dart_schema **schema,
			struct dart_error *error)
{
	struct known_schema *known;
	int ret = source_schemas__find(schemas, source, extent, &known, error);

	if (!ret)
		*schema = known->schema;
	return ret;
}

static int known_schema__lay_out(const struct known_schema *known, struct record_layout *layout,
				 struct dart_error *error)
{
	int ret =
		record_layout__init(layout, known->schema, source__row_field(known->source), error);
	uint32_t i;

	if (ret || !known->source->lags_not_gathered)
		return ret;
	for (i = 0; i < layout->schema->field_count; i++)
		layout->schema->fields[i].lags = false;
	return 0;
}

int source_schemas__get_record(struct source_schemas *schemas, const struct source *source,
			       const struct dart_zero_extent *extent,
			       const struct record_layout **result, struct dart_error *error)
{
	struct known_schema *known;
	int ret;

	ret = source_schemas__find(schemas, source, extent, &known, error);
	if (ret)
		return ret;
	if (!known->record.schema)
		ret = known_schema__lay_out(known, &known->record, error);
	if (!ret)
		*result = &known->record;
	return ret;
}
