/* SPDX-License-Identifier: GPL-2.0-only */
/* Why something cannot be done, in a sentence, for whoever asked for it. */
#ifndef WHY_H
#define WHY_H

struct why {
	char text[512];
};

/*
 * Writes the sentence, bytes other than printable ASCII as '?' (it may quote a
 * hostile peer), and returns -@error.
 */
__attribute__((format(printf, 3, 4)))
int why__say(struct why *why, int error, const char *format, ...);

#endif /* WHY_H */
