// SPDX-License-Identifier: GPL-2.0-only
/* Checks shared by the handlers of requests. */
#include <errno.h>
#include <stdarg.h>

#include "request.h"

int request__unpack(struct request *request, const char *format, ...)
{
	json_error_t json_error;
	va_list arguments;
	int ret;

	va_start(arguments, format);
	ret = json_vunpack_ex(request->members, &json_error, 0, format,
			      arguments);
	va_end(arguments);
	if (ret)
		return dart_error__set(&request->error, EINVAL,
				       "invalid request: %s", json_error.text);
	return 0;
}

int request__check_owner(struct request *request, uid_t owner, const char *name)
{
	if (request->uid && request->uid != owner)
		return dart_error__set(
			&request->error, EPERM,
			"'%s' is another user's (only its owner and root may change it)",
			name);
	return 0;
}
