import json
import pathlib
import subprocess
import unittest

PROGRAM = pathlib.Path(__file__).with_name("main.py")


class ToolTest(unittest.TestCase):
    def test_counts_words_and_lines(self) -> None:
        arguments = json.dumps({"text": "one two\nthree"})
        done = subprocess.run([PROGRAM], input=arguments, capture_output=True, text=True, check=True)
        self.assertEqual(json.loads(done.stdout), {"words": 3, "lines": 2})


if __name__ == "__main__":
    unittest.main()
