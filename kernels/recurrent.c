/* recurrent.c: RNN, GRU and LSTM, all steps of sequences, one sequence after the other. `gates` is the input's part of
 * each gate, [sequence, step, direction, gate, element]; the recurrence is transposed, so that the state adds its rows;
 * the first half of the biases is the input's, and the second one the recurrence's. Gates are in ONNX's order.
 *
 * variants: OP=RNN,GRU,LSTM TYPE=f32 ISA=base,v3
 * variants: OP=RNN,GRU,LSTM TYPE=f64,halves
 */
#include "kernels/family.h"
#include "kernels/math.h"

typedef STORED(TYPE) element;
typedef COMPUTED(TYPE) number;

#define GATES_RNN  1
#define GATES_GRU  3
#define GATES_LSTM 4
#define GATES	   JOIN(GATES_, OP)

enum { FUNCTIONS = GATES == 1 ? 1 : GATES - 1 }; /* of a direction */

/* Data shared by all steps of one direction. */
struct cell {
	int64_t h;
	const element *recurrence, *bias, *peepholes;
	const int64_t *functions;
	const float *alphas, *betas;
	number clip;
	int64_t option;
	number *state, *memory, *sums, *more; /* [h], [h], [GATES * h], [h] */
};

/* The numbers of functions are those of graph/operators/recurrent.c. */
static inline number function(int64_t which, number x, number alpha, number beta)
{
	number line;

	switch (which) {
	case 0:
		return MATH(sigmoid)(x);
	case 1:
		return MATH(tanh)(x);
	case 2:
		return x < 0 ? 0 : x;
	case 3:
		return alpha * x + beta;
	case 4:
		return x < 0 ? alpha * x : x;
	case 5:
		return x > alpha ? x : 0;
	case 6:
		return alpha * MATH(tanh)(beta * x);
	case 7:
		line = alpha * x + beta;
		line = line > 1 ? 1 : line;
		return line < 0 ? 0 : line;
	case 8:
		return x < 0 ? alpha * MATH(expm1)(x) : x;
	case 9:
		return x / (1 + (x < 0 ? -x : x));
	default:
		return MATH(softplus)(x);
	}
}

static inline void apply(const struct cell *cell, int number_of_function, const number *from, number *to, int64_t count)
{
	int64_t which = cell->functions[number_of_function];
	number alpha = cell->alphas[number_of_function], beta = cell->betas[number_of_function], clip = cell->clip;

	for (int64_t i = 0; i < count && clip > 0; i++)
		to[i] = from[i] > clip ? clip : from[i] < -clip ? -clip : from[i];
	from = clip > 0 ? to : from;
	if (which == 0)
		INDEPENDENT
	for (int64_t i = 0; i < count; i++)
		to[i] = MATH(sigmoid)(from[i]);
	else if (which == 1) INDEPENDENT for (int64_t i = 0; i < count; i++) to[i] = MATH(tanh)(from[i]);
	else for (int64_t i = 0; i < count; i++) to[i] = function(which, from[i], alpha, beta);
}

/* Elements [first, first + count) of all gates: the input's part and its bias. */
static inline void begin_sums(const struct cell *cell, const element *gates, int64_t first, int64_t count)
{
	for (int64_t i = first; i < first + count; i++)
		cell->sums[i] = LOAD(TYPE, gates[i]) + (cell->bias ? LOAD(TYPE, cell->bias[i]) : 0);
}

static inline void add_bias(const struct cell *cell, int64_t first, int64_t count, number *sums)
{
	const element *bias = cell->bias + GATES * cell->h;

	for (int64_t i = 0; i < count && cell->bias; i++)
		sums[i] += LOAD(TYPE, bias[first + i]);
}

static inline void add_recurrence(const struct cell *cell, const number *state, int64_t first, int64_t count,
				  number *sums)
{
	for (int64_t k = 0; k < cell->h; k++) {
		const element *row = cell->recurrence + k * GATES * cell->h + first;
		number factor = state[k];

		INDEPENDENT
		for (int64_t i = 0; i < count; i++)
			sums[i] += factor * LOAD(TYPE, row[i]);
	}
}

