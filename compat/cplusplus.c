/* What compiled C++ asks of libstdc++ and of the unwinder, for kernels that allocate memory and that throw after errors
 * only. An exception ends the launch, also one that the kernel would catch: its type or text is printed. Strings and
 * streams, of which such code makes texts for its exceptions, end the launch as well. Names are those of the Itanium
 * C++ ABI, with the strings of GCC 5 and later. */
#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compat/compat.h"

#define NAMED(name) __asm__(name)
#define NAME_STRING "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"

/* ---- memory: operator new, operator delete ---- */

static void *allocated(void *memory)
{
	if (!memory)
		sk_compat_fail("C++", "operator new", "no memory is left");
	return memory;
}

#define NEW(name, symbol)                                                                       \
	SK_COMPAT void *name(size_t size) NAMED(symbol);                                        \
	SK_COMPAT void *name(size_t size) { return allocated(malloc(size ? size : 1)); }
#define NEW_ALIGNED(name, symbol)                                                               \
	SK_COMPAT void *name(size_t size, size_t alignment) NAMED(symbol);                      \
	SK_COMPAT void *name(size_t size, size_t alignment)                                     \
	{                                                                                       \
		void *memory = NULL;                                                            \
		return allocated(posix_memalign(&memory, alignment, size) ? NULL : memory);     \
	}
#define DELETE(name, symbol)                                                                    \
	SK_COMPAT void name(void *memory) NAMED(symbol);                                        \
	SK_COMPAT void name(void *memory) { free(memory); }
NEW(new_one, "_Znwm")
NEW(new_array, "_Znam")
NEW_ALIGNED(new_aligned, "_ZnwmSt11align_val_t")
NEW_ALIGNED(new_aligned_array, "_ZnamSt11align_val_t")
DELETE(delete_one, "_ZdlPv")
DELETE(delete_array, "_ZdaPv")
DELETE(delete_sized, "_ZdlPvm")
DELETE(delete_sized_array, "_ZdaPvm")
DELETE(delete_aligned, "_ZdlPvSt11align_val_t")
DELETE(delete_aligned_array, "_ZdaPvSt11align_val_t")
DELETE(delete_sized_aligned, "_ZdlPvmSt11align_val_t")
DELETE(delete_sized_aligned_array, "_ZdaPvmSt11align_val_t")

/* ---- exceptions ---- */

struct type_info {
	const void *table;
	const char *name;
};

/* GCC's header of an exception is before the object, and nobody reads it. */
SK_COMPAT void *__cxa_allocate_exception(size_t size) { return allocated(malloc(size ? size : 1)); }
SK_COMPAT void __cxa_free_exception(void *exception) { free(exception); }

/* The name of a type has its length in front; names of std begin with St. */
SK_COMPAT _Noreturn void __cxa_throw(void *exception, const struct type_info *type, void (*destroy)(void *))
{
	const char *name = type->name;
	char text[128];

	(void)exception;
	(void)destroy;
	name += *name == '*'; /* of a type that other objects cannot name */
	if (!strncmp(name, "St", 2) && isdigit((unsigned char)name[2]))
		snprintf(text, sizeof(text), "std::%s", name + 2 + strspn(name + 2, "0123456789"));
	else
		snprintf(text, sizeof(text), "%s", name + strspn(name, "0123456789"));
	sk_compat_fail("C++", text, "an exception has been thrown");
}

#define ENDS(name, symbol, what, text)                                                          \
	SK_COMPAT _Noreturn void name(void) NAMED(symbol);                                      \
	SK_COMPAT _Noreturn void name(void) { sk_compat_fail("C++", what, text); }
#define ENDS_WITH_TEXT(name, symbol, what)                                                      \
	SK_COMPAT _Noreturn void name(const char *text) NAMED(symbol);                          \
	SK_COMPAT _Noreturn void name(const char *text) { sk_compat_fail("C++", what, text); }
