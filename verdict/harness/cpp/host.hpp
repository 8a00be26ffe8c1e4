// The solution's end: answers calls of the functions that were declared, until the judge is gone.
// It knows no expected value; nothing that it says is believed but as an answer.
#ifndef ROLLCAGE_HOST_HPP
#define ROLLCAGE_HOST_HPP

#include "wire.hpp"

#include <new>
#include <typeinfo>

namespace rollcage {

constexpr int SOCKET_FD = 3;

// The arguments of a call, one after the other.
class Arguments {
public:
    explicit Arguments(Reader& from) : in(from) { in.want('['); }
    Reader& next() {
        if (!in.more(first)) Reader::wrong();
        return in;
    }
    void end() {
        if (in.more(first)) Reader::wrong();
    }

private:
    Reader& in;
    bool first = true;
};

// One argument as it was declared: P is the type of the parameter.
template <class P>
struct Slot {
    using Value = std::remove_cv_t<std::remove_reference_t<P>>;
    static constexpr bool comes_back =
        std::is_lvalue_reference<P>::value && !std::is_const<std::remove_reference_t<P>>::value;
    Value value;
    explicit Slot(Arguments& from) : value(get<Value>(from.next())) {}
    Value& pass() { return value; }
    void back(std::string& out) {
        if constexpr (comes_back) put(out, value);
        else out += "null";
    }
};

// Items behind a pointer.
template <class T, bool comes_back>
struct Items {
    std::optional<std::vector<T>> items;
    explicit Items(Arguments& from) {
        Reader& in = from.next();
        if (in.word("null")) return;
        items = get<std::vector<T>>(in);
        items->reserve(items->size() + 1);
    }
    T* pass() { return items ? items->data() : nullptr; }
    void back(std::string& out) {
        if (comes_back && items) put(out, *items);
        else out += "null";
    }
};

// A text that the function may write to; it may not become longer.
struct Buffer {
    std::optional<std::vector<char>> bytes;
    explicit Buffer(Arguments& from) {
        Reader& in = from.next();
        if (in.word("null")) return;
        std::string text = get_text(in);
        bytes.emplace(text.begin(), text.end());
        bytes->push_back('\0');
    }
    char* pass() { return bytes ? bytes->data() : nullptr; }
    void back(std::string& out) {
        if (!bytes) {
            out += "null";
            return;
        }
        put_text(out, std::string(bytes->data(), strnlen(bytes->data(), bytes->size())));
    }
};

template <class R, class F>
void answer(std::string& out, F&& call) {
    out += "{\"ok\":";
    if constexpr (std::is_void<R>::value) {
        call();
        out += "null";
    } else {
        using Value = std::remove_cv_t<std::remove_reference_t<R>>;
        R result = call();
        Codec<Value>::put(out, result);
    }
}

// A pointer that was returned, to as many items as the function said.
template <class T, class F, class N>
void answer_items(std::string& out, F&& call, N&& count) {
    out += "{\"ok\":";
    const T* items = call();
    if (items == nullptr) out += "null";
    else put(out, std::vector<T>(items, items + count()));
}

template <class... S>
void back(std::string& out, S&... slots) {
    out += ",\"args\":[";
    bool first = true;
    ((out += first ? "" : ",", first = false, slots.back(out)), ...);
    out += "]}";
}

struct Entry {
    const char* name;
    void (*call)(Reader& in, std::string& out);
};

inline void raised(std::string& out) {
    std::string message;
    const char* type = "exception";
    try {
        throw;
    } catch (const std::invalid_argument& error) {
        type = "std::invalid_argument", message = error.what();
    } catch (const std::out_of_range& error) {
        type = "std::out_of_range", message = error.what();
    } catch (const std::domain_error& error) {
        type = "std::domain_error", message = error.what();
    } catch (const std::length_error& error) {
        type = "std::length_error", message = error.what();
    } catch (const std::logic_error& error) {
        type = "std::logic_error", message = error.what();
    } catch (const std::overflow_error& error) {
        type = "std::overflow_error", message = error.what();
    } catch (const std::underflow_error& error) {
        type = "std::underflow_error", message = error.what();
    } catch (const std::range_error& error) {
        type = "std::range_error", message = error.what();
    } catch (const CannotCross& error) {
        type = "cannot cross", message = error.what();
    } catch (const std::runtime_error& error) {
        type = "std::runtime_error", message = error.what();
    } catch (const std::bad_alloc& error) {
        type = "std::bad_alloc", message = error.what();
    } catch (const std::exception& error) {
        type = typeid(error).name(), message = error.what();
    } catch (...) {
        message = "something that is no std::exception";
    }
    out.clear();
    put_error(out, type, message);
}

// Whether a label, NAME/NUMBER, is that of a function of this name.
inline bool is_named(const char* label, const std::string& name) {
    return std::strncmp(label, name.c_str(), name.size()) == 0 && label[name.size()] == '/';
}

inline void serve_one(const std::string& text, const Entry* entries, std::size_t count, std::string& out) {
    Reader in(text);
    in.want('{');
    std::string what = in.text();
    in.want(':');
    if (what == "load") {
        out = "{\"ok\":null,\"args\":[]}";
        return;
    }
    lenient = what == "plain";
    std::string name = in.text();
    in.want(',');
    if (in.text() != "args") Reader::wrong();
    in.want(':');
    for (const Entry* entry = entries; entry != entries + count; ++entry) {
        if (name == entry->name || (lenient && is_named(entry->name, name))) return entry->call(in, out);
    }
    throw CannotCross("no such function");
}

inline int serve(const Entry* entries, std::size_t count) {
    std::string text;
    while (read_frame(SOCKET_FD, text)) {
        std::string out;
        try {
            serve_one(text, entries, count, out);
        } catch (...) {
            raised(out);
        }
        std::fflush(nullptr);
        if (!write_frame(SOCKET_FD, out)) break;
    }
    std::fflush(nullptr);
    return 0;
}

}  // namespace rollcage

#endif
