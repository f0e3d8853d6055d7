/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of formats: see format.h for a row. */
#ifndef CONTROLLER_PUSH_FORMATS_H
#define CONTROLLER_PUSH_FORMATS_H

#include "format.h"

#define FORMAT(row) extern const struct format format_##row;
#include "formats.def"
#undef FORMAT

/* NULL after the last. */
extern const struct format *const formats[];

/* The first row of the settings' format and version; version 0 is the newest one. */
const struct format *format__of(const struct receiver_settings *settings);
/* NULL without a row of the number. */
const struct format *format__numbered(uint32_t number);

/* Reads the body of an answer, and judges it, as far as the format does: see format.h. */
enum verdict format__judge(const struct format *format, struct answer *answer, bool may_be_older);

#endif /* CONTROLLER_PUSH_FORMATS_H */
