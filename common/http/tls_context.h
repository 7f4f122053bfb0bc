// What a Tls holds. Apart from tls.h, so that only this layer sees Asio.
#pragma once

#include <boost/asio/ssl/context.hpp>

#include "common/http/tls.h"

namespace slipstream::http {

struct Tls::Context {
  boost::asio::ssl::context ssl{boost::asio::ssl::context::tls_server};
};

}  // namespace slipstream::http
