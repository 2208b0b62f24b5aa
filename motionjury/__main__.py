"""`python -m motionjury` is the same as `motionjury`."""

from motionjury.cli import main

if __name__ == "__main__":
    main()