#if GATES == 1
static inline void step(const struct cell *cell, const element *gates)
{
	int64_t h = cell->h;

	begin_sums(cell, gates, 0, h);
	add_bias(cell, 0, h, cell->sums);
	add_recurrence(cell, cell->state, 0, h, cell->sums);
	apply(cell, 0, cell->sums, cell->state, h);
}
#elif GATES == 3
/* Gates are update, reset, hidden; option is linear_before_reset. */
static inline void step(const struct cell *cell, const element *gates)
{
	int64_t h = cell->h;
	number *update = cell->sums, *reset = update + h, *hidden = reset + h, *more = cell->more;

	begin_sums(cell, gates, 0, 3 * h);
	add_bias(cell, 0, 2 * h, update);
	add_recurrence(cell, cell->state, 0, 2 * h, update);
	apply(cell, 0, update, update, 2 * h);
	for (int64_t i = 0; i < h; i++)
		more[i] = cell->option ? 0 : reset[i] * cell->state[i];
	if (cell->option) {
		add_bias(cell, 2 * h, h, more);
		add_recurrence(cell, cell->state, 2 * h, h, more);
		for (int64_t i = 0; i < h; i++)
			hidden[i] += reset[i] * more[i];
	} else {
		add_bias(cell, 2 * h, h, hidden);
		add_recurrence(cell, more, 2 * h, h, hidden);
	}
	apply(cell, 1, hidden, hidden, h);
	for (int64_t i = 0; i < h; i++)
		cell->state[i] = (1 - update[i]) * hidden[i] + update[i] * cell->state[i];
}
#else
static inline void add_peephole(const struct cell *cell, int64_t which, number *sums)
{
	const element *peephole = cell->peepholes + which * cell->h;

	for (int64_t i = 0; i < cell->h && cell->peepholes; i++)
		sums[i] += LOAD(TYPE, peephole[i]) * cell->memory[i];
}

/* Gates are input, output, forget, cell; option is input_forget. */
static inline void step(const struct cell *cell, const element *gates)
{
	int64_t h = cell->h;
	number *input = cell->sums, *output = input + h, *forget = output + h, *hidden = forget + h;

	begin_sums(cell, gates, 0, 4 * h);
	add_bias(cell, 0, 4 * h, input);
	add_recurrence(cell, cell->state, 0, 4 * h, input);
	add_peephole(cell, 0, input);
	apply(cell, 0, input, input, h);
	add_peephole(cell, 2, forget);
	apply(cell, 0, forget, forget, h);
	apply(cell, 1, hidden, hidden, h);
	for (int64_t i = 0; i < h; i++) {
		number kept = cell->option ? 1 - input[i] : forget[i];
		cell->memory[i] = kept * cell->memory[i] + input[i] * hidden[i];
	}
	add_peephole(cell, 1, output);
	apply(cell, 0, output, output, h);
	apply(cell, 2, cell->memory, cell->more, h);
	for (int64_t i = 0; i < h; i++)
		cell->state[i] = output[i] * cell->more[i];
}
#endif

static inline void load_state(const element *from, int64_t h, number *state)
{
	for (int64_t i = 0; i < h; i++)
		state[i] = from ? LOAD(TYPE, from[i]) : 0;
}

static inline void store_state(const number *state, int64_t h, element *to)
{
	for (int64_t i = 0; i < h && to; i++)
		to[i] = STORE(TYPE, state ? state[i] : 0);
}

/* Compute the steps of one sequence in one direction; gates and y are those of its first step. After its end y is 0. */
static inline void run(const struct cell *cell, const element *gates, element *y, int64_t steps, int64_t length,
		       int64_t directions, int backwards)
{
	int64_t h = cell->h;

	for (int64_t i = 0; i < length; i++) {
		int64_t at = (backwards ? length - 1 - i : i) * directions;
		step(cell, gates + at * GATES * h);
		store_state(cell->state, h, y ? y + at * h : 0);
	}
	for (int64_t i = length; i < steps; i++)
		store_state(0, h, y ? y + i * directions * h : 0);
}

