# Boundary `draft`, between verifier and drafter (docs/design/WIRE.md, section 6).
@0x865bc9b22eecf43a;
using Cxx = import "/capnp/c++.capnp";
using import "common.capnp".Acceptance;
using import "common.capnp".LogitsParams;
using import "common.capnp".Fingerprint;
using import "common.capnp".Needs;
using import "common.capnp".Sampling;
using import "common.capnp".SequenceId;
using import "common.capnp".Trace;
using import "common.capnp".Tuning;
using import "common.capnp".VersionRange;
$Cxx.namespace("slipstream::schema");

struct Draft {
  union {
    none @0 :Void;  # what an all-zero message reads as; it is malformed
    attach @1 :Attach;
    attached @2 :Attached;
    advance @3 :Advance;
    features @4 :Features;  # reserved: never sent; read as an unknown tag
    release @5 :Release;
    tree @6 :Tree;
    resync @7 :Resync;
  }
}

struct Attach {
  versions @0 :VersionRange;
  verifier @1 :UInt64;
  fingerprint @2 :Fingerprint;
  head @3 :UInt64;  # 0: it sends no features
}

struct Attached {
  drafter @0 :UInt64;
  version @1 :UInt16;
  fingerprint @2 :Fingerprint;
  method @3 :Text;
  needs @4 :Needs;
  refusal @5 :Text;
  attachFirst @6 :Bool;
  model @7 :Text;
}

struct Fence {
  sequence @0 :SequenceId;
  epoch @1 :UInt32;
  round @2 :UInt32;
  prefixHash @3 :UInt64;
  baseLength @4 :Int32;
}

struct SequenceInfo {
  seed @0 :UInt64;
  promptLength @1 :Int32;
  choice @2 :UInt32;
  acceptance @3 :Acceptance;
  sampling @4 :Sampling;
  logitsParams @5 :LogitsParams;  # null: none
  tenant @6 :UInt64;  # 0: none
  trace @7 :Trace;  # null: not traced
}

struct Advance {
  fence @0 :Fence;
  tokens @1 :List(Int32);
  draft @2 :Bool;
  tuning @3 :Tuning;
  info @4 :SequenceInfo;  # null: not sent
  verdicts @5 :List(Int32);  # on a Tree with nodes; empty: none
  rootVerdict @6 :Int32 = -1;  # on a Tree without nodes; -1: none
  features @7 :Data;  # bf16, the low byte first; empty: none
}

struct Features {  # reserved: never sent
  fence @0 :Fence;
}

struct Release {
  sequence @0 :SequenceId;
  epoch @1 :UInt32;
}

enum NoNodes {
  none @0;
  busy @1;
  leaving @2;
  belowThreshold @3;
}

struct TreeNode {
  token @0 :Int32;
  parent @1 :Int32;
  survival @2 :Float32;
}

struct DraftDistribution {
  ids @0 :List(Int32);
  weights @1 :List(UInt16);
}

struct Tree {
  fence @0 :Fence;
  unused1 @1 :UInt32;  # was tuningVersion: nobody read it
  draftUs @2 :UInt32;
  noNodes @3 :NoNodes;
  nodes @4 :List(TreeNode);
  distributions @5 :List(DraftDistribution);
}

struct Resync {
  sequence @0 :SequenceId;
  epoch @1 :UInt32;
  round @2 :UInt32;
  held @3 :Int32;
}
