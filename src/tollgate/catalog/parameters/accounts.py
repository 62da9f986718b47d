"""Rows of what can be charged: cards, wallets, virtual accounts, bank accounts, tokens.
Which of them a brand needs is a rule.
"""

from tollgate.catalog.parameters.row import CONDITIONAL, NEVER, REQUIRED, SEAL, Parameter, Use, mount, plain, several
from tollgate.catalog.shape import BIC, COUNTRY2, DATE, IBAN, choice, digits, name, pattern, text

_MONTH = pattern("0[1-9]|1[0-2]", 2, 2, notation="N2, 01-12")
_YEAR = pattern("(19|20)[0-9]{2}", 4, 4, notation="N4, 19xx or 20xx")
_WALLET_TOKEN = text(1, 65536)
_SOURCE = choice("web", "app")

CARD = mount(
    "card",
    (
        Parameter("holder", name(3, 128), lenient=text(3, 128), note="Name on the card"),
        Parameter("number", digits(8, 32), REQUIRED, SEAL, note="Card number without blanks", use=Use.IDENTITY),
        Parameter("expiryMonth", _MONTH, REQUIRED, note="Month it expires"),
        Parameter("expiryYear", _YEAR, REQUIRED, note="Year it expires"),
        Parameter("cvv", digits(3, 4), CONDITIONAL, NEVER, note="Security code; used once, never kept"),
        plain(
            "numberType",
            choice("PAN", "DPAN"),
            note="DPAN is a number made for one device",
            use=Use.IDENTITY | Use.NOT_FORM,
        ),
    ),
    use=Use.ACCOUNT | Use.FORM,
)

_WALLET = (
    Parameter(
        "paymentToken",
        _WALLET_TOKEN,
        CONDITIONAL,
        SEAL,
        note="The wallet's encrypted token, as received",
        use=Use.IDENTITY,
    ),
    plain(
        "source",
        _SOURCE,
        CONDITIONAL,
        note="Where a token opened by the merchant came from",
        use=Use.IDENTITY | Use.NOT_FORM,
    ),
)
_WALLET_A_ONLY = (
    plain("cardNetwork", text(1, 64), note="Network as the wallet names it"),
    plain("cardType", text(1, 64), note="Card type as the wallet names it"),
)

WALLETS = (
    *mount("walletA", _WALLET + _WALLET_A_ONLY, use=Use.WALLET | Use.FORM),
    *mount("walletB", _WALLET, use=Use.WALLET | Use.FORM),
    *mount("walletC", _WALLET, use=Use.WALLET | Use.FORM),
)

VIRTUAL_ACCOUNT = mount(
    "virtualAccount",
    (Parameter("accountId", text(1, 100), REQUIRED, note="The shopper's account at the provider", use=Use.IDENTITY),),
    holds_code=True,
    use=Use.ACCOUNT | Use.FORM | Use.FORM_QUESTION | Use.REGISTRATION,
)

BANK_ACCOUNT = mount(
    "bankAccount",
    (
        Parameter("holder", text(4, 128), REQUIRED, note="Name of the account's owner"),
        Parameter("bankName", text(1, 255), CONDITIONAL, note="Name of the bank"),
        Parameter(
            "number", pattern("[a-zA-Z0-9]{3,64}", 3, 64), CONDITIONAL, SEAL, note="This or iban", use=Use.IDENTITY
        ),
        Parameter("iban", IBAN, CONDITIONAL, SEAL, note="This or number", use=Use.IDENTITY),
        Parameter("bankCode", pattern("[a-zA-Z0-9]{1,12}", 1, 12), CONDITIONAL, note="This or bic", use=Use.IDENTITY),
        Parameter("bic", BIC, CONDITIONAL, note="This or bankCode", use=Use.IDENTITY),
        Parameter("country", COUNTRY2, CONDITIONAL, note="Country of the bank", use=Use.IDENTITY),
        Parameter("mandate.id", pattern("[a-zA-Z-]{0,256}", 0, 256), CONDITIONAL, note="Direct debit mandate"),
        Parameter("mandate.dateOfSignature", DATE, CONDITIONAL, note="When the mandate was signed"),
    ),
    holds_code=True,
    use=Use.ACCOUNT | Use.FORM | Use.FORM_QUESTION | Use.REGISTRATION,
)

TOKEN_ACCOUNT = mount(
    "tokenAccount",
    (
        Parameter("number", digits(12, 19), REQUIRED, SEAL, note="The token that stands for a card", use=Use.IDENTITY),
        plain("type", choice("EXTERNAL", "NETWORK"), REQUIRED, note="Who issued the token", use=Use.IDENTITY),
        *several("expiryMonth", _MONTH),
        *several("expiryYear", _YEAR),
        Parameter(
            "cryptogram",
            pattern("[A-Za-z0-9+/]{26,32}={0,2}", 28, 32, message="must have 28 to 32 base64 characters"),
            CONDITIONAL,
            NEVER,
            note="Proof for one payment",
        ),
        Parameter("dtvc", digits(3, 4), CONDITIONAL, NEVER, note="One-time security code of a token"),
    ),
    holds_code=True,
    use=Use.ACCOUNT | Use.REGISTRATION,
)