#if GATES == 4
#define MEMORY_IN  const element *initial_c, const element *peepholes,
#define MEMORY_OUT element *y_c,
#else
#define MEMORY_IN
#define MEMORY_OUT
#endif

void KERNEL(const element *gates, const element *recurrence, const element *bias, const int32_t *lengths,
	    const element *initial_h, MEMORY_IN element *y, element *y_h, MEMORY_OUT int64_t batches, int64_t steps,
	    int64_t directions, int64_t h, const int64_t *functions, const float *alphas, const float *betas,
	    float clip, int64_t reverse, int64_t option, number *room)
{
	for (int64_t batch = 0; batch < batches; batch++)
		for (int64_t direction = 0; direction < directions; direction++) {
			int64_t length = lengths ? lengths[batch] : steps,
				first = batch * steps * directions + direction;
			int64_t last = (batch * directions + direction) * h;
			struct cell cell = {.h = h,
					    .recurrence = recurrence + direction * h * GATES * h,
					    .bias = bias ? bias + direction * 2 * GATES * h : 0,
					    .functions = functions + direction * FUNCTIONS,
					    .alphas = alphas + direction * FUNCTIONS,
					    .betas = betas + direction * FUNCTIONS,
					    .clip = clip,
					    .option = option,
					    .state = room,
					    .memory = room + h,
					    .sums = room + 2 * h,
					    .more = room + 6 * h};

			length = length < 0 ? 0 : length > steps ? steps : length;
			load_state(initial_h ? initial_h + last : 0, h, cell.state);
#if GATES == 4
			cell.peepholes = peepholes ? peepholes + direction * 3 * h : 0;
			load_state(initial_c ? initial_c + last : 0, h, cell.memory);
#endif
			run(&cell, gates + first * GATES * h, y ? y + first * h : 0, steps, length, directions,
			    direction || reverse);
			store_state(cell.state, h, y_h ? y_h + last : 0);
#if GATES == 4
			store_state(cell.memory, h, y_c ? y_c + last : 0);
#endif
		}
}

#define T	    TEXT(TYPE)
#define NUMBER_f32  "f32"
#define NUMBER_f64  "f64"
#define NUMBER_f16  "f32"
#define NUMBER_bf16 "f32"
#if GATES == 1
#define GATE_COUNT  "1"
#define OPTION_TEXT "0"
#elif GATES == 3
#define GATE_COUNT  "3"
#define OPTION_TEXT "attr(linear_before_reset, 0)"
#else
#define GATE_COUNT  "4"
#define OPTION_TEXT "attr(input_forget, 0)"
#endif
#if GATES == 4
#define MEMORY_IN_TEXT	", in? initial_c " T "[b,d,h], in? peepholes " T "[d,3,h]"
#define MEMORY_OUT_TEXT ", out? y_c " T "[b,d,h]"
#else
#define MEMORY_IN_TEXT
#define MEMORY_OUT_TEXT
#endif
SIGNATURE("split=b operations=2*b*s*d*h*" GATE_COUNT "*h op=" TEXT(OP),
	  "in gates " T "[b,s,d," GATE_COUNT ",h], in recurrence " T "[d,h," GATE_COUNT ",h], in? bias " T
	  "[d,2," GATE_COUNT ",h], in? lengths i32[b], in? initial_h " T "[b,d,h]" MEMORY_IN_TEXT ", out? y " T
	  "[b,s,d,h], out? y_h " T "[b,d,h]" MEMORY_OUT_TEXT
	  ", b i64, s i64, d i64, h i64, functions ptr = attr(activations), alphas ptr = attr(activation_alpha), betas "
	  "ptr = attr(activation_beta), clip f32 = attr(clip, 0), reverse i64 = attr(reverse, 0), option i64 "
	  "= " OPTION_TEXT ", scratch room " JOIN(NUMBER_, TYPE) "[7*h]");
