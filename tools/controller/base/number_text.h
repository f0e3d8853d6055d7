/* SPDX-License-Identifier: GPL-2.0-only */
/* Numbers in the spelling of the text formats of metrics. */
#ifndef CONTROLLER_NUMBER_TEXT_H
#define CONTROLLER_NUMBER_TEXT_H

#include <stddef.h>
#include <stdint.h>

#define NUMBER_TEXT_MAX 32 /* bytes, with the NUL */

/*
 * Prints the shortest text, or nearly, that is read back as the same number: "0.25", "1e+300",
 * "NaN", "+Inf", "-Inf".  Independent of the locale.  Returns the length of the text.
 */
size_t number_text__print(double value, char text[static NUMBER_TEXT_MAX]);
/* Prints @value / 10^@digits, with at most @digits digits after the point.  @digits <= 18. */
size_t number_text__print_decimal(int64_t value, unsigned int digits,
				  char text[static NUMBER_TEXT_MAX]);

#endif /* CONTROLLER_NUMBER_TEXT_H */
