// SPDX-License-Identifier: LGPL-2.1-or-later
/* Numbers that are given again: see numbers_internal.h. */
#include "numbers_internal.h"

#include <errno.h>
#include <stdlib.h>

int dart_numbers__take(struct dart_numbers *numbers, uint32_t *number)
{
	uint32_t *back;

	if (numbers->back_count) {
		*number = numbers->back[--numbers->back_count];
		return 0;
	}
	/* Now, so that giving back cannot fail. */
	back = reallocarray(numbers->back, (size_t)numbers->next + 1,
			    sizeof(*back));
	if (!back)
		return -ENOMEM;
	numbers->back = back;
	*number = numbers->next++;
	return 0;
}

void dart_numbers__give_back(struct dart_numbers *numbers, uint32_t number)
{
	numbers->back[numbers->back_count++] = number;
}

void dart_numbers__close(struct dart_numbers *numbers)
{
	free(numbers->back);
	*numbers = (struct dart_numbers){};
}
