"""`python -m touchstone`"""

from . import main

main()
