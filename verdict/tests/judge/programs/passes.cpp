#include <any>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>
#include <stdexcept>
using namespace std;
int helper(int x) {
    return x + 1;
}
bool negate_it(bool b);
unsigned char next_byte(unsigned char c);
long long twice(long long x);
unsigned long long biggest();
float half(float x);
double third(double x);
long double same_long(long double x);
string reversed(string s);
const char* greeting();
vector<int> sorted(vector<int>);
vector<vector<string>> nested(const vector<vector<string>>& a);
vector<bool> flags(vector<bool> a);
map<char, int> count_chars(string s);
unordered_map<string, vector<int>> by_name(unordered_map<string, vector<int>> m);
set<int> unique_of(vector<int> a);
unordered_set<string> words(list<string> a);
pair<int, string> both(int a, string b);
tuple<int, double, string> three(tuple<int, double, string> t);
optional<int> first_of(const vector<int>& a);
variant<int, string> either(bool b);
any anything(any a);
void grow(vector<int>& a, int& count);
int throws(int x);
string bytes();
int add(int a, int b = 10) {
// tests
#include <assert.h>
#include <limits>
#include <cmath>
int main() {
    assert(helper(1) == 2);
    assert(negate_it(false) && !negate_it(true));
    assert(next_byte(255) == 0 && next_byte('a') == 'b');
    assert(twice(-4611686018427387904ll) == numeric_limits<long long>::min());
    assert(biggest() == numeric_limits<unsigned long long>::max());
    assert(half(0.1f) == 0.1f / 2 && half(INFINITY) == INFINITY && std::isnan(half(NAN)));
    assert(third(1) == 1.0 / 3 && third(-1e308) == -1e308 / 3 && same_long(0.1L) == 0.1L);
    assert(reversed("abc") == "cba" && reversed("") == "");
    assert(string(greeting()) == "hello \"you\"\n\x01");
    assert((sorted({3, 1, 2}) == vector<int>{1, 2, 3}) && sorted({}).empty());
    vector<vector<string>> text = {{"a", "\xc3\xa9"}, {}, {"\t"}};
    assert(nested(text) == text);
    assert((flags({true, false}) == vector<bool>{false, true}));
    assert((count_chars("aab") == map<char, int>{{'a', 2}, {'b', 1}}));
    assert((by_name({{"x", {1, 2}}}) == unordered_map<string, vector<int>>{{"x", {1, 2}}, {"more", {7}}}));
    assert((unique_of({2, 1, 2}) == set<int>{1, 2}));
    assert((words({"a", "b", "a"}) == unordered_set<string>{"a", "b"}));
    assert(both(1, "x").second == "x");
    assert((three(make_tuple(1, 2.5, "z")) == tuple<int, double, string>(2, 2.5, "z")));
    assert(first_of({}) == nullopt && first_of({4, 5}) == 4);
    assert(get<int>(either(true)) == 1 && get<string>(either(false)) == "text");
    assert(any_cast<int>(anything(41)) == 42 && any_cast<string>(anything(string("s"))) == "s");
    assert(!anything(any()).has_value());
    vector<int> a = {1};
    int count = 5;
    grow(a, count);
    assert((a == vector<int>{1, 5}) && count == 6);
    assert(add(1) == 11 && add(1, 2) == 3);
    bool thrown = false;
    try {
        throws(1);
    } catch (const invalid_argument& error) {
        thrown = string(error.what()) == "too big";
    }
    assert(thrown && throws(-1) == -1);
    assert(bytes() == string("\xff\x00\xfe", 3));
}
