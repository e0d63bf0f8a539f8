import json
import pathlib
import subprocess
import unittest

PROGRAM = pathlib.Path(__file__).with_name("main.py")


def run(city: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROGRAM], input=json.dumps({"city": city}), capture_output=True, text=True)


class ToolTest(unittest.TestCase):
    def test_tells_where_a_city_is(self) -> None:
        self.assertEqual(json.loads(run("Oslo").stdout), {"city": "Oslo", "latitude": 59.91, "longitude": 10.75})

    def test_refuses_a_city_that_it_does_not_know(self) -> None:
        done = run("Atlantis")
        self.assertEqual(done.returncode, 1)
        self.assertIn("There is no city Atlantis", done.stderr)


if __name__ == "__main__":
    unittest.main()
