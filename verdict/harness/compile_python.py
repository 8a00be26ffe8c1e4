"""Compiles Python files without running them, and says what is wrong with them, one line each, as
compilers do: FILE:LINE:COLUMN: error: SyntaxError: message.
"""

import sys
import warnings


def say(path, line, column, severity, message):
    print(f"{path}:{line or 1}:{column or 1}: {severity}: {' '.join(str(message).split())}", file=sys.stderr)


def main():
    wrong = False
    for path in sys.argv[1:]:
        with open(path, "rb") as file:
            source = file.read()
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                compile(source, path, "exec", dont_inherit=True)
            except SyntaxError as error:
                say(path, error.lineno, error.offset, "error", f"{type(error).__name__}: {error.msg}")
                wrong = True
            except (ValueError, RecursionError, MemoryError, OverflowError) as error:
                say(path, 1, 1, "error", f"{type(error).__name__}: {error}")
                wrong = True
        for warning in told:
            say(path, warning.lineno, 1, "warning", f"{warning.category.__name__}: {warning.message}")
    sys.exit(1 if wrong else 0)


main()