ENDS_WITH_TEXT(throw_length, "_ZSt20__throw_length_errorPKc", "std::length_error")
ENDS_WITH_TEXT(throw_range, "_ZSt20__throw_out_of_rangePKc", "std::out_of_range")
ENDS_WITH_TEXT(throw_range_format, "_ZSt24__throw_out_of_range_fmtPKcz", "std::out_of_range")
ENDS_WITH_TEXT(throw_logic, "_ZSt19__throw_logic_errorPKc", "std::logic_error")
ENDS_WITH_TEXT(throw_runtime, "_ZSt21__throw_runtime_errorPKc", "std::runtime_error")
ENDS_WITH_TEXT(throw_argument, "_ZSt24__throw_invalid_argumentPKc", "std::invalid_argument")
ENDS(throw_allocation, "_ZSt17__throw_bad_allocv", "std::bad_alloc", "no memory is left")
ENDS(throw_length_of_new, "_ZSt28__throw_bad_array_new_lengthv", "std::bad_array_new_length", "new[] of a wrong length")
ENDS(throw_new_length, "__cxa_throw_bad_array_new_length", "std::bad_array_new_length", "new[] of a wrong length")
ENDS(throw_function, "_ZSt25__throw_bad_function_callv", "std::bad_function_call", "a call of an empty std::function")
ENDS(throw_cast, "_ZSt16__throw_bad_castv", "std::bad_cast", "a cast to another type")
ENDS(bad_cast, "__cxa_bad_cast", "std::bad_cast", "a cast to another type")
ENDS(pure_virtual, "__cxa_pure_virtual", "virtual function", "a call of a function that a class does not define")
ENDS(terminate, "_ZSt9terminatev", "std::terminate", "an exception where none may be thrown")
ENDS(personality, "__gxx_personality_v0", "exception", "unwinding, which a package does not have")
ENDS(resume, "_Unwind_Resume", "exception", "unwinding, which a package does not have")
ENDS(begin_catch, "__cxa_begin_catch", "exception", "unwinding, which a package does not have")
ENDS(end_catch, "__cxa_end_catch", "exception", "unwinding, which a package does not have")
ENDS(rethrow, "__cxa_rethrow", "exception", "unwinding, which a package does not have")

/* ---- classes: exceptions of the standard library, and the bases of the kernel's own classes ---- */

#define TABLE_OF_TYPES(name, symbol)                                                            \
	SK_COMPAT extern const void *const name[11] NAMED(symbol);                              \
	SK_COMPAT const void *const name[11] = {NULL};
TABLE_OF_TYPES(plain_type, "_ZTVN10__cxxabiv117__class_type_infoE")
TABLE_OF_TYPES(derived_type, "_ZTVN10__cxxabiv120__si_class_type_infoE")
TABLE_OF_TYPES(much_derived_type, "_ZTVN10__cxxabiv121__vmi_class_type_infoE")

static void nothing_to_destroy(void *object) { (void)object; }
static const char *what_is_thrown(const void *object)
{
	(void)object;
	return "an exception";
}

/* A virtual table, the address of which is that of its third entry. */
#define CLASS(name, mangled)                                                                    \
	SK_COMPAT extern const struct type_info type_##name NAMED("_ZTISt" mangled);            \
	SK_COMPAT const struct type_info type_##name = {&plain_type[2], "St" mangled};          \
	SK_COMPAT extern const void *const table_##name[5] NAMED("_ZTVSt" mangled);             \
	SK_COMPAT const void *const table_##name[5] = {NULL, &type_##name, nothing_to_destroy,  \
						       nothing_to_destroy, what_is_thrown};     \
	SK_COMPAT const char *what_##name(const void *object) NAMED("_ZNKSt" mangled "4whatEv"); \
	SK_COMPAT const char *what_##name(const void *object) { return what_is_thrown(object); } \
	SK_COMPAT void destroy_##name(void *object) NAMED("_ZNSt" mangled "D1Ev");              \
	SK_COMPAT void destroy_##name(void *object) { nothing_to_destroy(object); }             \
	SK_COMPAT void end_##name(void *object) NAMED("_ZNSt" mangled "D2Ev");                  \
	SK_COMPAT void end_##name(void *object) { nothing_to_destroy(object); }                 \
	SK_COMPAT void delete_##name(void *object) NAMED("_ZNSt" mangled "D0Ev");               \
	SK_COMPAT void delete_##name(void *object) { free(object); }
CLASS(exception, "9exception")
CLASS(bad_alloc, "9bad_alloc")

/* Types of the language that are thrown. */
#define TYPE(name, symbol, text)                                                                \
	SK_COMPAT extern const struct type_info name NAMED("_ZTI" symbol);                      \
	SK_COMPAT const struct type_info name = {&plain_type[2], text};
TYPE(type_bool, "b", "bool")
TYPE(type_char, "c", "char")
TYPE(type_int, "i", "int")
TYPE(type_unsigned, "j", "unsigned int")
TYPE(type_long, "l", "long")
TYPE(type_unsigned_long, "m", "unsigned long")
TYPE(type_float, "f", "float")
TYPE(type_double, "d", "double")
TYPE(type_text, "PKc", "const char *")

