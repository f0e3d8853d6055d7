/* SPDX-License-Identifier: GPL-2.0-only */
/* The "dart:" declaration tags of a BTF: facts that types cannot express. */
#ifndef BTF_TAGS_H
#define BTF_TAGS_H

#include <bpf/btf.h>
#include <stdint.h>

#include <dart/control.h>

struct btf_meaning {
	enum dart_control_field_kind kind;
	const char *unit;
	enum dart_control_copies copies_are;
};

/*
 * Overrides @meaning with the tags of @type_id (if @member is -1) or of one of its members.  The
 * BTF owns the strings.
 */
void btf_tags__apply(const struct btf *btf, uint32_t type_id, int member,
		     struct btf_meaning *meaning);

#endif /* BTF_TAGS_H */
