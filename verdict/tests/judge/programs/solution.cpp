#include <algorithm>
#include <any>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>
using namespace std;

#define int int

bool negate_it(bool b) { return !b; }
unsigned char next_byte(unsigned char c) { return c + 1; }
long long twice(long long x) { return x * 2; }
unsigned long long biggest() { return ~0ull; }
float half(float x) { return x / 2; }
double third(double x) { return x / 3; }
long double same_long(long double x) { return x; }
string reversed(string s) { return string(s.rbegin(), s.rend()); }
const char* greeting() { return "hello \"you\"\n\x01"; }
vector<int> sorted(vector<int> a) { sort(a.begin(), a.end()); return a; }
vector<vector<string>> nested(const vector<vector<string>>& a) { return a; }
vector<bool> flags(vector<bool> a) { a.flip(); return a; }
map<char, int> count_chars(string s) { map<char, int> m; for (char c : s) m[c]++; return m; }
unordered_map<string, vector<int>> by_name(unordered_map<string, vector<int>> m) { m["more"] = {7}; return m; }
set<int> unique_of(vector<int> a) { return set<int>(a.begin(), a.end()); }
unordered_set<string> words(list<string> a) { return unordered_set<string>(a.begin(), a.end()); }
pair<int, string> both(int a, string b) { return {a, b}; }
tuple<int, double, string> three(tuple<int, double, string> t) { get<0>(t)++; return t; }
optional<int> first_of(const vector<int>& a) { if (a.empty()) return nullopt; return a[0]; }
variant<int, string> either(bool b) { if (b) return 1; return string("text"); }
any anything(any a) { if (a.type() == typeid(int)) return any_cast<int>(a) + 1; return a; }
void grow(vector<int>& a, int& count) { a.push_back(count); ++count; }
int add(int a, int b = 10) { return a + b; }
int throws(int x) { if (x > 0) throw invalid_argument("too big"); return x; }
string bytes() { return string("\xff\x00\xfe", 3); }
