/* The part of Python's C interface that compiled functions of Numba and Cython call without the interpreter: they take
 * the interpreter's lock only to report errors. Setting an exception prints it and ends the launch. No object can be
 * made: functions that would make or use one end the launch with their name. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "compat/compat.h"

/* An object of which only the count of references may be used: it never becomes 0. */
struct python_object {
	size_t references;
	const void *type;
	const char *name;
};

enum { ENDLESS = 0x3fffffff };

SK_COMPAT SK_WITHIN_CALL struct python_object _Py_NoneStruct = {ENDLESS, NULL, "None"};
SK_COMPAT SK_WITHIN_CALL struct python_object _Py_TrueStruct = {ENDLESS, NULL, "True"};
SK_COMPAT SK_WITHIN_CALL struct python_object _Py_FalseStruct = {ENDLESS, NULL, "False"};

#define EXCEPTION(exception)                                                              \
	static SK_WITHIN_CALL struct python_object object_##exception = {ENDLESS, NULL, #exception};      \
	SK_COMPAT struct python_object *const PyExc_##exception = &object_##exception;
EXCEPTION(ArithmeticError)
EXCEPTION(AssertionError)
EXCEPTION(AttributeError)
EXCEPTION(BufferError)
EXCEPTION(Exception)
EXCEPTION(FloatingPointError)
EXCEPTION(ImportError)
EXCEPTION(IndexError)
EXCEPTION(KeyError)
EXCEPTION(MemoryError)
EXCEPTION(NameError)
EXCEPTION(NotImplementedError)
EXCEPTION(OverflowError)
EXCEPTION(RuntimeError)
EXCEPTION(StopIteration)
EXCEPTION(SystemError)
EXCEPTION(TypeError)
EXCEPTION(UnboundLocalError)
EXCEPTION(ValueError)
EXCEPTION(ZeroDivisionError)

/* ---- the interpreter's lock, counts of references ---- */

SK_COMPAT int PyGILState_Ensure(void) { return 0; }
SK_COMPAT void PyGILState_Release(int state) { (void)state; }
SK_COMPAT void numba_gil_ensure(int *state) { *state = 0; }
SK_COMPAT void numba_gil_release(int *state) { (void)state; }
SK_COMPAT void *PyEval_SaveThread(void) { return NULL; }
SK_COMPAT void PyEval_RestoreThread(void *thread) { (void)thread; }
SK_COMPAT void Py_IncRef(struct python_object *object) { (void)object; }
SK_COMPAT void Py_DecRef(struct python_object *object) { (void)object; }
SK_COMPAT void _Py_Dealloc(struct python_object *object) { (void)object; }

/* ---- errors ---- */

SK_COMPAT struct python_object *PyErr_Occurred(void) { return NULL; }
SK_COMPAT void PyErr_Clear(void) {}

SK_COMPAT void PyErr_SetString(const struct python_object *exception, const char *text)
{
	sk_compat_fail("Python", exception->name, text);
}

/* The format is printed as it is: its directives are not all those of printf. */
SK_COMPAT void *PyErr_Format(const struct python_object *exception, const char *format, ...)
{
	sk_compat_fail("Python", exception->name, format);
}

SK_COMPAT void PyErr_SetNone(const struct python_object *exception)
{
	sk_compat_fail("Python", exception->name, "");
}

SK_COMPAT void PyErr_SetObject(const struct python_object *exception, struct python_object *value)
{
	(void)value;
	sk_compat_fail("Python", exception->name, "");
}

SK_COMPAT void *PyErr_NoMemory(void)
{
	sk_compat_fail("Python", "MemoryError", "");
}

/* ---- memory, types ---- */

SK_COMPAT void *PyMem_Malloc(size_t size) { return malloc(size ? size : 1); }
SK_COMPAT void *PyMem_Realloc(void *memory, size_t size) { return realloc(memory, size ? size : 1); }
SK_COMPAT void PyMem_Free(void *memory) { free(memory); }

SK_COMPAT SK_WITHIN_CALL struct python_object PyCFunction_Type = {ENDLESS, NULL, "builtin_function_or_method"};

/* ---- functions that need the interpreter ---- */

