// Plain values as text that crosses between a solution and its judge, and the frames it crosses in.
// Both ends include it; it knows neither what is called nor what is expected.
//
// A frame is a 32-bit little-endian length and that many bytes of JSON. Values: null, true, false,
// {"i":"-12"}, {"f":"1.5"}, {"s":"text"}, {"b":"base64"}, {"l":[..]}, {"t":[..]}, {"m":[[k,v],..]},
// {"set":[..]}. What comes in is checked against the type that is wanted, never the other way round.
#ifndef ROLLCAGE_WIRE_HPP
#define ROLLCAGE_WIRE_HPP

#include <any>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <limits>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unistd.h>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

namespace rollcage {

constexpr std::size_t FRAME_BYTES_MAX = 64u << 20;

// Whether what comes knows no types: then whatever can mean a value of the wanted one is taken, and
// what goes out has no sign that only a judge of the same types could read.
inline bool lenient = false;

// What came is not a value of the type that is wanted.
struct CannotCross : std::runtime_error {
    using std::runtime_error::runtime_error;
};
// The other process is gone.
struct Gone : std::runtime_error {
    using std::runtime_error::runtime_error;
};

inline bool read_all(int fd, void* to, std::size_t count) {
    char* at = static_cast<char*>(to);
    while (count > 0) {
        ssize_t got = ::read(fd, at, count);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        at += got;
        count -= static_cast<std::size_t>(got);
    }
    return true;
}

inline bool write_all(int fd, const void* from, std::size_t count) {
    const char* at = static_cast<const char*>(from);
    while (count > 0) {
        ssize_t put = ::write(fd, at, count);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        at += put;
        count -= static_cast<std::size_t>(put);
    }
    return true;
}

inline bool read_frame(int fd, std::string& text) {
    unsigned char head[4];
    if (!read_all(fd, head, 4)) return false;
    std::size_t length = head[0] | head[1] << 8 | head[2] << 16 | static_cast<std::size_t>(head[3]) << 24;
    if (length > FRAME_BYTES_MAX) return false;
    text.resize(length);
    return read_all(fd, &text[0], length);
}

inline bool write_frame(int fd, const std::string& text) {
    if (text.size() > FRAME_BYTES_MAX) return false;
    std::size_t length = text.size();
    unsigned char head[4] = {
        static_cast<unsigned char>(length), static_cast<unsigned char>(length >> 8),
        static_cast<unsigned char>(length >> 16), static_cast<unsigned char>(length >> 24)};
    return write_all(fd, head, 4) && write_all(fd, text.data(), length);
}

inline bool is_utf8(const std::string& text) {
    for (std::size_t at = 0; at < text.size();) {
        unsigned char lead = static_cast<unsigned char>(text[at++]);
        int more = lead < 0x80 ? 0 : lead >= 0xc2 && lead < 0xe0 ? 1 : (lead & 0xf0) == 0xe0 ? 2
                   : lead >= 0xf0 && lead < 0xf5 ? 3 : -1;
        if (more < 0 || text.size() - at < static_cast<std::size_t>(more)) return false;
        unsigned long point = lead & (0x3f >> (more > 0 ? more : 0));
        for (int next = 0; next < more; ++next) {
            unsigned char byte = static_cast<unsigned char>(text[at++]);
            if ((byte & 0xc0) != 0x80) return false;
            point = point << 6 | (byte & 0x3f);
        }
        if (more == 2 && (point < 0x800 || (point >= 0xd800 && point < 0xe000))) return false;
        if (more == 3 && (point < 0x10000 || point > 0x10ffff)) return false;
    }
    return true;
}

inline void quote(std::string& out, const std::string& text) {
    out += '"';
    for (char byte : text) {
        unsigned char code = static_cast<unsigned char>(byte);
        if (byte == '"' || byte == '\\') {
            out += '\\';
            out += byte;
        } else if (code < 0x20) {
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\u%04x", code);
            out += escape;
        } else {
            out += byte;
        }
    }
    out += '"';
}

// Reads values; anything unexpected is a CannotCross.
class Reader {
public:
    explicit Reader(const std::string& text) : at(text.data()), end(text.data() + text.size()) {}

