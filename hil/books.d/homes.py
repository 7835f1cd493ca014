"""1,000 homes with faulty meters tell an aggregator a month, and every bill is worked out a second time.

  homes.py AGGREGATOR SIMULATOR FOLDER HOMES DAYS SEED
  homes.py AGGREGATOR SIMULATOR FOLDER SCENARIO.yaml    with what the books must say
"""

import subprocess
import sys
import time

import door


def main(program, simulator, folder, *what):
    named = ["--scenario", *what] if len(what) == 1 else ["--homes", what[0], "--days", what[1], "--seed", what[2]]
    server = door.Aggregator(program, folder)
    server.start()
    before = time.monotonic()
    done = subprocess.run([simulator, "homes", *named, "--port", str(server.port), "--token",
                           door.ADMIN, "--config", server.config, "--aggregator", program], capture_output=True, text=True)
    print(done.stdout + done.stderr)
    print(f"{' '.join(named)}: {time.monotonic() - before:.0f} s in all")
    server.check()
    print("B1 … B8 hold")
    server.end()
    sys.exit(done.returncode)


main(*sys.argv[1:])
