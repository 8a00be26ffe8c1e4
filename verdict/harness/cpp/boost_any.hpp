// boost::any crosses as std::any does. Included only where boost is.
#ifndef ROLLCAGE_BOOST_ANY_HPP
#define ROLLCAGE_BOOST_ANY_HPP

#include <boost/any.hpp>

namespace rollcage {

struct BoostAny {
    static bool empty(const boost::any& value) { return value.empty(); }
    template <class T>
    static const T* to(const boost::any& value) { return boost::any_cast<T>(&value); }
};
template <>
struct Codec<boost::any> : AnyPlain<boost::any, BoostAny> {};

}  // namespace rollcage

#endif
