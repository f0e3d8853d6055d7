/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libdartzero for C++11: objects end with their scope.  Types and variables are described by the
 * macros of zero.h.
 *
 *	int main()
 *	{
 *		dart_zero::session session("shop", 1 << 16);
 *		dart_zero::object<web> peer(dart_zero_web, "peer-1");
 *
 *		peer->requests++;
 */
#ifndef DART_ZERO_LIBRARY_HPP
#define DART_ZERO_LIBRARY_HPP

#include <new>
#include <type_traits>

#include <libdartzero/zero.h>

namespace dart_zero
{

/* Shows the variables of the program, and objects, while it exists: one at a time. */
class session
{
public:
	explicit session(const char *name, size_t room = 0)
		: error_(dart_zero_start(name, room))
	{
	}
	~session()
	{
		if (!error_)
			dart_zero_stop();
	}
	session(const session &) = delete;
	session &operator=(const session &) = delete;

	/* 0, or -errno as dart_zero_start(): the program works all the same. */
	int error() const
	{
		return error_;
	}

private:
	int error_;
};

/* An object of dart_zero_malloc(), whose members begin at 0. */
template <typename type> class object
{
	static_assert(std::is_trivially_destructible<type>::value &&
			      std::is_standard_layout<type>::value,
		      "controllers read plain integers");

public:
	/* Throws std::bad_alloc if the program is out of memory. */
	object(const dart_zero_type &description, const char *name)
		: memory_(static_cast<type *>(dart_zero_malloc(&description, name)))
	{
		if (!memory_)
			throw std::bad_alloc();
	}
	~object()
	{
		dart_zero_free(memory_);
	}
	object(object &&other) noexcept : memory_(other.memory_)
	{
		other.memory_ = nullptr;
	}
	object &operator=(object &&other) noexcept
	{
		type *const memory = memory_;

		memory_ = other.memory_;
		other.memory_ = memory;
		return *this;
	}
	object(const object &) = delete;
	object &operator=(const object &) = delete;

	type *operator->() const
	{
		return memory_;
	}
	type &operator*() const
	{
		return *memory_;
	}

private:
	type *memory_;
};

} /* namespace dart_zero */

#endif /* DART_ZERO_LIBRARY_HPP */
