// Compiles Asio and Beast once. The other files of this layer are built with their
// separate-compilation switches.
#include <boost/asio/impl/src.hpp>
#include <boost/asio/ssl/impl/src.hpp>
#include <boost/beast/src.hpp>
