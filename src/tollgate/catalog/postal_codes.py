"""The parts of postal codes, and the codes of states that are also written by name.
Countries without a row take any text; whether an address exists is for the issuer to check.
"""

from collections.abc import Mapping
from types import MappingProxyType

POSTAL_CODES: Mapping[str, tuple[str, str, int]] = MappingProxyType(
    {
        "AU": ("([0-9]{4})", "", 4),
        "BR": ("([0-9]{5})([0-9]{3})", "-", 8),
        "CA": ("([A-Z][0-9][A-Z])([0-9][A-Z][0-9])", " ", 6),
        "CZ": ("([0-9]{3})([0-9]{2})", " ", 5),
        "GB": ("([A-Z]{1,2}[0-9][A-Z0-9]?|GIR)([0-9][A-Z]{2})", " ", 5),
        "GR": ("([0-9]{3})([0-9]{2})", " ", 5),
        "IE": ("([A-Z][0-9][0-9W])([A-Z0-9]{4})", " ", 7),
        "JP": ("([0-9]{3})([0-9]{4})", "-", 7),
        "NL": ("([1-9][0-9]{3})([A-Z]{2})", " ", 6),
        "PL": ("([0-9]{2})([0-9]{3})", "-", 5),
        "PT": ("([0-9]{4})([0-9]{3})", "-", 7),
        "SE": ("([0-9]{3})([0-9]{2})", " ", 5),
        "SK": ("([0-9]{3})([0-9]{2})", " ", 5),
        "US": ("([0-9]{5})([0-9]{4})?", "-", 5),
    }
)
"""For each country: the pattern of a code by its parts, the separator between them, and the shortest length."""

_STATES = {
    "AU": "ACT Australian Capital Territory|NSW New South Wales|NT Northern Territory|QLD Queensland|"
    "SA South Australia|TAS Tasmania|VIC Victoria|WA Western Australia",
    "CA": "AB Alberta|BC British Columbia|MB Manitoba|NB New Brunswick|NL Newfoundland and Labrador|NS Nova Scotia|"
    "NT Northwest Territories|NU Nunavut|ON Ontario|PE Prince Edward Island|QC Quebec|QC Québec|"
    "SK Saskatchewan|YT Yukon",
    "US": "AL Alabama|AK Alaska|AZ Arizona|AR Arkansas|CA California|CO Colorado|CT Connecticut|DE Delaware|"
    "DC District of Columbia|DC Washington DC|FL Florida|GA Georgia|HI Hawaii|ID Idaho|IL Illinois|IN Indiana|IA Iowa|"
    "KS Kansas|KY Kentucky|LA Louisiana|ME Maine|MD Maryland|MA Massachusetts|MI Michigan|MN Minnesota|MS Mississippi|"
    "MO Missouri|MT Montana|NE Nebraska|NV Nevada|NH New Hampshire|NJ New Jersey|NM New Mexico|NY New York|"
    "NC North Carolina|ND North Dakota|OH Ohio|OK Oklahoma|OR Oregon|PA Pennsylvania|PR Puerto Rico|RI Rhode Island|"
    "SC South Carolina|SD South Dakota|TN Tennessee|TX Texas|UT Utah|VT Vermont|VA Virginia|WA Washington|"
    "WV West Virginia|WI Wisconsin|WY Wyoming",
}


def _squeeze(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def _read_states(rows: str) -> dict[str, str]:
    named = [row.partition(" ") for row in rows.split("|")]
    return {_squeeze(spelling): code for code, _, name in named for spelling in (name, code)}


_CODES = {country: _read_states(rows) for country, rows in _STATES.items()}


def find_state_code(country: str, text: str) -> str | None:
    """Finds the code of a state by its name or its code in any case; None where the country or the state has no row."""
    return _CODES.get(country, {}).get(_squeeze(text))
