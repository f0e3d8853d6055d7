// SPDX-License-Identifier: GPL-2.0-only
/* Makes the schema of a module's counters from its BTF. */
#include <bpf/btf.h>
#include <errno.h>
#include <stdlib.h>

#include "btf_fields.h"
#include "counters_schema.h"

/* In a module's struct, integers without a tag are counters. */
static int fill(struct dart_schema *schema, const struct btf *btf,
		uint32_t type_id, struct dart_error *error)
{
	struct btf_fields *fields = calloc(1, sizeof(*fields));
	struct dart_field field;
	uint32_t i;
	int ret;

	if (!fields)
		return dart_error__no_memory(error);
	ret = btf_fields__collect(fields, btf, type_id);
	for (i = 0; !ret && i < fields->count; i++) {
		field = fields->fields[i];
		if (field.kind == DART_CONTROL_FIELD_GAUGE)
			field.kind = DART_CONTROL_FIELD_COUNTER;
		ret = dart_schema__add(schema, &field);
	}
	if (ret || !schema->field_count)
		ret = dart_error__set(error, EPROTONOSUPPORT,
				      "struct %s does not consist of counters", schema->name);
	btf_fields__free(fields);
	free(fields);
	return ret;
}

static int from_btf(const struct btf *btf, const struct dart_zero_extent *extent,
		    struct dart_schema **schema, struct dart_error *error)
{
	int id = btf__find_by_name_kind(btf, extent->name, BTF_KIND_STRUCT);
	int ret;

	if (id < 0 || btf__type_by_id(btf, id)->size != extent->length)
		return dart_error__set(error, EPROTONOSUPPORT,
				       "the BTF of module %s has no struct %s of %llu bytes",
				       extent->module, extent->name, extent->length);
	*schema = dart_schema__new(extent->name, extent->length);
	if (!*schema)
		return dart_error__system(error, errno, "cannot describe struct %s", extent->name);
	ret = fill(*schema, btf, id, error);
	if (ret) {
		dart_schema__free(*schema);
		*schema = NULL;
	}
	return ret;
}

int counters_schema__new(const struct dart_zero_extent *extent,
			 struct dart_schema **schema, struct dart_error *error)
{
	struct btf *kernel, *module;
	int ret;

	kernel = btf__load_vmlinux_btf();
	if (!kernel)
		return dart_error__system(error, errno, "cannot read the kernel's types");
	module = btf__load_module_btf(extent->module, kernel);
	if (module)
		ret = from_btf(module, extent, schema, error);
	else
		ret = dart_error__system(error, errno, "module %s has no BTF", extent->module);
	btf__free(module);
	btf__free(kernel);
	return ret;
}
