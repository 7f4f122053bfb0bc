#!/usr/bin/env python3
"""Shows that tidy can fail: plants one offence for each rule. Usage: tidy_test.py ROOT [unittest's arguments]"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import layers
import prose
import rules
import sources

ROOT = pathlib.Path(sys.argv[1]).resolve()
TREE = sources.load(ROOT)


def messages(rule, path, text):
    """Returns what `rule` reports for `path` if that file contained `text`."""
    return [message for where, _, message in rule({**TREE, path: sources.Source(path, text)}) if where == path]


class Tidy(unittest.TestCase):
    def test_fails_on_a_forbidden_include_in_a_copy_of_the_tree(self):
        with tempfile.TemporaryDirectory() as folder:
            for path, source in TREE.items():
                target = pathlib.Path(folder, path)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(source.text, encoding="utf-8")
            shutil.copy(ROOT / ".gitignore", folder)
            planted = pathlib.Path(folder, "services/router/router.cpp")
            planted.write_text('#include "services/verifier/verifier.h"\n' + planted.read_text())
            tidy = pathlib.Path(__file__).with_name("tidy.py")
            run = subprocess.run([sys.executable, tidy, folder], capture_output=True, text=True)
            self.assertEqual(run.returncode, 1)
            self.assertIn("services/router/router.cpp:1: includes services/verifier/verifier.h: services never include one another",
                          run.stdout)

    def test_names_a_kernel_that_includes_anything_of_common(self):
        for header in ("common/sampling/chain.h", "common/sampling/noise.h"):
            found = messages(rules.includes_follow_the_arrows, "kernels/cpu/planted.cpp", f'#include "{header}"\n')
            self.assertTrue(any("raw pointers" in message for message in found), found)

    def test_names_an_actor_that_includes_what_drives_or_shows_it(self):
        for header in ("common/runtime/transport.h", "common/zmq/zmq_transport.h", "common/http/server.h",
                       "common/ops_page/worker_page.h", "common/config/router_config.h"):
            line = f'#include "{header}"\n'
            for path in ("services/router/failover.cpp", "services/verifier/step.cpp", "services/drafter/verifiers.cpp"):
                found = messages(rules.includes_follow_the_arrows, path, line)
                self.assertTrue(any("is the actor" in message for message in found), (path, header, found))
            self.assertFalse(messages(rules.includes_follow_the_arrows, "services/router/main.cpp", line), header)
        found = messages(rules.includes_follow_the_arrows, "services/router/router.cpp", '#include "services/router/metrics_page.h"\n')
        self.assertEqual(found, ["includes services/router/metrics_page.h: router is the actor: it knows nothing of router_main, "
                                 "which drives and shows it"])

    def test_knows_every_part_of_a_service_by_a_file_that_is_there(self):
        for layer, files in layers.PARTS.items():
            for file in files:
                self.assertIn(f"{layers.LAYERS[layer][0]}/{file}.cpp", TREE)

    def test_names_a_driver_of_sockets_that_knows_of_pages(self):
        for path in ("common/runtime/planted.cpp", "common/zmq/planted.cpp"):
            found = messages(rules.includes_follow_the_arrows, path, '#include "common/metrics/names.h"\n')
            self.assertTrue(any("stands on" in message for message in found), (path, found))

    def test_names_a_library_outside_its_zone(self):
        for include in ("zmq.hpp", "capnp/serialize.h", "boost/beast.hpp", "prometheus/counter.h", "torch/torch.h"):
            self.assertTrue(messages(rules.libraries_stay_in_their_zone, "services/router/planted.cpp", f"#include <{include}>\n"), include)
        self.assertFalse(messages(rules.libraries_stay_in_their_zone, "common/zmq/planted.cpp", "#include <zmq.hpp>\n"))

    def test_names_a_target_that_links_against_the_arrows(self):
        text = "slipstream_layer(router SOURCES router.cpp DEPS actor runtime model)\n"
        found = messages(rules.cmake_says_what_the_sources_say, "services/router/CMakeLists.txt", text)
        for other in ("runtime", "model"):
            self.assertTrue(any(f"router links {other}" in message for message in found), found)

    def test_names_dead_files(self):
        self.assertTrue(messages(rules.every_file_is_used, "common/kv/planted.cpp", "int x;\n"))
        self.assertTrue(messages(rules.every_file_is_used, "common/kv/planted.h", "#pragma once\n"))

    def test_names_a_header_that_can_be_read_twice(self):
        self.assertTrue(messages(rules.headers_are_read_once, "common/kv/planted.h", "int x;\n"))

    def test_names_a_metric_without_a_row(self):
        path = "common/metrics/names.h"
        text = TREE[path].text + 'inline constexpr MetricName kPlantedByTidy{"slipstream_planted_total", "x"};\n'
        tree = {**TREE, path: sources.Source(path, text)}
        found = [message for _, _, message in rules.metrics_are_documented(tree)]
        self.assertTrue(any("slipstream_planted_total has no row" in message for message in found), found)
        self.assertTrue(any("slipstream_planted_total (kPlantedByTidy) is exported by nobody" in message for message in found), found)

    def test_measures_functions_by_their_braces(self):
        body = "  if (x) {\n    f();\n  }\n" * 20
        for head in ("int long_one(int x) {\n", "Result<std::vector<int>> Long::one(int a,\n                      int b) const {\n"):
            found = messages(rules.files_and_functions_are_short, "common/kv/planted.cpp", head + body + "}\n")
            self.assertEqual(len(found), 1, found)
            self.assertIn("62 lines" if "\n" not in head[:-1] else "63 lines", found[0])
        short = "namespace a {\nint f(int x) {\n  return x;\n}\n" * 40
        self.assertFalse(messages(rules.files_and_functions_are_short, "common/kv/planted.cpp", short))

    def test_names_a_header_that_does_not_say_what_it_is(self):
        self.assertTrue(messages(prose.headers_open_with_a_comment, "common/base/planted.h", "#pragma once\n"))
        self.assertFalse(messages(prose.headers_open_with_a_comment, "common/base/planted.h", "// A plant.\n#pragma once\n"))

    def test_names_a_reference_that_leads_nowhere(self):
        def found(comment):
            return messages(prose.references_lead_somewhere, "common/base/planted.cpp", f"// {comment}\n")
        for lost in ("see base/no_such_file.h", "as docs/design/NOISE.md, 99 says", "(DESIGN, 5)", "adr/9999 decides it"):
            self.assertTrue(found(lost), lost)
        for fine in ("see base/check.h", "check.h has it", "as docs/design/NOISE.md, 8 says", "adr/0008 decides it"):
            self.assertFalse(found(fine), fine)

    def test_names_a_file_in_a_page_that_is_not_there(self):
        def found(text):
            return messages(prose.references_lead_somewhere, "docs/design/planted.md", text)
        for lost in ("see `common/base/no_such_file.h`\n", "| `no_such_test.py` | x |\n"):
            self.assertTrue(found(lost), lost)
        for fine in ("see `common/base/check.h` and `check.h`\n", "`../use/API.md`\n", "`services/*/no_such.h`\n",
                     "no_such_file.h\n", "```\n`no_such_file.h`\n```\n"):
            self.assertFalse(found(fine), fine)

    def test_names_comments_and_pages_that_are_too_wide(self):
        wide = "words " * 20
        self.assertTrue(messages(prose.comments_are_narrow, "common/base/planted.cpp", f"// {wide}\n"))
        self.assertFalse(messages(prose.comments_are_narrow, "common/base/planted.cpp", f"//   {wide}\n"), "a table")
        self.assertTrue(messages(prose.pages_are_narrow, "docs/planted.md", wide + "\n"))
        self.assertFalse(messages(prose.pages_are_narrow, "docs/planted.md", f"| {wide} |\n```\n{wide}\n```\n"), "a table, code")

    def test_names_a_row_of_a_table_that_is_broken_over_lines(self):
        self.assertTrue(messages(prose.rows_are_whole, "docs/planted.md", "- a\n\n  | `a` | words\n  and more |\n"))
        self.assertFalse(messages(prose.rows_are_whole, "docs/planted.md", "| a | b |\n|---|---|\n| c |  \n```\n| x\n```\n"))

    def test_names_a_type_that_another_header_defines_too(self):
        text = "// A plant.\n#pragma once\nnamespace slipstream {\nstruct SendWindow {\n};\n}  // namespace slipstream\n"
        found = [message for _, _, message in rules.types_have_one_definition(
            {**TREE, "common/base/planted.h": sources.Source("common/base/planted.h", text)})]
        self.assertEqual(len(found), 1, found)
        self.assertIn("slipstream::SendWindow", found[0])

    def test_names_paths_of_a_machine_and_unfinished_work(self):
        for text in ("// see /wo" "rk/notes", 'open("/t' 'mp/x")', "// TO" "DO: later"):
            self.assertTrue(messages(rules.nothing_of_this_machine_and_nothing_unfinished, "common/kv/planted.cpp", text), text)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
