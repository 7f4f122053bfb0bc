"""How these tests wait for a condition, and what they raise where it does not come."""
import time


class Failed(Exception):
    pass


def wait_for(what, condition, seconds=120, pace=0.5):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise Failed(f"{what}: not so after {seconds} s")
        time.sleep(pace)  # the pace of asking; what ends the wait is the condition
