"""AsyncNouns, the nouns of AdminClient with methods that are coroutines. Type checkers read nouns.pyi.

The methods exist once, in `nsadmin.client`: an attribute of an AsyncNoun wraps the method of that name.
"""

from functools import cached_property, partial, wraps
from inspect import isfunction, isgeneratorfunction

from nsadmin.aio.call_threads import CallThreads
from nsadmin.client import admin as client_admin
from nsadmin.library.admin_client import AdminClient

CLIENT_CLASSES = (client_admin.AdminClient, AdminClient)
NOUN_NAMES = (
    *(name for name, member in vars(client_admin.AdminClient).items() if isinstance(member, cached_property)),
    *(
        name
        for name, member in vars(AdminClient).items()
        if isinstance(member, property) and not name.startswith("_")
    ),
)
PROCEDURE_NAMES = tuple(n for n, m in vars(AdminClient).items() if isfunction(m) and not n.startswith("_"))


class AsyncNouns:
    """Has an attribute for each noun of an AdminClient, and a coroutine for each procedure."""

    def __init__(self, admin_client, call_threads):
        self._admin_client: AdminClient = admin_client
        self._call_threads: CallThreads = call_threads

    def __getattr__(self, name):
        if name in PROCEDURE_NAMES:
            procedure = _wrap_method(getattr(self._admin_client, name), self._call_threads)
            setattr(self, name, procedure)
            return procedure
        if name not in NOUN_NAMES:
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self
            )
        async_noun = AsyncNoun(getattr(self._admin_client, name), self._call_threads)
        setattr(self, name, async_noun)
        return async_noun

    def __dir__(self):
        return [*super().__dir__(), *NOUN_NAMES, *PROCEDURE_NAMES]


class AsyncNoun:
    """Has a coroutine for each method of a noun, and an AsyncNoun for each noun within it."""

    def __init__(self, noun, call_threads):
        self._noun, self._call_threads = noun, call_threads

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self
            )
        member = getattr(self._noun, name)
        if callable(member):
            wrap_method = _wrap_generator if isgeneratorfunction(member) else _wrap_method
            async_member = wrap_method(member, self._call_threads)
        else:
            async_member = AsyncNoun(member, self._call_threads)
        setattr(self, name, async_member)
        return async_member

    def __dir__(self):
        return [*super().__dir__(), *(name for name in dir(self._noun) if not name.startswith("_"))]


def _wrap_method(method, call_threads):
    @wraps(method)
    async def run_method(*args, **kwargs):
        return await call_threads.run_call(partial(method, *args, **kwargs))

    return run_method


def _wrap_generator(method, call_threads):
    @wraps(method)
    async def iterate_method(*args, **kwargs):
        async for item in call_threads.iterate_items(partial(method, *args, **kwargs)):
            yield item

    return iterate_method
