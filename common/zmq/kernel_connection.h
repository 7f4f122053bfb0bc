// Asks the kernel about a TCP connection that libzmq owns, and cuts it without libzmq's help. All
// functions take the connection's file descriptor. libzmq may have closed it meanwhile, and the
// number may belong to another connection by now; the kernel's cookie tells connections apart.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace slipstream {

// A number that the kernel gives to one connection only. 0: this is no connection.
uint64_t connection_cookie(int fd);

// The bytes received, less those that still wait in the kernel: what the reader has taken. nullopt:
// the connection is gone.
std::optional<uint64_t> bytes_taken(int fd);

// "127.0.0.1:40123". nullopt: the connection is gone.
std::optional<std::string> peer_address(int fd);

// Cuts the connection if it still is the one with this cookie. libzmq then finds it closed by the
// peer and cleans up. Returns the peer's address, for the log; nullopt: the connection was gone.
std::optional<std::string> cut_connection(int fd, uint64_t cookie);

}  // namespace slipstream
