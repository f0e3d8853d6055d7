/* SPDX-License-Identifier: GPL-2.0-only */
/* The members of a type, at all depths, as a flat list of fields. */
#ifndef BTF_FIELDS_H
#define BTF_FIELDS_H

#include <bpf/btf.h>
#include <stdint.h>

#include <libdart/table/schema.h>

#define BTF_FIELDS_MAX 1024

struct btf_fields {
	enum dart_control_copies copies_are;
	uint32_t count;
	uint32_t left_out;	/* parts of the value that are not fields */
	/*
	 * By offset; fields at the same offset, as in a union, with the largest first.  This struct
	 * owns the names, the BTF the units.
	 */
	struct dart_field fields[BTF_FIELDS_MAX];
};

/*
 * Collects the fields of @type_id, which is in a BTF that the kernel has checked, so that there are
 * no loops.  Leaves out parts that are nested too deeply.  Returns 0, -ENOMEM or -E2BIG; call
 * btf_fields__free() after errors as well.
 */
int btf_fields__collect(struct btf_fields *fields, const struct btf *btf, uint32_t type_id);
void btf_fields__free(struct btf_fields *fields);

#endif /* BTF_FIELDS_H */
