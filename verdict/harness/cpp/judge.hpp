// The judge's end: functions of the solution as the test code calls them, the tests one by one, and
// the report. Nothing of the solution runs here; what it answers is checked against declared types.
#ifndef ROLLCAGE_JUDGE_HPP
#define ROLLCAGE_JUDGE_HPP

#include "wire.hpp"

#include <csetjmp>
#include <ctime>
#include <new>

namespace rollcage {

constexpr int SOCKET_FD = 3;
constexpr int REPORT_FD = 4;
constexpr const char* NONCE_FILE = ".rollcage/nonce";
constexpr std::size_t MESSAGE_BYTES_MAX = 2000;

struct State {
    bool gone = false;
    bool loaded = false;
    std::string refused;      // what could not cross in this test
    std::string raised;       // what the solution raised last
    std::string raised_text;  // and its message alone
    sigjmp_buf here;
    bool running = false;
    std::string failure;
    unsigned failed_line = 0;
};
inline State state;

inline void lost() {
    state.gone = true;
    throw Gone("the solution is gone");
}

[[noreturn]] inline void raise(const std::string& type, const std::string& message) {
    state.raised = "the solution raised " + type + ": " + message;
    state.raised_text = message;
    if (type == "cannot cross") {
        state.refused = message;
        throw CannotCross(message);
    }
    if (type == "std::invalid_argument") throw std::invalid_argument(message);
    if (type == "std::out_of_range") throw std::out_of_range(message);
    if (type == "std::domain_error") throw std::domain_error(message);
    if (type == "std::length_error") throw std::length_error(message);
    if (type == "std::logic_error") throw std::logic_error(message);
    if (type == "std::overflow_error") throw std::overflow_error(message);
    if (type == "std::underflow_error") throw std::underflow_error(message);
    if (type == "std::range_error") throw std::range_error(message);
    if (type == "std::bad_alloc") throw std::bad_alloc();
    throw std::runtime_error(message);
}

// Values that the test code gets a reference to live until the process ends.
template <class R>
struct Returned {
    using Value = std::remove_cv_t<std::remove_reference_t<R>>;
    static R give(Value&& value) {
        if constexpr (std::is_reference<R>::value) return static_cast<R>(*new Value(std::move(value)));
        else return std::move(value);
    }
};

// One call of one function.
class Request {
public:
    explicit Request(const char* name) {
        text = "{\"call\":";
        quote(text, name);
        text += ",\"args\":[";
    }
    // An argument of a parameter of type P.
    template <class P, class T>
    void put(const T& value) {
        next();
        Codec<std::remove_cv_t<std::remove_reference_t<P>>>::put(text, value);
    }
    template <class T>
    void put_items(const T* items, std::size_t count) {
        next();
        if (items == nullptr) text += "null";
        else rollcage::put(text, std::vector<std::remove_const_t<T>>(items, items + count));
    }
    template <class R, class F>
    R send(F&& backs) {
        return take<R>([&](Reader& in) { return get<typename Returned<R>::Value>(in); }, backs);
    }
    template <class F>
    void send_void(F&& backs) {
        take<int>([](Reader& in) { return in.word("null") ? 0 : (Reader::wrong(), 0); }, backs);
    }
    // A pointer to items; the caller of the function frees them or not.
    template <class T, class F>
    T* send_items(F&& backs) {
        return take<T*>([](Reader& in) -> T* {
            if (in.word("null")) return nullptr;
            auto items = get<std::vector<std::remove_const_t<T>>>(in);
            auto* kept = static_cast<std::remove_const_t<T>*>(std::calloc(items.size() + 1, sizeof(T)));
            if (kept == nullptr) throw CannotCross("no memory for what came back");
            std::size_t at = 0;
            for (auto item : items) kept[at++] = item;
            return kept;
        }, backs);
    }

private:
    std::string text;
    bool first = true;

    void next() {
        if (!first) text += ',';
        first = false;
    }
    template <class R, class G, class F>
    R take(G&& result, F&& backs) {
        text += "]}";
        std::string answer;
        if (state.gone || !write_frame(SOCKET_FD, text) || !read_frame(SOCKET_FD, answer)) lost();
        try {
            Reader in(answer);
            if (in.open_any() != "ok") Reader::wrong();
            auto value = result(in);
            in.want(',');
            if (in.text() != "args") Reader::wrong();
            in.want(':');
            in.want('[');
            backs(in);
            in.want(']');
            in.want('}');
            return Returned<R>::give(std::move(value));
        } catch (const CannotCross& error) {
            rethrow_error(answer);
            state.refused = error.what();
            throw;
        }
    }
    // The error that an answer carries, if it does.
    static void rethrow_error(const std::string& answer) {
        std::string type, message;
        try {
            Reader in(answer);
            if (in.open_any() != "error") return;
            in.open("type");
            type = in.text();
            in.want(',');
            if (in.text() != "message") return;
            in.want(':');
            message = in.text();
        } catch (const CannotCross&) {
            return;
        }
        raise(type, message);
    }
};

// What becomes of the arguments after a call.
class Backs {
public:
    explicit Backs(Reader& from) : in(from) {}
    template <class P, class T>
    void take(T& argument) {
        next();
        if constexpr (std::is_lvalue_reference<P>::value && !std::is_const<std::remove_reference_t<P>>::value)
            argument = get<std::remove_cv_t<std::remove_reference_t<P>>>(in);
        else if (!in.word("null")) Reader::wrong();
    }
    template <class T>
    void take_items(T* items, std::size_t count) {
        next();
        if (in.word("null")) return;
        auto came = get<std::vector<std::remove_const_t<T>>>(in);
        if (items == nullptr || came.size() > count) Reader::wrong();
        if constexpr (!std::is_const<T>::value) {
            std::size_t at = 0;
            for (auto item : came) items[at++] = item;
        }
    }
    void take_buffer(char* text) {
        next();
        if (in.word("null")) return;
        std::string came = get_text(in);
        if (text == nullptr || came.size() > std::strlen(text)) Reader::wrong();
        std::memcpy(text, came.c_str(), came.size() + 1);
    }
    void skip() {
        next();
        if (!in.word("null")) Reader::wrong();
    }

private:
    Reader& in;
    bool first = true;

