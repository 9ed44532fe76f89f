from ..store.databases import database_url as database_url
