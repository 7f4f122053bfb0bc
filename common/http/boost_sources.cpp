// Asio and Beast, compiled once: the other files of this layer are built with the
// separate-compilation switches.
#include <boost/asio/impl/src.hpp>
#include <boost/beast/src.hpp>
