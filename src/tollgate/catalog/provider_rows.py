"""The brands of banks and providers as rows: how each is charged, and under which conditions.
They are read in `brands` and `brand_terms`.
"""

from functools import partial

from tollgate.catalog.brand_rows import AccountName, AccountType, make_brand

_RESERVING = frozenset({"PA", "CP", "RV"})
"""Some clients authorize by bank transfer and capture later: the transfer is made at once."""

_transfer = partial(make_brand, AccountType.BANK, "OT", is_async=True, lenient_types=_RESERVING)
_slip = partial(make_brand, AccountType.BANK, "PP", is_async=True)
"""A voucher or an account number that the shopper pays to later."""
_debit = partial(make_brand, AccountType.BANK, "DD", currencies="EUR")
_virtual = partial(make_brand, AccountType.VIRTUAL, "VA", is_async=True)

_DOCUMENT = "customer.identificationDocType customer.identificationDocId"
_DUTCH_BANKS = (
    *("ABN AMRO", "ASN Bank", "bunq", "ING", "Knab", "N26", "Nationale-Nederlanden", "Rabobank", "RegioBank"),
    *("Revolut", "SNS", "Triodos Bank", "Van Lanschot Kempen", "Yoursafe"),
)
_GULF = "AED BHD KWD QAR SAR"

_BANKS = (
    _debit("DIRECTDEBIT_SEPA", "SEPA Direct Debit", aliases="DIRECTDEBIT SEPA_DIRECT_DEBIT"),
    _debit("SEPA", "SEPA"),
    _slip(
        "BOLETO", "Boleto", aliases="BRADESCO BOLETO_BANCARIO", strict_needs=_DOCUMENT, currencies="BRL", countries="BR"
    ),
    _slip("OXXO", "OXXO", currencies="MXN", countries="MX"),
    _slip("PREPAYMENT", "Prepayment"),
    _transfer("SADAD", "SADAD", currencies="SAR", countries="SA"),
    _transfer("EFT", "EFT", strict_needs="bankAccount.country"),
    _transfer("EPS", "EPS", strict_needs="bankAccount.country", currencies="EUR", countries="AT"),
    _transfer("GIROPAY", "giropay", strict_needs="bankAccount.iban/bankAccount.bic", currencies="EUR", countries="DE"),
    _transfer(
        "IDEAL",
        "iDEAL",
        strict_needs="bankAccount.country bankAccount.bankName",
        currencies="EUR",
        countries="NL",
        banks=_DUTCH_BANKS,
    ),
    _transfer(
        "SOFORTUEBERWEISUNG",
        "SOFORT",
        aliases="SOFORT SOFORTBANKING",
        strict_needs="bankAccount.country",
        currencies="CHF CZK EUR GBP HUF PLN",
        countries="AT BE CH CZ DE ES FR GB HU IT NL PL SK",
    ),
    _transfer(
        "INTERAC_ONLINE",
        "Interac Online",
        aliases="INTERAC",
        strict_needs="customer.email",
        currencies="CAD",
        countries="CA",
    ),
    _transfer("POLI", "POLi", currencies="AUD NZD", countries="AU NZ"),
    _transfer("ENTERCASH", "Entercash"),
    _transfer("TRUSTPAY_VA", "TrustPay", aliases="TRUSTPAY"),
    _transfer("BITCOIN", "Bitcoin"),
)