#define NEEDS_INTERPRETER(name)                                                                        \
	SK_COMPAT void *name(void)                                                                     \
	{                                                                                              \
		sk_compat_fail("Python", #name, "needs the interpreter, which a package does not have"); \
	}
NEEDS_INTERPRETER(PyErr_PrintEx)
NEEDS_INTERPRETER(PyErr_WriteUnraisable)
NEEDS_INTERPRETER(PyErr_GivenExceptionMatches)
NEEDS_INTERPRETER(PyErr_ExceptionMatches)
NEEDS_INTERPRETER(PyErr_Fetch)
NEEDS_INTERPRETER(PyErr_Restore)
NEEDS_INTERPRETER(PyErr_GetRaisedException)
NEEDS_INTERPRETER(PyErr_SetRaisedException)
NEEDS_INTERPRETER(PyThreadState_Get)
NEEDS_INTERPRETER(PyThreadState_GetUnchecked)
NEEDS_INTERPRETER(_PyThreadState_UncheckedGet)
NEEDS_INTERPRETER(PyUnicode_FromString)
NEEDS_INTERPRETER(PyUnicode_FromStringAndSize)
NEEDS_INTERPRETER(PyUnicode_FromKindAndData)
NEEDS_INTERPRETER(PyUnicode_FromFormat)
NEEDS_INTERPRETER(PyUnicode_AsUTF8)
NEEDS_INTERPRETER(PyUnicode_InternFromString)
NEEDS_INTERPRETER(PyBytes_FromStringAndSize)
NEEDS_INTERPRETER(PyLong_FromLong)
NEEDS_INTERPRETER(PyLong_FromLongLong)
NEEDS_INTERPRETER(PyLong_FromSsize_t)
NEEDS_INTERPRETER(PyLong_AsLong)
NEEDS_INTERPRETER(PyFloat_FromDouble)
NEEDS_INTERPRETER(PyTuple_Pack)
NEEDS_INTERPRETER(PyTuple_New)
NEEDS_INTERPRETER(PyDict_New)
NEEDS_INTERPRETER(PyObject_Hash)
NEEDS_INTERPRETER(PyObject_GetAttr)
NEEDS_INTERPRETER(PyObject_Call)
NEEDS_INTERPRETER(PyArg_UnpackTuple)
NEEDS_INTERPRETER(PyArg_ParseTuple)
NEEDS_INTERPRETER(PyArg_ParseTupleAndKeywords)
NEEDS_INTERPRETER(Py_BuildValue)
NEEDS_INTERPRETER(PyNumber_Float)
NEEDS_INTERPRETER(PyNumber_Long)
NEEDS_INTERPRETER(PyFloat_AsDouble)
NEEDS_INTERPRETER(PyLong_AsLongLong)
NEEDS_INTERPRETER(PyLong_AsUnsignedLongLong)
NEEDS_INTERPRETER(PyLong_AsVoidPtr)
NEEDS_INTERPRETER(PyLong_FromUnsignedLongLong)
NEEDS_INTERPRETER(PyLong_FromVoidPtr)
NEEDS_INTERPRETER(PyComplex_FromDoubles)
NEEDS_INTERPRETER(PyComplex_RealAsDouble)
NEEDS_INTERPRETER(PyComplex_ImagAsDouble)
NEEDS_INTERPRETER(PyBool_FromLong)
NEEDS_INTERPRETER(PyTuple_GetItem)
NEEDS_INTERPRETER(PyTuple_SetItem)
NEEDS_INTERPRETER(PyTuple_Size)
NEEDS_INTERPRETER(PyObject_GetAttrString)
NEEDS_INTERPRETER(PyObject_SetAttrString)
NEEDS_INTERPRETER(PyObject_IsTrue)
NEEDS_INTERPRETER(PyObject_Type)
NEEDS_INTERPRETER(PyCode_NewEmpty)
NEEDS_INTERPRETER(PyFrame_New)
NEEDS_INTERPRETER(PyTraceBack_Here)
NEEDS_INTERPRETER(PyCallable_Check)
NEEDS_INTERPRETER(PyCapsule_New)
NEEDS_INTERPRETER(PyDict_GetItemString)
NEEDS_INTERPRETER(PyDict_GetItemWithError)
NEEDS_INTERPRETER(PyDict_SetItem)
NEEDS_INTERPRETER(PyDict_SetItemString)
NEEDS_INTERPRETER(PyErr_WarnEx)
NEEDS_INTERPRETER(PyImport_AddModule)
NEEDS_INTERPRETER(PyImport_GetModuleDict)
NEEDS_INTERPRETER(PyInterpreterState_GetID)
NEEDS_INTERPRETER(PyModuleDef_Init)
NEEDS_INTERPRETER(PyModule_GetDict)
NEEDS_INTERPRETER(PyModule_NewObject)
NEEDS_INTERPRETER(PyObject_SetAttr)
NEEDS_INTERPRETER(PyObject_VectorcallDict)
NEEDS_INTERPRETER(PyType_IsSubtype)
NEEDS_INTERPRETER(PyUnicode_DecodeUTF8)
NEEDS_INTERPRETER(PyUnicode_InternInPlace)
NEEDS_INTERPRETER(Py_EnterRecursiveCall)
NEEDS_INTERPRETER(Py_LeaveRecursiveCall)
NEEDS_INTERPRETER(numba_unpickle)
NEEDS_INTERPRETER(numba_do_raise)
NEEDS_INTERPRETER(numba_runtime_build_excinfo_struct)
NEEDS_INTERPRETER(NRT_adapt_ndarray_from_python)
NEEDS_INTERPRETER(NRT_adapt_ndarray_to_python_acqref)