/* Constructors with a text: a pointer, or a std::string, of which the first member is a pointer to it. */
#define ERROR(name, mangled)                                                                    \
	CLASS(name, mangled)                                                                    \
	SK_COMPAT _Noreturn void text_##name(void *object, const char *text) NAMED("_ZNSt" mangled "C1EPKc"); \
	SK_COMPAT _Noreturn void text_##name(void *object, const char *text)                    \
	{                                                                                       \
		(void)object;                                                                   \
		sk_compat_fail("C++", "std::" #name, text);                                     \
	}                                                                                       \
	SK_COMPAT _Noreturn void base_text_##name(void *object, const char *text) NAMED("_ZNSt" mangled "C2EPKc"); \
	SK_COMPAT _Noreturn void base_text_##name(void *object, const char *text) { text_##name(object, text); } \
	SK_COMPAT _Noreturn void string_##name(void *object, const char **text)                 \
		NAMED("_ZNSt" mangled "C1ERK" NAME_STRING);                                     \
	SK_COMPAT _Noreturn void string_##name(void *object, const char **text) { text_##name(object, *text); } \
	SK_COMPAT _Noreturn void base_string_##name(void *object, const char **text)            \
		NAMED("_ZNSt" mangled "C2ERK" NAME_STRING);                                     \
	SK_COMPAT _Noreturn void base_string_##name(void *object, const char **text) { text_##name(object, *text); }
ERROR(runtime_error, "13runtime_error")
ERROR(range_error, "11range_error")
ERROR(overflow_error, "14overflow_error")
ERROR(underflow_error, "15underflow_error")
ERROR(logic_error, "11logic_error")
ERROR(domain_error, "12domain_error")
ERROR(invalid_argument, "16invalid_argument")
ERROR(length_error, "12length_error")
ERROR(out_of_range, "12out_of_range")

/* ---- strings and streams ---- */

#define NEEDS_LIBRARY(name, symbol)                                                             \
	ENDS(name, symbol, "std::string or stream", "an error, of which the text needs libstdc++.a")
#define STRING "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE"
#define STREAM "NSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEEE"
#define BUFFER "NSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEEE"
NEEDS_LIBRARY(string_create, STRING "9_M_createERmm")
NEEDS_LIBRARY(string_append, STRING "9_M_appendEPKcm")
NEEDS_LIBRARY(string_assign, STRING "9_M_assignERKS4_")
NEEDS_LIBRARY(string_replace, STRING "10_M_replaceEmmPKcm")
NEEDS_LIBRARY(string_fill, STRING "14_M_replace_auxEmmmc")
NEEDS_LIBRARY(string_mutate, STRING "9_M_mutateEmmPKcm")
NEEDS_LIBRARY(locale_begin, "_ZNSt6localeC1Ev")
NEEDS_LIBRARY(locale_end, "_ZNSt6localeD1Ev")
NEEDS_LIBRARY(stream_base_begin, "_ZNSt8ios_baseC2Ev")
NEEDS_LIBRARY(stream_base_end, "_ZNSt8ios_baseD2Ev")
NEEDS_LIBRARY(stream_start, "_ZNSt9basic_iosIcSt11char_traitsIcEE4initEPSt15basic_streambufIcS1_E")
NEEDS_LIBRARY(stream_clear, "_ZNSt9basic_iosIcSt11char_traitsIcEE5clearESt12_Ios_Iostate")
NEEDS_LIBRARY(stream_insert, "_ZSt16__ostream_insertIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_PKS3_l")
NEEDS_LIBRARY(stream_put_int, "_ZNSolsEi")
NEEDS_LIBRARY(stream_put_long, "_ZNSo9_M_insertIlEERSoT_")
NEEDS_LIBRARY(stream_put_unsigned, "_ZNSo9_M_insertImEERSoT_")
NEEDS_LIBRARY(stream_put_double, "_ZNSo9_M_insertIdEERSoT_")
NEEDS_LIBRARY(stream_put_bool, "_ZNSo9_M_insertIbEERSoT_")
NEEDS_LIBRARY(stream_begin, "_ZNSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEEC1Ev")
NEEDS_LIBRARY(stream_end, "_ZNSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEED1Ev")
NEEDS_LIBRARY(buffer_synchronise, "_ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEE7_M_syncEPcmm")
NEEDS_LIBRARY(buffer_text, "_ZNKSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEE3strEv")

/* What <iostream> begins and ends in each object. The streams themselves, such as std::cout, are not here. */
SK_COMPAT void init_begin(void *init) NAMED("_ZNSt8ios_base4InitC1Ev");
SK_COMPAT void init_begin(void *init) { (void)init; }
SK_COMPAT void init_end(void *init) NAMED("_ZNSt8ios_base4InitD1Ev");
SK_COMPAT void init_end(void *init) { (void)init; }

/* Their tables: only addresses in them are taken before one of the functions above ends the launch. */
#define TABLE_OF_STREAM(name, symbol)                                                           \
	SK_COMPAT extern const void *const name[16] NAMED(symbol);                              \
	SK_COMPAT const void *const name[16] = {NULL};
TABLE_OF_STREAM(table_stream, "_ZTV" STREAM)
TABLE_OF_STREAM(tables_of_stream, "_ZTT" STREAM)
TABLE_OF_STREAM(table_string_buffer, "_ZTV" BUFFER)
TABLE_OF_STREAM(table_buffer, "_ZTVSt15basic_streambufIcSt11char_traitsIcEE")
TABLE_OF_STREAM(table_basic_stream, "_ZTVSt9basic_iosIcSt11char_traitsIcEE")
