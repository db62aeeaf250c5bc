"""``python -m opscan`` is ``opscan``: for an environment whose scripts are not on the path."""

from opscan.cli.main import main

if __name__ == "__main__":
    main()
