"""The countries of addresses and of cards, as far as the operator imported them. None are shipped."""

from tollgate.operations.app import App
from tollgate.operations.caches import IpPlace


async def find_ip_place(app: App, ip: str | None) -> IpPlace | None:
    """Finds the country of an address, and whether it is an anonymous proxy; None where nothing is known of it."""
    return await app.countries.find_ip_place(app.database, ip) if ip else None


async def find_ip_country(app: App, ip: str | None) -> str | None:
    place = await find_ip_place(app, ip)
    return place.country or None if place else None


async def find_bin_country(app: App, digits: str | None) -> str | None:
    """Finds the country of the issuer by the first digits of a card, of which 6 or 8 are used."""
    return await app.countries.find_bin_country(app.database, digits) if digits else None


async def follow_imports(app: App) -> int:
    """Forgets what was looked up before an import; a worker of every process does so within seconds."""
    await app.countries.refresh(app.database)
    return 0
