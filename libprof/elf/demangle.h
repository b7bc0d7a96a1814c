/* SPDX-License-Identifier: ISC */
/*
 * Names for people out of names for linkers.
 */
#ifndef PROF_DEMANGLE_H
#define PROF_DEMANGLE_H

/*
 * C++, Rust (legacy and v0) and D.  Owned by caller; NULL: the name is not
 * mangled, or so long that it is better left alone, or there is no memory.
 */
char	*prof_demangle(const char *raw);
/*
 * Shorter, for reading: what stands between <> and between () becomes "<..>"
 * and "()", "[clone .cold]" and other remarks go.  Two functions may become
 * one name; they are told apart elsewhere.  Names that are not C++'s stay as
 * they are.  Owned by caller; NULL: no memory.
 */
char	*prof_name_fold(const char *name);
/*
 * Cut the parameters of a demangled name and all that follows them, in place:
 * "ns::f(int) const" becomes "ns::f".  *bare points behind a return type:
 * "int ns::f<int>(int)" becomes "int ns::f<int>", and *bare is "ns::f<int>".
 */
void	prof_name_strip(char *name, const char **bare);

#endif /* PROF_DEMANGLE_H */
