/* One of the variables by which Halide's runtime (v10 to v21) finds the functions that programs may replace:
 * HALIDE_HOOK is its name, HALIDE_FUNCTION the function. Objects with the runtime define it weakly, with a function of
 * their own, which starts threads or ends the process. The linker takes this definition instead. */
void HALIDE_FUNCTION(void);

void (*const HALIDE_HOOK)(void) = HALIDE_FUNCTION;
