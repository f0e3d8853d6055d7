/* SPDX-License-Identifier: GPL-2.0-only */
/* The members of a type, all the way down, as a flat list of fields. */
#ifndef BTF_FIELDS_H
#define BTF_FIELDS_H

#include <bpf/btf.h>
#include <stdbool.h>
#include <stdint.h>

#include <libdart/table/schema.h>

#define BTF_FIELDS_MAX 1024

struct btf_fields {
	enum dart_control_copies copies_are;
	uint32_t count;
	uint32_t left_out;	/* parts of the value that are no field */
	/*
	 * By offset; of members of a union that begin at the same one the
	 * largest comes first.  The names are owned, the units are the BTF's.
	 */
	struct dart_field fields[BTF_FIELDS_MAX];
};

/*
 * Collects what is in @type_id.  The BTF must be one that the kernel has
 * loaded, so free of loops and not nested deeply.  Returns 0, -ENOMEM, -E2BIG;
 * btf_fields__free() in any case.
 */
int btf_fields__collect(struct btf_fields *fields, const struct btf *btf,
			uint32_t type_id);
void btf_fields__free(struct btf_fields *fields);

#endif /* BTF_FIELDS_H */
