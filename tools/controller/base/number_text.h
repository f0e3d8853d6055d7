/* SPDX-License-Identifier: GPL-2.0-only */
/* Numbers as the text formats of metrics have them. */
#ifndef CONTROLLER_NUMBER_TEXT_H
#define CONTROLLER_NUMBER_TEXT_H

#include <stddef.h>
#include <stdint.h>

#define NUMBER_TEXT_MAX 32 /* bytes, with the NUL */

/*
 * The shortest text, or nearly, that is read back as the same number: "0.25", "1e+300",
 * "NaN", "+Inf", "-Inf".  Independent of the locale.  Returns its length.
 */
size_t number_text__print(double value, char text[static NUMBER_TEXT_MAX]);
/* @value / 10^@digits, with at most so many digits behind the point: up to 18. */
size_t number_text__print_decimal(int64_t value, unsigned int digits,
				  char text[static NUMBER_TEXT_MAX]);

#endif /* CONTROLLER_NUMBER_TEXT_H */
