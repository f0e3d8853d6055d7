// SPDX-License-Identifier: GPL-2.0-only
/* The table of formats: see formats.h. */
#include "formats.h"

const struct format *const formats[] = {
#define FORMAT(row) &format_##row,
#include "formats.def"
#undef FORMAT
	NULL,
};

const struct format *format__of(const struct receiver_settings *settings)
{
	const struct format *const *format;

	for (format = formats; *format; format++) {
		if (!strcmp((*format)->name, settings->format) &&
		    (!settings->version || (*format)->version == settings->version))
			return *format;
	}
	return NULL;
}

const struct format *format__numbered(uint32_t number)
{
	const struct format *const *format;

	for (format = formats; *format; format++) {
		if ((*format)->number == number)
			break;
	}
	return *format;
}

enum verdict format__judge(const struct format *format, struct answer *answer, bool may_be_older)
{
	if (format->read_answer && answer->is_one)
		format->read_answer(answer);
	return format->judge ? format->judge(answer, may_be_older) : answer__judge(answer);
}