    char peek() {
        while (at < end && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r')) ++at;
        return at < end ? *at : '\0';
    }
    bool take(char wanted) {
        if (peek() != wanted) return false;
        ++at;
        return true;
    }
    void want(char wanted) {
        if (!take(wanted)) wrong();
    }
    bool word(const char* wanted) {
        peek();
        std::size_t length = std::strlen(wanted);
        if (static_cast<std::size_t>(end - at) < length || std::memcmp(at, wanted, length) != 0) return false;
        at += length;
        return true;
    }
    std::string text() {
        want('"');
        std::string out;
        while (true) {
            if (at >= end) wrong();
            char byte = *at++;
            if (byte == '"') return out;
            if (byte == '\\') escape(out);
            else out += byte;
        }
    }
    // The value of an object with this one key: {"i":...}
    void open(const char* key) {
        want('{');
        if (text() != key) wrong();
        want(':');
    }
    // The key of an object with one key.
    std::string open_any() {
        want('{');
        std::string key = text();
        want(':');
        return key;
    }
    // The same, or that of another kind, where it may be one.
    std::string open_one(const char* key, const char* other) {
        std::string found = open_any();
        if (found != key && !(lenient && found == other)) wrong();
        return found;
    }
    void close() { want('}'); }
    // Whether there is another item in a list that was begun with '['.
    bool more(bool& first) {
        if (take(']')) return false;
        if (!first) want(',');
        first = false;
        return true;
    }
    [[noreturn]] static void wrong() { throw CannotCross("a value of another type came back"); }

private:
    const char* at;
    const char* end;

    unsigned hex4() {
        if (end - at < 4) wrong();
        unsigned code = 0;
        for (int count = 0; count < 4; ++count) {
            char digit = *at++;
            unsigned value = digit >= '0' && digit <= '9' ? digit - '0'
                             : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10
                             : digit >= 'A' && digit <= 'F' ? digit - 'A' + 10 : 16;
            if (value > 15) wrong();
            code = code << 4 | value;
        }
        return code;
    }
    void escape(std::string& out) {
        if (at >= end) wrong();
        char kind = *at++;
        const char* plain = "\"\\/bfnrt";
        const char* meant = "\"\\/\b\f\n\r\t";
        if (kind != 'u') {
            const char* found = std::strchr(plain, kind);
            if (kind == '\0' || found == nullptr) wrong();
            out += meant[found - plain];
            return;
        }
        unsigned long point = hex4();
        if (point >= 0xd800 && point < 0xdc00 && end - at >= 6 && at[0] == '\\' && at[1] == 'u') {
            at += 2;
            unsigned low = hex4();
            if (low < 0xdc00 || low > 0xdfff) wrong();
            point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
        }
        if (point < 0x80) {
            out += static_cast<char>(point);
        } else if (point < 0x800) {
            out += static_cast<char>(0xc0 | point >> 6);
            out += static_cast<char>(0x80 | (point & 0x3f));
        } else if (point < 0x10000) {
            out += static_cast<char>(0xe0 | point >> 12);
            out += static_cast<char>(0x80 | (point >> 6 & 0x3f));
            out += static_cast<char>(0x80 | (point & 0x3f));
        } else {
            out += static_cast<char>(0xf0 | point >> 18);
            out += static_cast<char>(0x80 | (point >> 12 & 0x3f));
            out += static_cast<char>(0x80 | (point >> 6 & 0x3f));
            out += static_cast<char>(0x80 | (point & 0x3f));
        }
    }
};

inline void put_text(std::string& out, const std::string& text) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    if (is_utf8(text)) {
        out += "{\"s\":";
        quote(out, text);
        out += '}';
        return;
    }
    out += "{\"b\":\"";
    for (std::size_t at = 0; at < text.size(); at += 3) {
        unsigned long bits = 0;
        std::size_t have = text.size() - at < 3 ? text.size() - at : 3;
        for (std::size_t byte = 0; byte < 3; ++byte)
            bits = bits << 8 | (byte < have ? static_cast<unsigned char>(text[at + byte]) : 0);
        for (std::size_t digit = 0; digit < 4; ++digit)
            out += digit <= have ? digits[bits >> (18 - 6 * digit) & 63] : '=';
    }
    out += "\"}";
}

inline std::string get_text(Reader& in) {
    std::string key = in.open_any();
    std::string text = in.text();
    in.close();
    if (key == "s") return text;
    if (key != "b" || text.size() % 4 != 0) Reader::wrong();
    std::string out;
    unsigned long bits = 0;
    int have = 0;
    for (char digit : text) {
        if (digit == '=') break;
        int value = digit >= 'A' && digit <= 'Z' ? digit - 'A' : digit >= 'a' && digit <= 'z' ? digit - 'a' + 26
                    : digit >= '0' && digit <= '9' ? digit - '0' + 52 : digit == '+' ? 62 : digit == '/' ? 63 : -1;
        if (value < 0) Reader::wrong();
        bits = bits << 6 | static_cast<unsigned long>(value);
        if ((have += 6) >= 8) out += static_cast<char>(bits >> (have -= 8) & 0xff);
    }
    return out;
}

template <class T, class = void>
struct Codec {
    static_assert(sizeof(T) == 0, "a value of this type cannot cross between solution and judge");
};

template <class T>
void put(std::string& out, const T& value) {
    Codec<T>::put(out, value);
}
template <class T>
T get(Reader& in) {
    return Codec<T>::get(in);
}

template <>
struct Codec<bool> {
    static void put(std::string& out, bool value) { out += value ? "true" : "false"; }
    static bool get(Reader& in) {
        if (in.word("true")) return true;
        if (in.word("false")) return false;
        Reader::wrong();
    }
};

template <class T>
struct Codec<T, std::enable_if_t<std::is_integral<T>::value && !std::is_same<T, bool>::value && sizeof(T) <= 8>> {
    static constexpr bool is_char = std::is_same<T, char>::value;
    static void put(std::string& out, T value) {
        if (is_char && lenient) return put_text(out, std::string(1, static_cast<char>(value)));
        out += "{\"i\":\"";
        out += std::is_signed<T>::value ? std::to_string(static_cast<long long>(value))
                                        : std::to_string(static_cast<unsigned long long>(value));
        out += "\"}";
    }
    static T get(Reader& in) {
        std::string key = in.open_one("i", is_char ? "s" : "i");
        std::string digits = in.text();
        in.close();
        if (key == "s") {
            if (digits.size() != 1) Reader::wrong();
            return static_cast<T>(digits[0]);
        }
        char* rest = nullptr;
        errno = 0;
        if (digits.empty()) Reader::wrong();
        if (std::is_signed<T>::value) {
            long long value = std::strtoll(digits.c_str(), &rest, 10);
            if (errno != 0 || *rest != '\0' || static_cast<long long>(static_cast<T>(value)) != value) Reader::wrong();
            return static_cast<T>(value);
        }
        unsigned long long value = std::strtoull(digits.c_str(), &rest, 10);
        if (digits[0] == '-' || errno != 0 || *rest != '\0' ||
            static_cast<unsigned long long>(static_cast<T>(value)) != value) Reader::wrong();
        return static_cast<T>(value);
    }
};

template <class T>
struct Codec<T, std::enable_if_t<std::is_enum<T>::value>> {
    using Base = std::underlying_type_t<T>;
    static void put(std::string& out, T value) { Codec<Base>::put(out, static_cast<Base>(value)); }
    static T get(Reader& in) { return static_cast<T>(Codec<Base>::get(in)); }
};

template <class T>
struct Codec<T, std::enable_if_t<std::is_floating_point<T>::value>> {
    static void put(std::string& out, T value) {
        char text[80];
        if (value != value) std::strcpy(text, "nan");
        else if (value > std::numeric_limits<T>::max()) std::strcpy(text, "inf");
        else if (value < std::numeric_limits<T>::lowest()) std::strcpy(text, "-inf");
        else std::snprintf(text, sizeof text, "%.*Lg", std::numeric_limits<T>::max_digits10, static_cast<long double>(value));
        out += "{\"f\":\"";
        out += text;
        out += "\"}";
    }
    static T get(Reader& in) {
        in.open_one("f", "i");
        std::string text = in.text();
        in.close();
        char* rest = nullptr;
        if (text.empty()) Reader::wrong();
        T value = sizeof(T) == sizeof(float)    ? static_cast<T>(std::strtof(text.c_str(), &rest))
                  : sizeof(T) == sizeof(double) ? static_cast<T>(std::strtod(text.c_str(), &rest))
                                                : static_cast<T>(std::strtold(text.c_str(), &rest));
        if (*rest != '\0') Reader::wrong();
        return value;
    }
};

template <>
struct Codec<std::string> {
    static void put(std::string& out, const std::string& value) { put_text(out, value); }
    static std::string get(Reader& in) { return get_text(in); }
};

// Texts that somebody else owns live until the process ends.
inline char* keep_text(const std::string& text) {
    char* kept = static_cast<char*>(std::malloc(text.size() + 1));
    if (kept == nullptr) throw CannotCross("no memory for a text");
    std::memcpy(kept, text.c_str(), text.size() + 1);
    return kept;
}
template <class C>
struct Codec<C*, std::enable_if_t<std::is_same<std::remove_const_t<C>, char>::value>> {
    static void put(std::string& out, const char* value) {
        if (value == nullptr) out += "null";
        else put_text(out, value);
    }
    static C* get(Reader& in) {
        if (in.word("null")) return nullptr;
        return keep_text(get_text(in));
    }
};
template <>
struct Codec<std::string_view> {
    static void put(std::string& out, std::string_view value) { put_text(out, std::string(value)); }
    static std::string_view get(Reader& in) {
        std::string text = get_text(in);
        return std::string_view(keep_text(text), text.size());
    }
};

template <>
struct Codec<std::nullptr_t> {
    static void put(std::string& out, std::nullptr_t) { out += "null"; }
    static std::nullptr_t get(Reader& in) {
        if (!in.word("null")) Reader::wrong();
        return nullptr;
    }
};
template <>
struct Codec<std::monostate> {
    static void put(std::string& out, std::monostate) { out += "null"; }
    static std::monostate get(Reader& in) {
        if (!in.word("null")) Reader::wrong();
        return {};
    }
};
template <>
struct Codec<std::nullopt_t> {
    static void put(std::string& out, std::nullopt_t) { out += "null"; }
    static std::nullopt_t get(Reader& in) {
        if (!in.word("null")) Reader::wrong();
        return std::nullopt;
    }
};

template <class C>
void put_items(std::string& out, const char* kind, const C& items) {
    out += "{\"";
    out += kind;
    out += "\":[";
    bool first = true;
    for (const auto& item : items) {
        if (!first) out += ',';
        first = false;
        Codec<typename C::value_type>::put(out, item);
    }
    out += "]}";
}

template <class C>
struct Sequence {
    using Item = typename C::value_type;
    static void put(std::string& out, const C& items) { put_items(out, "l", items); }
    static C get(Reader& in) {
        C items;
        in.open_one("l", "t");
        in.want('[');
        for (bool first = true; in.more(first);) items.push_back(Codec<Item>::get(in));
        in.close();
        return items;
    }
};
template <class T, class A>
struct Codec<std::vector<T, A>> : Sequence<std::vector<T, A>> {};
template <class T, class A>
struct Codec<std::deque<T, A>> : Sequence<std::deque<T, A>> {};
template <class T, class A>
struct Codec<std::list<T, A>> : Sequence<std::list<T, A>> {};

template <class T, std::size_t N>
struct Codec<std::array<T, N>> {
    static void put(std::string& out, const std::array<T, N>& items) { put_items(out, "l", items); }
    static std::array<T, N> get(Reader& in) {
        std::array<T, N> items{};
        std::size_t at = 0;
        in.open_one("l", "t");
        in.want('[');
        for (bool first = true; in.more(first);) {
            if (at >= N) Reader::wrong();
            items[at++] = Codec<T>::get(in);
        }
        in.close();
        if (at != N) Reader::wrong();
        return items;
    }
};

template <class C>
struct Unordered {
    using Item = typename C::value_type;
    static void put(std::string& out, const C& items) { put_items(out, "set", items); }
    static C get(Reader& in) {
        C items;
        in.open_one("set", "l");
        in.want('[');
        for (bool first = true; in.more(first);) items.insert(Codec<Item>::get(in));
        in.close();
        return items;
    }
};
template <class T, class L, class A>
struct Codec<std::set<T, L, A>> : Unordered<std::set<T, L, A>> {};
template <class T, class L, class A>
struct Codec<std::multiset<T, L, A>> : Unordered<std::multiset<T, L, A>> {};
template <class T, class H, class E, class A>
struct Codec<std::unordered_set<T, H, E, A>> : Unordered<std::unordered_set<T, H, E, A>> {};

template <class C>
struct Mapping {
    using K = typename C::key_type;
    using V = typename C::mapped_type;
    static void put(std::string& out, const C& items) {
        out += "{\"m\":[";
        bool first = true;
        for (const auto& item : items) {
            if (!first) out += ',';
            first = false;
            out += '[';
            Codec<K>::put(out, item.first);
            out += ',';
            Codec<V>::put(out, item.second);
            out += ']';
        }
        out += "]}";
    }
    static C get(Reader& in) {
        C items;
        in.open("m");
        in.want('[');
        for (bool first = true; in.more(first);) {
            in.want('[');
            K key = Codec<K>::get(in);
            in.want(',');
            V value = Codec<V>::get(in);
            in.want(']');
            items.emplace(std::move(key), std::move(value));
        }
        in.close();
        return items;
    }
};
template <class K, class V, class L, class A>
struct Codec<std::map<K, V, L, A>> : Mapping<std::map<K, V, L, A>> {};
template <class K, class V, class L, class A>
struct Codec<std::multimap<K, V, L, A>> : Mapping<std::multimap<K, V, L, A>> {};
template <class K, class V, class H, class E, class A>
struct Codec<std::unordered_map<K, V, H, E, A>> : Mapping<std::unordered_map<K, V, H, E, A>> {};

template <class A, class B>
struct Codec<std::pair<A, B>> {
    static void put(std::string& out, const std::pair<A, B>& both) {
        out += "{\"t\":[";
        Codec<std::remove_const_t<A>>::put(out, both.first);
        out += ',';
        Codec<B>::put(out, both.second);
        out += "]}";
    }
    static std::pair<A, B> get(Reader& in) {
        in.open_one("t", "l");
        in.want('[');
        auto first = Codec<std::remove_const_t<A>>::get(in);
        in.want(',');
        auto second = Codec<B>::get(in);
        in.want(']');
        in.close();
        return {std::move(first), std::move(second)};
    }
};

template <class... T>
struct Codec<std::tuple<T...>> {
    static void put(std::string& out, const std::tuple<T...>& all) {
        out += "{\"t\":[";
        bool first = true;
        std::apply([&](const auto&... item) {
            ((out += first ? "" : ",", first = false, Codec<std::decay_t<decltype(item)>>::put(out, item)), ...);
        }, all);
        out += "]}";
    }
    static std::tuple<T...> get(Reader& in) {
        in.open_one("t", "l");
        in.want('[');
        bool first = true;
        // Braces keep the order.
        std::tuple<T...> all{(first ? void() : in.want(','), first = false, Codec<T>::get(in))...};
        in.want(']');
        in.close();
        return all;
    }
};

template <class T>
struct Codec<std::optional<T>> {
    static void put(std::string& out, const std::optional<T>& value) {
        if (!value) {
            out += "null";
            return;
        }
        if (lenient) return Codec<T>::put(out, *value);
        out += "{\"t\":[";
        Codec<T>::put(out, *value);
        out += "]}";
    }
    static std::optional<T> get(Reader& in) {
        if (in.word("null")) return std::nullopt;
        if (lenient) return Codec<T>::get(in);
        in.open("t");
        in.want('[');
        std::optional<T> value = Codec<T>::get(in);
        in.want(']');
        in.close();
        return value;
    }
};

// One of several types: its number and the value.
template <class W, std::size_t N, class First, class... Rest>
W get_one_of(Reader& in, std::size_t number) {
    if (number == N) return W(Codec<First>::get(in));
    if constexpr (sizeof...(Rest) > 0) return get_one_of<W, N + 1, Rest...>(in, number);
    else Reader::wrong();
}
template <class W, class... T>
W get_numbered(Reader& in) {
    in.open("t");
    in.want('[');
    std::size_t number = Codec<std::size_t>::get(in);
    in.want(',');
    W value = get_one_of<W, 0, T...>(in, number);
    in.want(']');
    in.close();
    return value;
}
template <class T>
void put_numbered(std::string& out, std::size_t number, const T& value) {
    out += "{\"t\":[";
    Codec<std::size_t>::put(out, number);
    out += ',';
    Codec<T>::put(out, value);
    out += "]}";
}
template <class... T>
struct Codec<std::variant<T...>> {
    static void put(std::string& out, const std::variant<T...>& value) {
        std::visit([&](const auto& item) { put_numbered(out, value.index(), item); }, value);
    }
    static std::variant<T...> get(Reader& in) { return get_numbered<std::variant<T...>, T...>(in); }
};

// A value of any plain type.
template <class Any, class Cast, std::size_t N, class First, class... Rest>
void put_any(std::string& out, const Any& value) {
    if (const First* item = Cast::template to<First>(value)) put_numbered(out, N, *item);
    else if constexpr (sizeof...(Rest) > 0) put_any<Any, Cast, N + 1, Rest...>(out, value);
    else throw CannotCross("a value of a type that is not plain cannot cross");
}
template <class Any, class Cast>
struct AnyPlain {
    template <template <class...> class F>
    using With = F<bool, char, int, long, long long, unsigned, unsigned long, unsigned long long, short, float,
                   double, std::string, const char*, std::vector<int>, std::vector<long>, std::vector<double>,
                   std::vector<std::string>>;
    template <class... T>
    struct Do {
        static void put(std::string& out, const Any& value) { put_any<Any, Cast, 0, T...>(out, value); }
        static Any get(Reader& in) { return get_numbered<Any, T...>(in); }
    };
    static void put(std::string& out, const Any& value) {
        if (Cast::empty(value)) out += "null";
        else With<Do>::put(out, value);
    }
    static Any get(Reader& in) {
        if (in.word("null")) return Any();
        return With<Do>::get(in);
    }
};
struct StdAny {
    static bool empty(const std::any& value) { return !value.has_value(); }
    template <class T>
    static const T* to(const std::any& value) { return std::any_cast<T>(&value); }
};
template <>
struct Codec<std::any> : AnyPlain<std::any, StdAny> {};

// The message of whatever is being thrown, and the type that the other end throws again.
inline void put_error(std::string& out, const char* type, const std::string& message) {
    out += "{\"error\":{\"type\":";
    quote(out, type);
    out += ",\"message\":";
    quote(out, is_utf8(message) ? message : "(not text)");
    out += "}}";
}

}  // namespace rollcage

#endif
