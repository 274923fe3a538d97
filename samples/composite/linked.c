/* A program that contains the package, an object of sklink -r: linked. It needs neither libskrt nor a file. */
#include <stdalign.h>
#include <stdio.h>

#include "composite.h" /* sklink --header */

static alignas(64) float x[SK_composite_BYTES_x / sizeof(float)], y[SK_composite_BYTES_y / sizeof(float)];
static alignas(64) unsigned char workspace[SK_composite_WORKSPACE_sk_composite];

int main(void)
{
	for (int i = 0; i < 16; i++)
		x[i] = (float)i;
	if (sk_composite_serial((void *const[]){x, y}, workspace)) /* on this thread */
		return 1;
	for (int i = 0; i < 16; i++)
		printf("%g%c", y[i], i == 15 ? '\n' : ' ');
	return 0;
}
