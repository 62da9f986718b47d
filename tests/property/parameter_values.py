"""Values for every parameter: the longest legal one, written down by hand, and legal ones drawn by its shape.
The tests that send them are elsewhere.
"""

from __future__ import annotations

from hypothesis import strategies as st

from tollgate.catalog.shape import Between, Shape

LONGEST = {
    "AN32, [a-f0-9]{32}": "f" * 32,
    "N10.N2": "9999999999.99",
    "N12.N2": "999999999999.99",
    "N9.N2": "999999999.99",
    "N8.N2": "99999999.99",
    r"N13, [0-9]{1,10}\.[0-9]{2}": "9999999999.99",
    "A3, ISO 4217": "EUR",
    "AN32, [a-zA-Z0-9_]{1,32}": "A_z9" * 8,
    "AN32, [A-Za-z0-9_]{1,32}": "A_z9" * 8,
    "AN32, [a-zA-Z0-9]{0,32}": "Az09" * 8,
    "AN15, [A-Za-z0-9]{0,15}": "Az0" * 5,
    "AN10, yyyy-MM-dd": "2028-02-29",
    "AN10, yyyy-MM-dd, year 19xx or 20xx": "2099-12-31",
    "AN19, yyyy-MM-dd HH:mm:ss": "2026-12-31 23:59:59",
    "AN19, yyyy-MM-dd or yyyy-MM-dd HH:mm:ss": "2026-12-31 23:59:59",
    "N32, 8-32": "4" * 32,
    "N2, 01-12": "12",
    "N4, 19xx or 20xx": "2099",
    "N4, 3-4": "1234",
    "N4": "9999",
    "N6": "999999",
    "N2": "32",
    "N2, exactly 2": "05",
    "N8": "12345678",
    "N25": "1" * 25,
    "N19, 12-19": "4" * 19,
    "AN64, [a-zA-Z0-9]{3,64}": "aZ09" * 16,
    "AN31, [a-zA-Z]{2}[0-9]{2}[a-zA-Z0-9]{11,27}": "MT84MALT011000012345MTLCAST001S",
    "AN12, [a-zA-Z0-9]{1,12}": "aZ0" * 4,
    "AN11, [a-zA-Z0-9]{8}([a-zA-Z0-9]{3})?": "COBADEFFXXX",
    "A2, ISO 3166-1 alpha-2": "DE",
    "A3, ISO 3166-1 alpha-3": "DEU",
    "N3, ISO 3166-1 numeric": "276",
    "A2 or N3, ISO 3166-1": "276",
    "AN256, [a-zA-Z-]{0,256}": "aZ-z" * 64,
    "AN32, [A-Za-z0-9+/]{26,32}={0,2}": "+/aZ09" * 5 + "==",
    "AN25, [+0-9][0-9 .()/-]{0,24}": "+" + "1 .()/-2" * 3,
    "AN26, [+0-9][0-9 .()/-]{5,25}": "+" + "1 .()/-2" * 3 + "3",
    "AN26, [+0-9][0-9 .()/-]{7,25}": "+" + "1 .()/-2" * 3 + "3",
    "AN2, [A-Z]{2}": "DE",
    "AN5, [+-]?[0-9]{1,4}": "-1440",
    "AN50, [a-zA-Z0-9.]{1,50}": "aZ09." * 10,
    "AN16, [A-Za-z0-9]{1,16}": "aZ09" * 4,
    "AN16, [A-Za-z0-9-]{1,16}": "aZ0-" * 4,
    "AN80, letters, blanks, hyphens, apostrophes": "Åé '-\u2019xy" * 10,
    "AN100, letters, digits, blanks": "Åé x9" * 20,
    "AN50, letters, digits, blanks": "Åé x9" * 10,
    "AN48, letters, digits, blanks": "Åé9 " * 12,
    "NS20, latitude,longitude": "-12.345678,-98.76543",
    r"AN16, [0-9]{1,12}(\.[0-9]{1,3})?": "999999999999.999",
    "AN6, 0-100 with up to 2 decimals": "100.00",
    "AN2048, http or https URL": "https://shop.example/" + "a" * 2027,
    r"AN263, https?://[a-zA-Z0-9.\-\[\]:]{1,255}": "https://" + "a" * 255,
    "AN2048, https URL": "https://shop.example/" + "a" * 2027,
    "AN2048, absolute URL": "app.shop+x://" + "a" * 2035,
    "AN48, [a-zA-Z0-9-]{1,48}": "aZ0-" * 12,
    r"AN8, [0-9]{1,2}(\.[0-9]{1,2}){0,2}": "12.34.56",
    "AN2, [0-9A-Za-z]{1,2}": "0Z",
    "AN2, 0?[1-9]": "04",
    "AN7, #RGB or #RRGGBB": "#aAf09C",
    "N4, at most 8760 HOUR, 365 DAY, 12 MONTH, 1 YEAR": "8760",
    "AN64, DB, PA, CD": "DB~x" * 16,
    "AN64, cron, 0-59": "0,*/" * 16,
    "AN64, cron, 0-23": "0,*/" * 16,
    "AN64, cron, 1-31, L, W, ?": "1,L?" * 16,
    "AN64, cron, 1-12 or JAN-DEC": "1-Fe" * 16,
    "AN64, cron, 1-7 or SUN-SAT, L, #, ?": "6#3," * 16,
    "AN64, cron, 1970-2099": "2099" * 16,
    "AN256, cron, 6 or 7 parts from second to year": "0 L#" * 64,
    "AN64, DAY, WEEK, MONTH, YEAR": "YEAR" * 16,
    r"AN14, [0-9]{4}\.[0-9]{4}\.[0-9]{4}": "1234.5678.9012",
    "AN255, [A-Za-z0-9_-]{1,255}": "aZ_0-" * 51,
    "AN4, ASC or DESC in any case": "Desc",
    "AN191, [A-Z0-9.]{2,5}(,[A-Z0-9.]{2,5}){0,31}": ",".join(["PA.CP"] * 32),
    "AN47, [A-Z]{2}(,[A-Z]{2}){0,15}": ",".join(["CC"] * 16),
    "A128, 3-128, not digits only": "Ü" * 128,
}


NAME = "A128, 3-128, not digits only"
"""Its pattern only says what the whole must not be."""


def is_free_text(shape: Shape) -> bool:
    return shape.notation == NAME or (shape.pattern is None and not shape.choices)


def longest_value(shape: Shape) -> str:
    if shape.choices:
        return max(shape.choices, key=len)
    if shape.pattern is None:
        return "Ü" * shape.length_max
    return str(shape.check.high) if isinstance(shape.check, Between) else LONGEST[shape.notation]


def legal_values(shape: Shape) -> st.SearchStrategy[str]:
    if shape.choices:
        return st.sampled_from(shape.choices)
    if shape.pattern is None:
        legal = st.characters(exclude_categories=("Cc", "Cs"), include_characters="\t\r\n")
        return st.text(legal, min_size=shape.length_min, max_size=min(shape.length_max, shape.length_min + 40))
    if isinstance(shape.check, Between):
        return st.integers(shape.check.low, shape.check.high).map(str)
    if shape.check is not None:
        return st.just(LONGEST[shape.notation])
    drawn = st.from_regex(shape.pattern, fullmatch=True)
    return drawn.filter(lambda value: shape.length_min <= len(value) <= shape.length_max)
