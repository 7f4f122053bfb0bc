// The links between simulated processes, with the semantics of runtime/transport.h: a connector
// has a link to the process that is bound at an endpoint, a link keeps the order of messages, and
// nothing is guaranteed.
//
// Weather loses, doubles, reorders and delays messages. Two processes can be separated. A link that
// carries nothing for long is closed, as the kernel would close it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/runtime/transport.h"
#include "tests/sim/message.h"
#include "tests/sim/random_source.h"
#include "tests/sim/trace.h"
#include "tests/sim/virtual_time.h"

namespace slipstream::sim {

struct Weather {  // of one boundary; the numbers are shares of its messages
  double lost = 0, doubled = 0, reordered = 0, delayed = 0;
  Time usual_least{30}, usual_most{200};  // latency of every message
  Time reorder_most{20'000};              // added for a reordered or doubled message, at most
  double straggles = 0.2;                 // share of reordered messages that take much longer
  Time straggle_most{3'000'000};
  Time delay_least{1000}, delay_most{50'000};  // added for a delayed message; later messages of the link wait for it
};
using Climate = std::array<Weather, 3>;  // [Boundary]

// One life of one process, as its links see it.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void up(Peer peer) = 0;
  virtual void down(Peer peer) = 0;
  virtual void hear(Peer peer, Message message) = 0;
};

struct LinkTallies {
  std::array<uint64_t, 3> sent{};  // [Boundary]
  uint64_t lost = 0, doubled = 0, lost_finishes = 0;
};

class Links {
 public:
  Links(VirtualTime& time, Trace& trace, uint64_t seed) : time_(time), trace_(trace), random_(seed, "network") {}

  void set(const Climate& climate) { climate_ = climate; }

  // A process begins, bound at `endpoint` if it has one. REQUIRES: `listener` outlives the process.
  void open(Incarnation self, std::string name, Listener& listener, std::optional<std::string> endpoint);
  // A process ends. Messages that it sent still arrive, then its links go down.
  void close(Incarnation self);
  // freeze: the process receives and sends nothing; the kernel keeps its connections. thaw: it
  // continues.
  void freeze(Incarnation self);
  void thaw(Incarnation self);
  // separate: nothing passes between two processes. join: everything passes again.
  void separate(Incarnation a, Incarnation b);
  void join(Incarnation a, Incarnation b);

  void connect(Incarnation self, Peer peer, const std::string& endpoint);  // reconnects until disconnect()
  void disconnect(Incarnation self, Peer peer);
  void send(Incarnation self, Peer peer, Message message);

  const LinkTallies& tallies() const { return tallies_; }

 private:
  struct Process {
    std::string name;
    Listener* listener = nullptr;
    std::optional<std::string> endpoint;
    bool frozen = false;
  };
  using Key = std::pair<Incarnation, Peer>;  // the connector, and its name for the link
  struct Link {
    std::string endpoint;
    Incarnation to = 0;                        // 0: not connected
    uint64_t session = 0;                      // number of the connection; messages of an earlier one do not arrive
    bool greeted = false;                      // `to` has received a message from it
    bool ignored = false;                      // `to` has disconnected: it ignores what arrives
    uint64_t trouble = 0;                      // changes when a separation begins or ends
    std::array<Time, 2> newest{};              // last arrival in each direction: 0 from the connector, 1 to it
    std::vector<VirtualTime::Happening> held;  // arrivals that wait for the end of a separation
  };
  struct Way {  // one direction of one connection
    Key key;
    uint64_t session = 0;
    int direction = 0;
  };

  std::optional<Way> way(Incarnation self, Peer peer) const;
  Link* current(const Way& way);  // null: the connection has ended
  Process* alive(Incarnation self);
  bool parted(Incarnation a, Incarnation b) const { return separated_.contains(std::minmax(a, b)); }
  bool in_trouble(const Key& key, const Link& link);
  void look_at(Incarnation self);  // checks its links after a separation or freeze began or ended
  void dial(const Key& key);
  void hang_up(const Key& key, uint64_t session);
  void carry(const Way& way, Message message, bool in_order);
  void arrive(const Way& way, Message message);
  void take(const Way& way, Link& link, Message message);

  VirtualTime& time_;
  Trace& trace_;
  RandomSource random_;
  Climate climate_;
  LinkTallies tallies_;
  std::map<Incarnation, Process> processes_;
  std::map<std::string, std::set<Incarnation>, std::less<>> bound_;  // at each endpoint
  std::map<Key, Link> links_;
  std::set<std::pair<Incarnation, Incarnation>> separated_;
};

}  // namespace slipstream::sim
