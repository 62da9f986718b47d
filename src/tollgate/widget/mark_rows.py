"""The rows of the brand marks that are drawn one by one: shape, colours and the few letters on it.
They hint at a brand in our own drawing and copy nobody's; how a shape is drawn is left to marks.
"""

from __future__ import annotations

from dataclasses import dataclass

WHITE = "#ffffff"
NEUTRAL_PANEL = "#f5f7fa"
NEUTRAL_INK = "#22304a"


@dataclass(frozen=True, slots=True)
class Mark:
    code: str
    shape: str
    text: str
    """Letters on the mark; an empty one has none, as its shape says enough."""
    panel: str
    ink: str
    colours: tuple[str, ...] = ()
    """What the shape is painted with besides panel and letters, in the order of its drawing."""


MARK_ROWS: tuple[Mark, ...] = (
    Mark("VISA", "underlined", "VISA", WHITE, "#1d2f86", ("#e9a41c",)),
    Mark("VISADEBIT", "underlined", "VISA", WHITE, "#1d2f86", ("#3c7dd9",)),
    Mark("VISAELECTRON", "underlined", "VISA", WHITE, "#1d2f86", ("#8a94a6",)),
    Mark("VPAY", "underlined", "V PAY", WHITE, "#1d2f86", ("#e9a41c",)),
    Mark("MASTER", "discs", "", WHITE, "#2a2a2a", ("#dd2a3b", "#f3a32b", "#ee6a2f")),
    Mark("MASTERDEBIT", "discs", "", "#23262d", WHITE, ("#dd2a3b", "#f3a32b", "#ee6a2f")),
    Mark("MAESTRO", "discs", "", WHITE, "#2a2a2a", ("#2b72c9", "#dd2a3b", "#6f5aa8")),
    Mark("AMEX", "plain", "AMEX", "#1f67b1", WHITE),
    Mark("AXP", "plain", "AMEX", "#1f67b1", WHITE),
    Mark("DINERS", "halves", "", WHITE, "#17518f", ("#17518f", WHITE)),
    Mark("DISCOVER", "sunrise", "Discover", WHITE, "#23262d", ("#ea7a25",)),
    Mark("JCB", "columns", "JCB", WHITE, WHITE, ("#1f5ea8", "#c42a45", "#1f7d3c")),
    Mark("UNIONPAY", "slats", "UP", WHITE, WHITE, ("#c9293f", "#1f4f8f", "#0f7579")),
    Mark("DANKORT", "plain", "Dankort", "#b3203a", WHITE),
    Mark("MADA", "stacked", "mada", WHITE, "#23262d", ("#2f86c8", "#79b03a")),
    Mark("CARTEBANCAIRE", "plain", "CB", "#17567d", WHITE),
    Mark("BCMC", "ribbons", "", WHITE, "#1b4f9c", ("#1b4f9c", "#f2c230")),
    Mark("ELO", "dots", "elo", "#23262d", WHITE, ("#f2c230", "#e0402f", "#3aa0dc")),
    Mark("APPLEPAY", "plain", "Apple Pay", "#111214", WHITE),
    Mark("GOOGLEPAY", "dots", "G Pay", WHITE, "#3c4043", ("#3f7ee8", "#db4335", "#f2b61f", "#2f9c4f")),
    Mark("SAMSUNGPAY", "plain", "Samsung Pay", "#1a2a80", WHITE),
    Mark("CLICK_TO_PAY", "chevrons", "", WHITE, "#23262d", ("#23262d",)),
    Mark("DIRECTDEBIT_SEPA", "circle_of_dots", "SEPA", "#1d4596", WHITE, ("#f5cf3f",)),
    Mark("SEPA", "circle_of_dots", "SEPA", "#1d4596", WHITE, ("#f5cf3f",)),
    Mark("IDEAL", "doorway", "iDEAL", WHITE, "#23262d", ("#c8136c",)),
    Mark("SOFORTUEBERWEISUNG", "plain", "SOFORT", "#3a3f4d", WHITE),
    Mark("GIROPAY", "stacked", "giropay", WHITE, "#14347c", ("#14347c", "#cf2a35")),
    Mark("EPS", "plain", "eps", "#8d1f5f", WHITE),
    Mark("PAYPAL", "twin_letters", "PP", WHITE, "#1c3f8f", ("#3a9be0",)),
    Mark("KLARNA_PAYMENTS_ONE", "plain", "Klarna.", "#f9c4d2", "#17120f"),
    Mark("KLARNA_PAYMENTS_PAYLATER", "plain", "Klarna. later", "#f9c4d2", "#17120f"),
    Mark("KLARNA_PAYMENTS_PAYNOW", "plain", "Klarna. now", "#f9c4d2", "#17120f"),
    Mark("KLARNA_PAYMENTS_SLICEIT", "plain", "Klarna. slice it", "#f9c4d2", "#17120f"),
    Mark("ALIPAY", "plain", "Alipay", "#1769c9", WHITE),
    Mark("WECHAT_PAY", "plain", "WeChat Pay", "#187a3c", WHITE),
    Mark("TWINT", "dots", "TWINT", "#23262d", WHITE, ("#f0523d", "#f2b61f", "#3aa0dc", "#36a566")),
    Mark("PRZELEWY", "plain", "P24", "#b81f33", WHITE),
    Mark("VIPPS", "plain", "vipps", "#b8481a", WHITE),
)
