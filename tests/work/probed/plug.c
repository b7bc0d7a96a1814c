/* SPDX-License-Identifier: ISC */
/* A library that probed.cc loads and unloads. */

int	plug(int n);

int
plug(int n)
{
	return (n + 1);
}
