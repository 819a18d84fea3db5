"""`python -m overthere` is `overthere`."""

from overthere.cli import main

if __name__ == "__main__":
    main()
