"""`python -m tollgate` is the `tollgate` command. Nothing else happens here."""

from tollgate.cli import main

if __name__ == "__main__":
    main()
