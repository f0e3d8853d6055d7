// SPDX-License-Identifier: GPL-2.0-only
/* Finds and applies the "dart:" declaration tags of a type. */
#include <string.h>

#include "agent/base/log.h"
#include "btf_tags.h"

static void apply(const char *tag, struct btf_meaning *meaning)
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
		log__peer_warning("unknown declaration tag dart:%s ignored",
				  tag);
}

void btf_tags__apply(const struct btf *btf, uint32_t type_id, int member,
		     struct btf_meaning *meaning)
{
	uint32_t i, count = btf__type_cnt(btf);

	for (i = 1; i < count; i++) {
		const struct btf_type *tag = btf__type_by_id(btf, i);

		if (btf_is_decl_tag(tag) && tag->type == type_id &&
		    btf_decl_tag(tag)->component_idx == member)
			apply(btf__name_by_offset(btf, tag->name_off), meaning);
	}
}
