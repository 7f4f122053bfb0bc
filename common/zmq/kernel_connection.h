// What the kernel knows of a TCP connection that libzmq owns, by its file descriptor, and how to
// end it without libzmq's help. The number may by now belong to another connection, or to none:
// cookies tell.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace slipstream {

uint64_t connection_cookie(int fd);               // never the same twice; 0: no connection
std::optional<uint64_t> bytes_taken(int fd);      // received, less what the kernel still keeps
std::optional<std::string> peer_address(int fd);  // 127.0.0.1:40123; nullopt: it is gone
// Ends the connection if it still is the one with this cookie; libzmq then finds it closed and
// cleans up. Returns the peer's address, for the log; nullopt: it was gone.
std::optional<std::string> cut_connection(int fd, uint64_t cookie);

}  // namespace slipstream
