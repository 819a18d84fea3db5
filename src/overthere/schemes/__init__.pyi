# Written by `make docs` out of `_HOMES` in the module beside it.
from overthere.schemes.known.git import git_url as git_url
from overthere.schemes.locator import GenericLocator as GenericLocator
from overthere.schemes.locator import Given as Given
from overthere.schemes.locator import Locator as Locator
from overthere.schemes.locator import Writer as Writer
from overthere.schemes.model import Access as Access
from overthere.schemes.model import Example as Example
from overthere.schemes.model import NormalRule as NormalRule
from overthere.schemes.model import Scheme as Scheme
from overthere.schemes.registry import Registry as Registry
from overthere.schemes.registry import port_of as port_of
from overthere.schemes.registry import scheme as scheme

__all__ = [
    "Access",
    "Example",
    "GenericLocator",
    "Given",
    "Locator",
    "NormalRule",
    "Registry",
    "Scheme",
    "Writer",
    "git_url",
    "port_of",
    "scheme",
]
