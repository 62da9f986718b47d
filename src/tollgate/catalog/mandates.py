"""Holds the SEPA mandate that a shopper agrees to by paying, one row for each language of the payment form.
The mandate itself, its id and its date, is written when the debit is made.
"""

# ruff: noqa: RUF001, other scripts have letters that look like ours

from collections.abc import Mapping
from types import MappingProxyType

_ROWS = {
    "en": "By confirming, you authorise {creditor} (creditor identifier {identifier}) to collect this payment "
    "from your account by SEPA direct debit, and your bank to carry out the debit. You can ask your bank "
    "to refund it within eight weeks of the debit.",
    "de": "Mit der Bestätigung ermächtigen Sie {creditor} (Gläubiger-ID {identifier}), diese Zahlung per "
    "SEPA-Lastschrift von Ihrem Konto einzuziehen, und weisen Ihre Bank an, die Lastschrift einzulösen. "
    "Sie können innerhalb von acht Wochen ab dem Belastungsdatum die Erstattung bei Ihrer Bank verlangen.",
    "fr": "En confirmant, vous autorisez {creditor} (identifiant créancier {identifier}) à prélever ce "
    "paiement sur votre compte par prélèvement SEPA, et votre banque à débiter votre compte. Vous pouvez "
    "demander le remboursement à votre banque dans les huit semaines suivant le débit.",
    "es": "Al confirmar, autoriza a {creditor} (identificador del acreedor {identifier}) a cobrar este pago en "
    "su cuenta mediante adeudo directo SEPA, y a su banco a efectuar el cargo. Puede pedir a su banco el "
    "reembolso en las ocho semanas siguientes al cargo.",
    "it": "Confermando, autorizza {creditor} (identificativo del creditore {identifier}) a riscuotere questo "
    "pagamento dal Suo conto con addebito diretto SEPA e la Sua banca a eseguire l’addebito. Può "
    "chiedere il rimborso alla Sua banca entro otto settimane dall’addebito.",
    "nl": "Door te bevestigen machtigt u {creditor} (incassant-ID {identifier}) om deze betaling via "
    "SEPA-incasso van uw rekening af te schrijven, en uw bank om de incasso uit te voeren. U kunt het "
    "bedrag binnen acht weken na de afschrijving bij uw bank terugvragen.",
    "dk": "Når du bekræfter, giver du {creditor} (kreditor-id {identifier}) tilladelse til at opkræve "
    "betalingen fra din konto via SEPA Direct Debit og din bank tilladelse til at gennemføre "
    "debiteringen. Du kan bede din bank om tilbagebetaling inden for otte uger efter debiteringen.",
    "fi": "Vahvistamalla valtuutat saajan {creditor} (velkojan tunniste {identifier}) veloittamaan tämän "
    "maksun tililtäsi SEPA-suoraveloituksena ja pankkisi toteuttamaan veloituksen. Voit pyytää "
    "pankiltasi palautusta kahdeksan viikon kuluessa veloituksesta.",
    "se": "När du bekräftar ger du {creditor} (borgenärs-id {identifier}) rätt att dra betalningen från ditt "
    "konto via SEPA-autogiro och din bank rätt att genomföra dragningen. Du kan begära återbetalning hos "
    "din bank inom åtta veckor från dragningen.",
    "tr": "Onaylayarak {creditor} şirketine (alacaklı kimliği {identifier}) bu ödemeyi SEPA otomatik ödeme ile "
    "hesabınızdan tahsil etme, bankanıza da bu tutarı hesabınızdan çekme yetkisi verirsiniz. Tahsilattan "
    "itibaren sekiz hafta içinde bankanızdan iade isteyebilirsiniz.",
    "ja": "確認すると、{creditor}（債権者ID {identifier}）がSEPA口座振替でこのお支払いを引き落とすこと、および"
    "お客様の銀行がその引き落としを行うことを承認したことになります。引き落としから8週間以内であれば、銀"
    "行に返金を請求できます。",
    "sl": "S potrditvijo pooblaščate prejemnika {creditor} (identifikator upnika {identifier}), da to plačilo "
    "bremeni vaš račun s SEPA direktno obremenitvijo, in svojo banko, da obremenitev izvede. V osmih "
    "tednih po obremenitvi lahko od svoje banke zahtevate povračilo.",
    "pt": "Ao confirmar, autoriza {creditor} (identificador do credor {identifier}) a cobrar este pagamento na "
    "sua conta por débito direto SEPA e o seu banco a efetuar o débito. Pode pedir o reembolso ao seu "
    "banco no prazo de oito semanas a contar do débito.",
    "pl": "Potwierdzając, upoważniasz {creditor} (identyfikator wierzyciela {identifier}) do pobrania tej "
    "płatności z Twojego rachunku poleceniem zapłaty SEPA, a swój bank do jej wykonania. W ciągu ośmiu "
    "tygodni od obciążenia możesz zażądać od banku zwrotu.",
    "cz": "Potvrzením opravňujete příjemce {creditor} (identifikátor věřitele {identifier}) k inkasu této "
    "platby z vašeho účtu formou SEPA inkasa a svou banku k jejímu provedení. Do osmi týdnů od odepsání "
    "částky můžete svou banku požádat o její vrácení.",
    "hu": "A megerősítéssel felhatalmazza a(z) {creditor} vállalkozást (hitelezői azonosító: {identifier}), "
    "hogy ezt a fizetést SEPA-beszedéssel beszedje számlájáról, bankját pedig, hogy a terhelést "
    "végrehajtsa. A terheléstől számított nyolc héten belül visszatérítést kérhet bankjától.",
    "bg": "С потвърждението упълномощавате {creditor} (идентификатор на кредитора {identifier}) да събере това "
    "плащане от сметката ви чрез директен дебит SEPA, а вашата банка – да го изпълни. До осем седмици "
    "след дебитирането можете да поискате възстановяване от банката си.",
    "ro": "Prin confirmare, autorizați {creditor} (identificatorul creditorului {identifier}) să încaseze "
    "această plată din contul dumneavoastră prin debitare directă SEPA și banca dumneavoastră să "
    "efectueze debitarea. Puteți cere băncii rambursarea în termen de opt săptămâni de la debitare.",
    "ru": "Подтверждая, вы разрешаете {creditor} (идентификатор кредитора {identifier}) списать этот платёж с "
    "вашего счёта прямым дебетом SEPA, а своему банку — исполнить списание. В течение восьми недель "
    "после списания вы можете потребовать у банка возврата.",
    "cn": "确认即表示您授权{creditor}（债权人标识 {identifier}）通过SEPA直接借记从您的账户收取此款项，并授权您"
    "的银行执行扣款。您可在扣款后八周内向银行要求退款。",
    "gr": "Με την επιβεβαίωση εξουσιοδοτείτε τον δικαιούχο {creditor} (αναγνωριστικό πιστωτή {identifier}) να "
    "εισπράξει την πληρωμή από τον λογαριασμό σας με άμεση χρέωση SEPA και την τράπεζά σας να εκτελέσει "
    "τη χρέωση. Μπορείτε να ζητήσετε επιστροφή από την τράπεζά σας εντός οκτώ εβδομάδων από τη χρέωση.",
    "no": "Når du bekrefter, gir du {creditor} (kreditor-ID {identifier}) fullmakt til å trekke betalingen fra "
    "kontoen din med SEPA direkte debitering og banken din fullmakt til å gjennomføre trekket. Du kan be "
    "banken om tilbakebetaling innen åtte uker etter trekket.",
    "sk": "Potvrdením oprávňujete príjemcu {creditor} (identifikátor veriteľa {identifier}) na inkaso tejto "
    "platby z vášho účtu formou SEPA inkasa a svoju banku na jeho vykonanie. Do ôsmich týždňov od "
    "odpísania sumy môžete svoju banku požiadať o jej vrátenie.",
    "ar": "بالتأكيد، فإنك تفوّض {creditor} (معرّف الدائن {identifier}) بتحصيل هذه الدفعة من حسابك عبر الخصم "
    "المباشر SEPA، وتفوّض مصرفك بتنفيذ الخصم. يمكنك طلب استرداد المبلغ من مصرفك خلال ثمانية أسابيع من "
    "تاريخ الخصم.",
    "ko": "확인하면 {creditor}(채권자 식별 번호 {identifier})이(가) SEPA 자동이체로 이 금액을 고객님의 "
    "계좌에서 출금하고 고객님의 은행이 이를 실행하는 것을 승인하게 됩니다. 출금일로부터 8주 이내에 "
    "은행에 환불을 요청할 수 있습니다.",
}

MANDATE_TEXTS: Mapping[str, str] = MappingProxyType(_ROWS)


def render_mandate(language: str, creditor: str, identifier: str) -> str | None:
    """Names the creditor in a text of the payment form's language; None for a language that the form does not speak."""
    text = MANDATE_TEXTS.get(language)
    return None if text is None else text.format(creditor=creditor, identifier=identifier)
