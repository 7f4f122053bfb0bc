# Boundary `control`, between worker and router (docs/design/WIRE.md, section 4).
@0xba685fd82e018727;
using Cxx = import "/capnp/c++.capnp";
using import "common.capnp".Fingerprint;
using import "common.capnp".Needs;
using import "common.capnp".VersionRange;
$Cxx.namespace("slipstream::schema");

struct Control {
  union {
    none @0 :Void;  # what an all-zero message reads as; it is malformed
    hello @1 :Hello;
    workerHeartbeat @2 :WorkerHeartbeat;
    leaving @3 :Leaving;
    welcome @4 :Welcome;
    refuse @5 :Refuse;
    routerHeartbeat @6 :RouterHeartbeat;
    drain @7 :Drain;
  }
}

enum Role {
  verifier @0;
  drafter @1;
}

struct Hello {
  versions @0 :VersionRange;
  incarnation @1 :UInt64;
  role @2 :Role;
  needs @3 :Needs;  # reserved: neither written nor read
  fingerprint @4 :Fingerprint;
  numericsId @5 :Text;
  methods @6 :List(Text);
  contextMax @7 :Int32;
  sequencesMax @8 :Int32;
  draftEndpoint @9 :Text;
  metricsEndpoint @10 :Text;
  pid @11 :UInt32;
  draftModel @12 :Text;
  scoresPrompts @13 :Bool;
  samplesTrees @14 :Bool;
  rowsVary @15 :Bool;
}

struct WorkerHeartbeat {
  incarnation @0 :UInt64;  # reserved: the envelope carries it
  steps @1 :UInt64;
  sequences @2 :UInt32;
  waiting @3 :UInt32;
  busy @4 :Float32;
  drafterGains @5 :List(DrafterGain);
}

struct DrafterGain {
  drafter @0 :UInt64;
  greedy @1 :Bool;
  tokens @2 :Float32;
}

struct Leaving {
  incarnation @0 :UInt64;  # reserved: the envelope carries it
  reason @1 :Text;
}

struct Welcome {
  router @0 :UInt64;
  heartbeatMs @1 :UInt32;
  version @2 :UInt16;
}

struct Refuse {
  reason @0 :Text;
}

struct RouterHeartbeat {
  router @0 :UInt64;
}

struct Drain {
  reason @0 :Text;
}
