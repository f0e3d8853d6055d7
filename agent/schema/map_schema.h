/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The schema of an eBPF map's value, from the BTF that was loaded with it.
 *
 *   integers, enums, bool    a field; an array of them: one field with a count
 *   arrays of char           a text
 *   structs, unions          their members, as "outer.inner"
 *   arrays of those          "outer[0].inner", "outer[1].inner", ...
 *   variables (.data, .bss)  as the members of a struct
 *   a bare integer           the field "value"
 *
 * Pointers, bitfields, floats, functions, and members of a union that overlap
 * an earlier or larger one are left out.  Fields are gauges without a unit
 * unless a btf_decl_tag on the member, the variable, or its typedef or struct
 * says otherwise; the nearest one counts: "dart:counter", "dart:gauge",
 * "dart:histogram", "dart:sequence", "dart:address" (an array of 16 bytes),
 * "dart:unit=U".  "dart:copies=cpu" on the type of the value means that element
 * c of the map belongs to CPU c.
 */
#ifndef MAP_SCHEMA_H
#define MAP_SCHEMA_H

#include <bpf/bpf.h>

#include <libdart/error.h>
#include <libdart/table/schema.h>

struct btf;

/*
 * Without BTF the schema has one integer, or an array of 8-byte or 1-byte integers.  @own: the BTF
 * of a map that dartd created, or NULL: the kernel's, which takes CAP_SYS_ADMIN.
 */
int map_schema__new(const struct bpf_map_info *map, const struct btf *own,
		    struct dart_schema **schema, enum dart_control_copies *copies_are,
		    struct dart_error *error);

#endif /* MAP_SCHEMA_H */
