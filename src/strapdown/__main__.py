"""python -m strapdown"""

from strapdown.cli.main import run

run()
