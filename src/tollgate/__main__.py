"""`python -m tollgate` is the `tollgate` command."""

from tollgate.cli import main

if __name__ == "__main__":
    main()