    void next() {
        if (!first) in.want(',');
        first = false;
    }
};

struct Test {
    const char* id;
    int (*run)();
};

struct Outcome {
    const char* status;
    std::string message;
    unsigned line;
    unsigned long long duration_ms;
};

inline unsigned long long now_ms() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<unsigned long long>(now.tv_sec) * 1000 + static_cast<unsigned long long>(now.tv_nsec) / 1000000;
}

inline Outcome attempt(const Test& test) {
    Outcome outcome{"passed", "", 0, 0};
    state.refused.clear();
    state.raised.clear();
    state.failed_line = 0;
    const unsigned long long began = now_ms();
    state.running = true;
    if (sigsetjmp(state.here, 0) == 0) {
        try {
            int code = test.run();
            if (code != 0) outcome = {"failed", "the test code returned " + std::to_string(code), 0, 0};
        } catch (const std::exception& error) {
            bool theirs = !state.raised.empty() && state.raised_text == error.what();
            outcome = {"error", theirs ? state.raised : std::string("uncaught: ") + error.what(), 0, 0};
        } catch (...) {
            outcome = {"error", "the test code raised something", 0, 0};
        }
    } else {
        outcome = {"failed", state.failure, state.failed_line, 0};
    }
    state.running = false;
    if (!state.refused.empty()) outcome = {"failed", state.refused, outcome.line, 0};
    if (state.gone) outcome = {"error", "the solution is gone", outcome.line, 0};
    outcome.duration_ms = now_ms() - began;
    return outcome;
}

inline std::string nonce() {
    std::string text;
    if (std::FILE* file = std::fopen(NONCE_FILE, "r")) {
        char part[256];
        text.assign(part, std::fread(part, 1, sizeof part, file));
        std::fclose(file);
    }
    return text;
}

inline std::string shown(std::string text) {
    if (text.size() > MESSAGE_BYTES_MAX) text.resize(MESSAGE_BYTES_MAX);
    if (!is_utf8(text))
        for (char& byte : text)
            if (static_cast<unsigned char>(byte) >= 0x80) byte = '?';
    return text;
}

inline int judge(const Test* tests, std::size_t count) {
    std::string report = "{\"version\":1,\"nonce\":";
    quote(report, nonce());
    std::string answer;
    state.loaded = write_frame(SOCKET_FD, "{\"load\":true}") && read_frame(SOCKET_FD, answer);
    report += state.loaded ? ",\"load\":{\"state\":\"ok\"}" : ",\"load\":{\"state\":\"gone\"}";
    report += ",\"verifier_error\":null,\"changed\":[],\"tests\":[";
    std::string gone;
    for (std::size_t at = 0; state.loaded && at < count; ++at) {
        bool was_gone = state.gone;
        Outcome outcome = attempt(tests[at]);
        if (state.gone && !was_gone) gone = tests[at].id;
        report += at == 0 ? "{\"id\":" : ",{\"id\":";
        quote(report, tests[at].id);
        report += std::string(",\"status\":\"") + outcome.status + "\",\"message\":";
        quote(report, shown(outcome.message));
        report += ",\"line\":" + (outcome.line == 0 ? std::string("null") : std::to_string(outcome.line));
        report += ",\"duration_ms\":" + std::to_string(outcome.duration_ms) + "}";
    }
    report += "],\"gone\":";
    if (gone.empty()) report += "null";
    else quote(report, gone);
    report += ",\"complete\":true}\n";
    std::fflush(nullptr);
    write_all(REPORT_FD, report.data(), report.size());
    _exit(0);
}

}  // namespace rollcage

// Where an assertion of the test code ends up; the C library's own would end the process.
extern "C" void __assert_fail(const char* expression, const char*, unsigned line, const char*) noexcept {
    using rollcage::state;
    if (!state.running) _exit(134);
    state.failure = std::string("assertion failed: ") + expression;
    state.failed_line = line;
    siglongjmp(state.here, 1);
}

#endif
