#!/usr/bin/env python3
"""Shows what hides the place of a bug and what does not: formatting, moved lines, other names, and copies of its text."""

import pathlib
import tempfile
import unittest

import planting
from bugs import Bug


class Planting(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def plant(self, source, old, new, function=""):
        self.write("common/kv/a.cpp", source)
        planting.read.cache_clear()
        return planting.planted(Bug("b", "common/kv", old, new, function=function), self.root)[1]

    def refusal(self, source, old, **options):
        with self.assertRaises(ValueError) as refused:
            self.plant(source, old, "", **options)
        return str(refused.exception)

    def test_changes_the_named_tokens_only(self):
        self.assertEqual(self.plant("int f() {\n  return a + 1;  // why\n}\n", "a + 1", "a"), "int f() {\n  return a;  // why\n}\n")

    def test_does_not_mind_line_breaks_and_comments(self):
        self.assertEqual(self.plant("f(a,  // the first\n    /* b */ 1'000);", "f(a, 1'000);", "g();"), "g();")

    def test_does_not_mind_how_a_long_text_is_broken(self):
        self.assertEqual(self.plant('f("one "\n  "two");', 'f("one two")', "g()"), "g();")

    def test_sees_no_code_in_texts_and_comments(self):
        for source in ('f("a + 1");', 'f(R"(a + 1)");', "// a + 1\n", "/* a + 1 */"):
            self.assertIn("is nowhere in common/kv", self.refusal(source, "a + 1"), source)

    def test_takes_no_part_of_a_token_for_it(self):
        for source in ("ba + 1;", "a + 10;", "a += 1;", "a ++ 1;"):
            self.assertIn("is nowhere in common/kv", self.refusal(source, "a + 1"), source)

    def test_takes_any_name_for_a_placeholder(self):
        for name in ("x", "x.y", "x->y_", "n::x", "x.held.now"):
            self.assertEqual(self.plant(f"if ({name}.held < {name}.end) f();", "$s.held < $s.end", "g($s)"), f"if (g({name})) f();")

    def test_takes_no_half_of_a_name_for_a_placeholder(self):
        for source in ("a + x.y;", "a + x->y;", "a + n::x;"):
            self.assertIn("is nowhere", self.refusal(source, "a + $x - b"))
            self.assertEqual(self.plant(source, "a + $x", "0"), "0;")
        self.assertEqual(self.plant("x.y.z + 1;", "$v + 1", "$v"), "x.y.z;")

    def test_takes_one_name_for_one_placeholder(self):
        self.assertIn("is nowhere", self.refusal("a < b;", "$x < $x"))
        self.assertIn("is nowhere", self.refusal("7 < 8;", "$x < 8"))

    def test_refuses_two_places_and_names_them(self):
        said = self.refusal("f(1);\nf(1);\n", "f(1);")
        self.assertIn("is 2 times in common/kv (common/kv/a.cpp:1, common/kv/a.cpp:2); lengthen it, or name its function", said)

    def test_finds_a_place_in_the_named_function(self):
        source = "int f(int x) { return x; }\nint A::g(int x) const {\n  if (x) { h(); }\n  return x;\n}\nint h() { return f(1) + g(2); }\n"
        self.assertEqual(self.plant(source, "return x;", "return 0;", function="f"), source.replace("return x;", "return 0;", 1))
        for name in ("g", "A::g"):
            self.assertEqual(self.plant(source, "return x;", "return 0;", function=name), source.replace("  return x;", "  return 0;"))
        self.assertIn("is nowhere in common/kv in h()", self.refusal(source, "return x;", function="h"))

    def test_finds_a_place_that_moved_to_another_file_of_the_folder(self):
        self.write("common/kv/deep/b.h", "a + 1;")
        file, text = planting.planted(Bug("b", "common/kv", "a + 1", "a"), self.root)
        self.assertEqual((str(file), text), ("common/kv/deep/b.h", "a;"))

    def test_tells_where_a_place_has_gone(self):
        self.write("common/engine/b.cpp", "\nf(a, 1);")
        self.assertIn("it is in common/engine/b.cpp:2: change the bug's folder", self.refusal("g();", "f(a, 1);"))

    def test_tells_how_far_a_place_is_as_it_was(self):
        said = self.refusal("\n\nif (a < b) return c;", "if (a < d) return c;")
        self.assertIn("its first 4 of 9 tokens are in common/kv/a.cpp:3, and then comes something other than `d`", said)
        self.assertIn("nothing like it", self.refusal("g();", "if (a < d) return c;"))


class Catchers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "tests").mkdir()
        (self.root / "tests/CMakeLists.txt").write_text("slipstream_test(kv SOURCES a.cpp DEPS kv)\nadd_executable(e2e_test\n  b.cpp)\n")
        (self.root / "tests/a.cpp").write_text("TEST(Pool, Frees) {\nTEST_P(Tree, Grows) {\nINSTANTIATE_TEST_SUITE_P(Small, Tree, x);\n")
        (self.root / "tests/b.cpp").write_text("TEST_F(Words, Same) {\n")

    def refusal(self, catcher):
        try:
            planting.check_catcher(Bug("b", "common/kv", "a", "", catcher), self.root)
        except ValueError as error:
            return str(error)
        return None

    def test_are_tests_that_exist(self):
        for catcher in ("simulate", "kv_test Pool.Frees", "kv_test Pool.*", "kv_test Small/Tree.Grows/*", "e2e_test *Words*"):
            self.assertIsNone(self.refusal(catcher), catcher)

    def test_are_missed(self):
        self.assertIn("no such test program exists", self.refusal("model_test Pool.*"))
        self.assertIn("kv_test has no such test", self.refusal("kv_test Pool.Grows"))
        self.assertIn("kv_test has no such test; e2e_test has", self.refusal("kv_test Words.*"))


if __name__ == "__main__":
    unittest.main()
