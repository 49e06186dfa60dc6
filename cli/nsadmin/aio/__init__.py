"""The admin library for asyncio: AsyncAdminClient has the nouns and methods of AdminClient, as coroutines."""

from nsadmin.aio.async_client import AsyncAdminClient

__all__ = ["AsyncAdminClient"]
