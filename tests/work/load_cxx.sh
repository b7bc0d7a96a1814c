#!/bin/sh
# Prints a C++ program of so many functions that a compiler is long busy with,
# on deep stacks.
echo '#include <algorithm>'
echo '#include <map>'
echo '#include <regex>'
echo '#include <string>'
n=0
while [ $n -lt "$1" ]; do
	echo "int f$n(std::map<std::string, std::vector<int>> &m) {
	std::regex r(\"a+(b|c)*$n\"); std::smatch w;
	std::string s = \"$n\"; std::regex_search(s, w, r);
	std::sort(m[s].begin(), m[s].end(), [](int a, int b) {
	return a * $n % 7 < b * $n % 11; }); return m.size(); }"
	n=$((n + 1))
done
