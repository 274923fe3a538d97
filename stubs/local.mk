# Dispatcher synthesis.
noinst_LIBRARIES += stubs/libstubs.a
stubs_libstubs_a_SOURCES = \
	stubs/dispatcher/debug-line.c stubs/dispatcher/dispatcher.h \
	stubs/dispatcher/dispatcher.c stubs/dispatcher/emitters.c \
	stubs/dispatcher/lower-call.c stubs/dispatcher/dispatcher-parts.h stubs/dispatcher/ops.h \
	stubs/dispatcher/limits.c stubs/dispatcher/slots.c \
	stubs/dispatcher/eh_frame.c \
	stubs/x86_64/emit.c stubs/x86_64/emitter.h \
	stubs/x86_64/waits.c stubs/x86_64/loops.c stubs/x86_64/call.c stubs/x86_64/values.c stubs/x86_64/assemble.c \
	stubs/x86_64/encode.c \
	stubs/dispatcher/thunk.c
