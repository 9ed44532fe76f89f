"""The Python client: `Client` and `AsyncClient`, the same methods, typed. Imports neither FastAPI nor the store.

with Client("http://127.0.0.1:8421") as client:
    session = client.create_session()
    print(client.say(session.id, "rank 2 waits 140 ms for data, the rest 20").text)
"""

from .asynchronous import AsyncClient
from .synchronous import Client

__all__ = ["AsyncClient", "Client"]
