// The network between simulated processes, with the semantics of runtime/transport.h: links from a
// connector to whoever is bound at an endpoint, messages in order within a link, and no promise at
// all. Weather loses, doubles, reorders and delays messages; two processes can be separated, and a
// link that carries nothing for long is ended by the kernel.
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

struct Weather {  // of one boundary; shares of its messages
  double lost = 0, doubled = 0, reordered = 0, delayed = 0;
  Time usual_least{30}, usual_most{200};  // what every message takes
  Time reorder_most{20'000};              // a reordered or doubled one, besides
  double straggles = 0.2;                 // share of those that take much longer
  Time straggle_most{3'000'000};
  Time delay_least{1000}, delay_most{50'000};  // a delayed one, besides; those behind it wait
};
using Climate = std::array<Weather, 3>;  // [Boundary]

// One life of one process, as the network sees it.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void up(Peer peer) = 0;
  virtual void down(Peer peer) = 0;
  virtual void hear(Peer peer, Message message) = 0;
};

struct NetworkTallies {
  uint64_t lost = 0, doubled = 0, lost_finishes = 0;
};

class Network {
 public:
  Network(VirtualTime& time, Trace& trace, uint64_t seed) : time_(time), trace_(trace), random_(seed, "network") {}

  void set(const Climate& climate) { climate_ = climate; }

  // A life begins, bound at an endpoint if it has one; listener outlives it.
  void open(Incarnation self, std::string name, Listener& listener, std::optional<std::string> endpoint);
  // It ends: what it sent still arrives, then its links are down.
  void close(Incarnation self);
  // It hears and says nothing more, or again; the kernel keeps its connections.
  void freeze(Incarnation self);
  void thaw(Incarnation self);
  // Nothing passes between two processes, or everything again.
  void separate(Incarnation a, Incarnation b);
  void join(Incarnation a, Incarnation b);

  void connect(Incarnation self, Peer peer, const std::string& endpoint);  // reconnects until disconnect()
  void disconnect(Incarnation self, Peer peer);
  void send(Incarnation self, Peer peer, Message message);

  const NetworkTallies& tallies() const { return tallies_; }

 private:
  struct Node {
    std::string name;
    Listener* listener = nullptr;
    std::optional<std::string> endpoint;
    bool frozen = false;
  };
  using Key = std::pair<Incarnation, Peer>;  // who connects, and how it names the link
  struct Link {
    std::string endpoint;
    Incarnation to = 0;                        // 0: not connected
    uint64_t session = 0;                      // grows with each connection: what was sent in an older one does not arrive
    bool greeted = false;                      // `to` has heard from it
    bool ignored = false;                      // by `to`
    uint64_t trouble = 0;                      // grows when separations begin and end
    std::array<Time, 2> newest{};              // the last arrival by direction: 0 from the connector, 1 to it
    std::vector<VirtualTime::Happening> held;  // what would arrive while separated
  };
  struct Way {  // one direction of one connection
    Key key;
    uint64_t session = 0;
    int direction = 0;
  };

  std::optional<Way> way(Incarnation self, Peer peer) const;
  Link* current(const Way& way);  // null: that connection has ended
  Node* alive(Incarnation self);
  bool parted(Incarnation a, Incarnation b) const { return separated_.contains(std::minmax(a, b)); }
  bool in_trouble(const Key& key, const Link& link);
  void look_at(Incarnation self);  // its links, after trouble began or ended
  void dial(const Key& key);
  void hang_up(const Key& key, uint64_t session);
  void carry(const Way& way, Message message, bool in_order);
  void arrive(const Way& way, Message message);
  void take(const Way& way, Link& link, Message message);

  VirtualTime& time_;
  Trace& trace_;
  RandomSource random_;
  Climate climate_;
  NetworkTallies tallies_;
  std::map<Incarnation, Node> nodes_;
  std::map<Key, Link> links_;
  std::set<std::pair<Incarnation, Incarnation>> separated_;
};

}  // namespace slipstream::sim
