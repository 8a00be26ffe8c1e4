"""Starts coverage.py around test code. Started with `-I`, so that neither the working folder nor
the environment can stand in for coverage.py; the author's PYTHONPATH comes back after it is loaded.
"""

import os
import sys

import coverage.cmdline

PATHS = sys.argv[1]
sys.path[:0] = [os.path.abspath(path) for path in PATHS.split(os.pathsep) if path]
sys.exit(coverage.cmdline.main(sys.argv[2:]))
