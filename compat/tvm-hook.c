/* One of the variables by which TVM's modules reach their runtime; TVM_HOOK is the function's name. Modules define it
 * as a weak null pointer that the runtime fills in when it loads them. The linker takes this definition instead. */
#define JOIN(a, b) a##b
#define VARIABLE(name) JOIN(__, name)

void TVM_HOOK(void);

void (*const VARIABLE(TVM_HOOK))(void) = TVM_HOOK;