_PROVIDERS = (
    _virtual("ACI_INSTANTPAY", "InstantPay"),
    _virtual("AFFIRM", "Affirm", currencies="CAD GBP USD"),
    _virtual("AFTERPAY", "Afterpay"),
    _virtual("AFTERPAY_PACIFIC", "Afterpay Pacific", currencies="AUD NZD", countries="AU NZ"),
    _virtual("ALIPAY", "Alipay"),
    _virtual("ASTROPAY_STREAMLINE_CASH", "AstroPay Cash"),
    _virtual("ASTROPAY_STREAMLINE_OT", "AstroPay Transfer"),
    _virtual("BANCONTACT_LINK", "Bancontact Link", currencies="EUR"),
    _virtual("BANCONTACT_QR", "Bancontact QR", currencies="EUR"),
    _virtual("CASHU", "CashU"),
    _virtual("CHINAUNIONPAY", "China UnionPay"),
    _virtual("CLEARPAY", "Clearpay", currencies="EUR GBP"),
    _virtual("CREDIT_CLICK", "Credit Click"),
    _virtual("DAOPAY", "DaoPay"),
    _virtual("ENTERPAY", "Enterpay"),
    _virtual("HYPERCASH", "HyperCash"),
    _virtual("IKANOOI_SE", "Ikano"),
    _virtual("INICIS", "Inicis"),
    _virtual("KLARNA_PAYMENTS_BILLPAY", "Klarna BillPay", aliases="BILLPAY"),
    _virtual("KLARNA_PAYMENTS_ONE", "Klarna", aliases="KLARNA KLARNA_PAYMENTS KLARNA_CHECKOUT"),
    _virtual("KLARNA_PAYMENTS_PAYLATER", "Klarna Pay Later", aliases="KLARNA_INVOICE"),
    _virtual("KLARNA_PAYMENTS_PAYNOW", "Klarna Pay Now"),
    _virtual("KLARNA_PAYMENTS_SLICEIT", "Klarna Slice It", aliases="KLARNA_INSTALLMENTS"),
    _virtual("KNET", "KNET", currencies="KWD"),
    _virtual("LINEPAY", "LINE Pay"),
    _virtual("MASTERPASS", "Masterpass"),
    _virtual(
        "MBWAY",
        "MB WAY",
        needs="virtualAccount.accountId",
        aliases="MB_WAY",
        account_name=AccountName.PHONE,
        currencies="EUR",
    ),
    _virtual("MONEYBOOKERS", "Skrill", aliases="SKRILL", account_name=AccountName.EMAIL),
    _virtual("MONEYSAFE", "MoneySafe"),
    _virtual("MSTART", "mStart"),
    _virtual("ONECARD", "OneCard"),
    _virtual("PAYBOX", "Paybox"),
    _virtual("PAYDIREKT", "paydirekt", currencies="EUR"),
    _virtual("PAYOLUTION_ELV", "Payolution direct debit"),
    _virtual("PAYOLUTION_INS", "Payolution instalments"),
    _virtual("PAYOLUTION_INVOICE", "Payolution invoice", aliases="PAYOLUTION"),
    _virtual("PAYPAL", "PayPal"),
    _virtual("PAYPAL_CONTINUE", "PayPal (continue)"),
    _virtual("PAYSAFECARD", "paysafecard"),
    _virtual("PAYTRAIL", "Paytrail", currencies="EUR"),
    _virtual("PAYTRAIL_VA", "Paytrail (account)", currencies="EUR"),
    _virtual("PF_KARTE_DIRECT", "PostFinance Card", currencies="CHF EUR"),
    _virtual("PIX", "Pix", currencies="BRL"),
    _virtual("POSTPAY", "Postpay", currencies="AED SAR"),
    _virtual("PRZELEWY", "Przelewy24", aliases="PRZELEWY24 P24", strict_needs="customer.email", currencies="EUR PLN"),
    _virtual("QIWI", "QIWI"),
    _virtual("RAKUTENPAY", "Rakuten Pay"),
    _virtual("RATENKAUF", "Ratenkauf", currencies="EUR", countries="DE"),
    _virtual("RATEPAY_INVOICE", "Ratepay invoice", aliases="RATEPAY", currencies="CHF EUR"),
    _virtual("ROCKETFUEL", "RocketFuel"),
    _virtual("SADAD_VA", "SADAD (account)", currencies="SAR"),
    _virtual("SEZZLE", "Sezzle", currencies="CAD USD"),
    _virtual("SHETAB", "Shetab"),
    _virtual("SIBS_MULTIBANCO", "Multibanco", aliases="MULTIBANCO", currencies="EUR"),
    _virtual("SOFINCO", "Sofinco", currencies="EUR"),
    _virtual("SOFINCOSANSFRAIS", "Sofinco sans frais", currencies="EUR"),
    _virtual("SPOTII", "Spotii"),
    _virtual("STC_PAY", "STC Pay", aliases="STCPAY", currencies="SAR"),
    _virtual("TABBY", "Tabby", currencies=f"{_GULF} EGP"),
    _virtual("TAMARA", "Tamara", currencies=f"{_GULF} OMR"),
    _virtual("TENPAY", "Tenpay"),
    _virtual("TRUSTLY", "Trustly", strict_needs="billing.country customer.merchantCustomerId merchantTransactionId"),
    _virtual("TWINT", "TWINT", currencies="CHF"),
    _virtual("VALU", "valU", currencies="EGP"),
    _virtual("VIPPS", "Vipps", currencies="NOK"),
    _virtual("WECHAT_PAY", "WeChat Pay", aliases="WECHATPAY"),
    _virtual("WESTERN_UNION", "Western Union"),
    _virtual("YANDEX", "Yandex"),
    _virtual("YANDEX_CHECKOUT", "Yandex Checkout"),
    _virtual("ZOODPAY", "ZoodPay"),
    _virtual("APOSTAR", "Apostar", currencies="COP"),
    _virtual("BALOTO", "Baloto", currencies="COP"),
    _virtual("BANCOLOMBIA", "Bancolombia", currencies="COP"),
    _virtual("BBVA_CONTINENTAL", "BBVA Continental", currencies="PEN USD"),
    _virtual("BCP", "BCP", currencies="PEN USD"),
    _virtual("BEVALIDA", "Bevalida"),
    _virtual("BOTON_PSE", "PSE", currencies="COP"),
    _virtual("DIMONEX", "Dimonex", currencies="COP"),
    _virtual("EFECTY", "Efecty", currencies="COP"),
    _virtual("GANA", "Gana", currencies="COP"),
    _virtual("INTERBANK", "Interbank", currencies="PEN USD"),
    _virtual("NEQUI", "Nequi", currencies="COP"),
    _virtual("PAGOSNET", "PagosNet"),
    _virtual("PAGO_EFECTIVO", "PagoEfectivo", currencies="PEN USD"),
    _virtual("PAGO_FACIL", "Pago Fácil", currencies="ARS"),
    _virtual("PAYNET", "Paynet", currencies="MXN"),
    _virtual("PUNTO_RED", "Punto Red", currencies="COP"),
    _virtual("RAPI_PAGO", "Rapipago", currencies="ARS"),
    _virtual("RED_SERVI", "RedServi", currencies="COP"),
    _virtual("SCOTIABANK", "Scotiabank"),
    _virtual("SENCILLITO", "Sencillito", currencies="CLP"),
    _virtual("SU_RED", "SuRed", currencies="COP"),
    _virtual("SU_SUERTE", "SuSuerte", currencies="COP"),
)

PROVIDER_ROWS = (*_BANKS, *_PROVIDERS)
